//! Templates, themes and drafts of mails.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | document | `T#<P>` | `TEMPLATE#<id>`, `THEME#<id>`, `DRAFT#<id>` | 1 unit for each KB to write, 1 for each 4 KB to read |
//!
//! One query lists a kind, with one unit for each 4 KB of what it passes over: for people who write mails, not for sending them. A change is
//! conditional on the version that was read.

use jiff::Timestamp;

use super::{Error, Item, Key, Store, Write, entity, failure, integer, number, string};
use crate::model::id::{DocumentId, ProjectId};
use crate::model::mail_document::{DocumentKind, DocumentLine, MailDocument};

/// A document with the version that a change of it is conditional on; 0 for one that is not in the table.
#[derive(Debug, Clone)]
pub struct DocumentRow {
    pub document: MailDocument,
    pub version: u64,
}

fn prefix(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Template => "TEMPLATE#",
        DocumentKind::Theme => "THEME#",
        DocumentKind::Draft => "DRAFT#",
    }
}

pub fn document_key(project: &ProjectId, kind: DocumentKind, id: DocumentId) -> Key {
    Key::new(format!("T#{project}"), format!("{}{id}", prefix(kind)))
}

impl DocumentRow {
    pub fn of(item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { document: entity(item)?, version })
    }
}

/// Notes that a draft is being sent; fails when it is gone.
pub fn mark_sent(project: &ProjectId, draft: DocumentId, now: Timestamp) -> Write {
    Write::update(document_key(project, DocumentKind::Draft, draft), "SET d.sent_at = :now, version = version + :one")
        .on("attribute_exists(pk)")
        .value(":now", integer(now.as_millisecond()))
        .value(":one", integer(1))
}

impl Store {
    pub async fn mail_document(&self, project: &ProjectId, kind: DocumentKind, id: DocumentId) -> Result<Option<DocumentRow>, Error> {
        self.get(&document_key(project, kind, id)).await?.map(DocumentRow::of).transpose()
    }

    /// All documents of a kind, by id.
    pub async fn mail_documents(&self, project: &ProjectId, kind: DocumentKind) -> Result<Vec<DocumentLine>, Error> {
        let mut items = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND begins_with(sk, :kind)")
            .expression_attribute_values(":pk", string(format!("T#{project}")))
            .expression_attribute_values(":kind", string(prefix(kind)))
            .projection_expression("d.id, d.display_name, d.theme, d.sent_at")
            .consistent_read(true)
            .into_paginator()
            .items()
            .send();
        let mut lines = Vec::new();
        while let Some(item) = items.next().await {
            lines.push(entity(item.map_err(failure)?)?);
        }
        Ok(lines)
    }

    /// Writes a document that is as it was read, or is not there when the version is 0; `Conflict` otherwise.
    pub async fn write_mail_document(
        &self,
        project: &ProjectId,
        kind: DocumentKind,
        document: &MailDocument,
        version: u64,
    ) -> Result<(), Error> {
        let key = document_key(project, kind, document.id);
        self.write(match version {
            0 => Write::create(key, document)?.attribute("version", integer(1)),
            version => Write::update(key, "SET d = :d, version = :new")
                .on("version = :old")
                .entity(":d", document)?
                .value(":old", integer(version))
                .value(":new", integer(version + 1)),
        })
        .await
    }

    /// Deletes a document; `false` when there was none.
    pub async fn delete_mail_document(&self, project: &ProjectId, kind: DocumentKind, id: DocumentId) -> Result<bool, Error> {
        match self.write(Write::delete(document_key(project, kind, id)).on("attribute_exists(pk)")).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
