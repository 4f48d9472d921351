//! Templates, themes and drafts of mails.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | document | `T#<P>` | `TEMPLATE#<id>`, `THEME#<id>`, `DRAFT#<id>` | 1 unit for each KB to write, 1 for each 4 KB to read |
//! | number of a kind | `T#<P>` | `COUNT#TEMPLATE#`, `COUNT#THEME#`, `COUNT#DRAFT#` | 2 units with each document that is created or deleted |
//!
//! The numbers rise and fall in the transactions that create and delete, so that whoever creates at once, there are [`MAX_DOCUMENTS`] of a
//! kind at most, and a list is bounded by that. What stands in place of one of ours is not counted: there are as many as we have.
//!
//! One query lists a kind, with one unit for each 4 KB of what it passes over: for people who write mails, not for sending them. A change is
//! conditional on the version that was read.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Error, Item, Key, Store, Write, entity, failure, integer, number, string};
use crate::model::id::{DocumentId, ProjectId};
use crate::model::mail_document::{DocumentKind, DocumentLine, MAX_DOCUMENTS, MailDocument};
use crate::model::outbox::DEFAULT_THEME;

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

fn count_key(project: &ProjectId, kind: DocumentKind) -> Key {
    Key::new(format!("T#{project}"), format!("COUNT#{}", prefix(kind)))
}

/// One document of a kind more; fails when there are as many as there may be.
fn one_more(project: &ProjectId, kind: DocumentKind) -> Write {
    let update = Write::update(count_key(project, kind), "ADD documents :one").on("attribute_not_exists(documents) OR documents < :most");
    update.value(":one", integer(1)).value(":most", integer(MAX_DOCUMENTS))
}

fn one_less(project: &ProjectId, kind: DocumentKind) -> Write {
    Write::update(count_key(project, kind), "ADD documents :less").value(":less", integer(-1))
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

    /// Whether there is a theme, of the project or ours, that has this id.
    pub async fn has_theme(&self, project: &ProjectId, id: Uuid) -> Result<bool, Error> {
        Ok(id == DEFAULT_THEME || self.mail_document(project, DocumentKind::Theme, id.into()).await?.is_some())
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

    /// Writes a new document; `false` when there are [`MAX_DOCUMENTS`] of its kind.
    pub async fn create_mail_document(&self, project: &ProjectId, kind: DocumentKind, document: &MailDocument) -> Result<bool, Error> {
        let create = Write::create(document_key(project, kind, document.id), document)?.attribute("version", integer(1));
        match self.transact([one_more(project, kind), create]).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(failed)) if failed.contains(&0) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes a document that is as it was read, or in place of one of ours when the version is 0; `Conflict` when it is not so any more.
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

    /// Deletes a document; `false` when there was none. One that stands in place of ours was not counted.
    pub async fn delete_mail_document(
        &self,
        project: &ProjectId,
        kind: DocumentKind,
        id: DocumentId,
        is_counted: bool,
    ) -> Result<bool, Error> {
        let delete = Write::delete(document_key(project, kind, id)).on("attribute_exists(pk)");
        let result = if is_counted { self.transact([delete, one_less(project, kind)]).await } else { self.write(delete).await };
        match result {
            Ok(()) => Ok(true),
            Err(Error::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
