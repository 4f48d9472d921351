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

use std::cmp::Ordering;

use jiff::Timestamp;
use model::document::theme::DEFAULT_THEME;
use model::document::{DocumentKind, DocumentLine, MAX_DOCUMENTS, MailDocument};
use model::project::Project;
use model::project::config::DocumentChange;
use model::trail::Target;
use uuid::Uuid;
use wire::id::{DocumentId, ProjectId};

use crate::client::{MAX_WRITES, Store};
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, number, string};
use crate::label::Label;
use crate::project::replaced;
use crate::write::Write;

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

/// So many documents of a kind more; fails when there are more than there may be then.
fn more(project: &ProjectId, kind: DocumentKind, count: usize) -> Write {
    let update = Write::update(count_key(project, kind), "ADD documents :more").on("attribute_not_exists(documents) OR documents <= :most");
    update.value(":more", integer(count)).value(":most", integer(MAX_DOCUMENTS.saturating_sub(count))).labelled(Label::Count)
}

fn less(project: &ProjectId, kind: DocumentKind, count: usize) -> Write {
    Write::update(count_key(project, kind), "ADD documents :less").value(":less", integer(-i64::try_from(count).unwrap_or(i64::MAX)))
}

/// What becomes of a document, of which this version was read.
#[derive(Debug)]
pub struct DocumentWrite {
    pub change: DocumentChange,
    pub version: u64,
    /// Whether it is none in place of ours.
    pub is_counted: bool,
}

/// Why a configuration was not written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("there are more documents of a kind than there may be")]
    TooManyDocuments,
    #[error(transparent)]
    Store(#[from] Error),
}

/// How many documents a change of a configuration may write: a transaction has the project, its line and two numbers besides.
pub const MAX_CHANGES: usize = MAX_WRITES - 4;

fn written(project: &ProjectId, kind: DocumentKind, document: &MailDocument, version: u64) -> Result<Write, Error> {
    let key = document_key(project, kind, document.id);
    Ok(match version {
        0 => Write::create(key, document)?.attribute("version", integer(1)),
        version => Write::update(key, "SET d = :d, version = :new")
            .on("version = :old")
            .entity(":d", document)?
            .value(":old", integer(version))
            .value(":new", integer(version + 1)),
    })
}

/// What a change of documents does to their number of a kind.
fn counted(project: &ProjectId, kind: DocumentKind, writes: &[DocumentWrite]) -> Option<Write> {
    let (mut new, mut gone) = (0_usize, 0_usize);
    for write in writes.iter().filter(|write| write.is_counted) {
        match &write.change {
            DocumentChange::Create(of, _) if *of == kind => new += 1,
            DocumentChange::Delete(of, _) if *of == kind => gone += 1,
            _ => {}
        }
    }
    match new.cmp(&gone) {
        Ordering::Equal => None,
        Ordering::Greater => Some(more(project, kind, new - gone)),
        Ordering::Less => Some(less(project, kind, gone - new)),
    }
}

impl DocumentWrite {
    fn write(&self, project: &ProjectId) -> Result<Write, Error> {
        match &self.change {
            DocumentChange::Create(kind, document) => written(project, *kind, document, 0),
            DocumentChange::Replace(kind, document) => written(project, *kind, document, self.version),
            DocumentChange::Delete(kind, id) => {
                Ok(Write::delete(document_key(project, *kind, *id)).on("version = :old").value(":old", integer(self.version)))
            }
        }
    }
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

    /// All templates and themes with their sources.
    pub async fn templates_and_themes(&self, project: &ProjectId) -> Result<Vec<(DocumentKind, DocumentRow)>, Error> {
        let query = self
            .query()
            // What lies between the two are the two alone: `$` comes after `#`.
            .key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":pk", string(format!("T#{project}")))
            .expression_attribute_values(":first", string(prefix(DocumentKind::Template)))
            .expression_attribute_values(":last", string("THEME$"))
            .consistent_read(true);
        let mut rows = Vec::new();
        for item in self.query_all(query).await? {
            let is_theme = item.get("sk").and_then(|sk| sk.as_s().ok()).is_some_and(|sk| sk.starts_with(prefix(DocumentKind::Theme)));
            let kind = if is_theme { DocumentKind::Theme } else { DocumentKind::Template };
            rows.push((kind, DocumentRow::of(item)?));
        }
        Ok(rows)
    }

    /// Replaces a project that nobody changed since `version`, together with documents that nobody changed since they were read.
    pub async fn update_configuration(&self, project: &Project, version: u64, documents: &[DocumentWrite]) -> Result<(), ConfigError> {
        let counts = [DocumentKind::Template, DocumentKind::Theme].into_iter().filter_map(|kind| counted(&project.id, kind, documents));
        let mut writes: Vec<Write> = counts.collect();
        writes.extend(replaced(project, version)?);
        for document in documents {
            writes.push(document.write(&project.id)?);
        }
        match self.transact(writes).await {
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Err(ConfigError::TooManyDocuments),
            result => Ok(result?),
        }
    }

    /// All documents of a kind, by id.
    pub async fn mail_documents(&self, project: &ProjectId, kind: DocumentKind) -> Result<Vec<DocumentLine>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND begins_with(sk, :kind)")
            .expression_attribute_values(":pk", string(format!("T#{project}")))
            .expression_attribute_values(":kind", string(prefix(kind)))
            .projection_expression("d.id, d.display_name, d.theme, d.sent_at")
            .consistent_read(true);
        let lines = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(lines)
    }

    /// Writes a new document; `false` when there are [`MAX_DOCUMENTS`] of its kind.
    pub async fn create_mail_document(&self, project: &ProjectId, kind: DocumentKind, document: &MailDocument) -> Result<bool, Error> {
        let target = Target::new(kind.into(), document.id);
        match self.transact([more(project, kind, 1), written(project, kind, document, 0)?.targets([target])]).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Ok(false),
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
        self.write(written(project, kind, document, version)?).await
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
        let result = if is_counted { self.transact([delete, less(project, kind, 1)]).await } else { self.write(delete).await };
        match result {
            Ok(()) => Ok(true),
            Err(Error::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
