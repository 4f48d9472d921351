//! Email templates, themes and drafts.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | document | `T#<P>` | `TEMPLATE#<id>`, `THEME#<id>`, `DRAFT#<id>` | 1 unit for each KB to write, 2 in a transaction; 1 for each 4 KB to read |
//! | count per kind | `T#<P>` | `COUNT#TEMPLATE#`, `COUNT#THEME#`, `COUNT#DRAFT#` | 2 units for each document created or deleted |
//!
//! The transactions that create and delete documents also update the counts, so a kind never has
//! more than [`MAX_DOCUMENTS`] documents, even with concurrent requests. The maximum keeps the
//! lists of documents short. Overrides of built-in documents are not counted, because each built-in
//! document has at most one override.
//!
//! One query lists the documents of a kind, with or without the sources, at one unit for each 4 KB
//! read. Sending an email does not require listing documents. A document is replaced only if its
//! version has not changed since it was read.

use std::cmp::Ordering;

use jiff::Timestamp;
use model::document::theme::DEFAULT_THEME;
use model::document::{DocumentKind, DocumentLine, MAX_DOCUMENTS, MailDocument};
use model::project::Project;
use model::project::config::{Level, Levels};
use model::trail::Target;
use uuid::Uuid;
use wire::id::{DocumentId, ProjectId};

use crate::project::{levels_of, replaced};
use crate::table::{Error, Item, Key, Label, MAX_WRITES, Store, Write, entity, integer, is_made, number, string};

/// A document with its version. Changes are conditional on the version, which is 0 for a document
/// that is not in the table.
#[derive(Debug, Clone)]
pub struct DocumentRow {
    /// The document in effect.
    pub document: MailDocument,
    /// The version that was read.
    pub version: u64,
    /// The configuration level that the document belongs to; the environment for documents stored
    /// before levels existed.
    pub level: Level,
    /// The branch's document, if a document of the environment overrides it.
    pub below: Option<MailDocument>,
}

fn prefix(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Template => "TEMPLATE#",
        DocumentKind::Theme => "THEME#",
        DocumentKind::Draft => "DRAFT#",
    }
}

/// The key of a document.
pub fn document_key(project: &ProjectId, kind: DocumentKind, id: DocumentId) -> Key {
    Key::new(format!("T#{project}"), format!("{}{id}", prefix(kind)))
}

fn count_key(project: &ProjectId, kind: DocumentKind) -> Key {
    Key::new(format!("T#{project}"), format!("COUNT#{}", prefix(kind)))
}

/// Increases the count of a kind; fails if the count would exceed the maximum.
fn more(project: &ProjectId, kind: DocumentKind, count: usize) -> Write {
    let update = Write::update(count_key(project, kind), "ADD documents :more").on("attribute_not_exists(documents) OR documents <= :most");
    update.value(":more", integer(count)).value(":most", integer(MAX_DOCUMENTS.saturating_sub(count))).labelled(Label::Count)
}

fn less(project: &ProjectId, kind: DocumentKind, count: usize) -> Write {
    Write::update(count_key(project, kind), "ADD documents :less").value(":less", integer(-i64::try_from(count).unwrap_or(i64::MAX)))
}

/// A change to a document.
#[derive(Debug)]
pub struct DocumentWrite {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// The document to write or delete, with the version that was read.
    pub row: DocumentRow,
    /// Whether the document is deleted.
    pub is_deletion: bool,
    /// Whether the document counts towards the maximum; overrides of built-in documents do not.
    pub is_counted: bool,
}

/// Why a configuration was not written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The change would create more than [`MAX_DOCUMENTS`] documents of a kind.
    #[error("a project can have at most {MAX_DOCUMENTS} templates, {MAX_DOCUMENTS} themes and {MAX_DOCUMENTS} drafts")]
    TooManyDocuments,
    /// The write failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// The maximum number of documents in a configuration change: the transaction also contains the
/// project, its list entry, its levels and two counts.
pub const MAX_CHANGES: usize = MAX_WRITES - 5;

fn written(project: &ProjectId, kind: DocumentKind, row: &DocumentRow) -> Result<Write, Error> {
    let DocumentRow { document, version, level, below } = row;
    let mut put = Write::put(document_key(project, kind, document.id), document)?.attribute("version", integer(version + 1));
    if *level == Level::Branch {
        put = put.attribute(LEVEL, string(BRANCH));
    }
    if let Some(below) = below {
        put = put.attribute(BELOW, serde_dynamo::to_attribute_value(below)?);
    }
    Ok(match version {
        0 => put.on("attribute_not_exists(pk)"),
        version => put.on("version = :old").value(":old", integer(*version)),
    })
}

/// The attribute with the level of a document; absent for the environment.
const LEVEL: &str = "level";
const BRANCH: &str = "branch";
/// The attribute with the branch's document, if the environment's document overrides it.
const BELOW: &str = "below";

/// The change to the count of a kind; `None` if the count stays the same.
fn counted(project: &ProjectId, kind: DocumentKind, writes: &[DocumentWrite]) -> Option<Write> {
    let (mut new, mut gone) = (0_usize, 0_usize);
    for write in writes.iter().filter(|write| write.is_counted && write.kind == kind) {
        match write {
            DocumentWrite { is_deletion: true, .. } => gone += 1,
            DocumentWrite { row: DocumentRow { version: 0, .. }, .. } => new += 1,
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
        if self.is_deletion {
            let key = document_key(project, self.kind, self.row.document.id);
            return Ok(Write::delete(key).on("version = :old").value(":old", integer(self.row.version)));
        }
        written(project, self.kind, &self.row)
    }
}

impl DocumentRow {
    /// Reads a document from the item that contains it.
    pub fn of(mut item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        let is_of_branch = item.get(LEVEL).and_then(|level| level.as_s().ok()).is_some_and(|level| level == BRANCH);
        let below = item.remove(BELOW).map(serde_dynamo::from_attribute_value).transpose()?;
        let level = if is_of_branch { Level::Branch } else { Level::Environment };
        Ok(Self { document: entity(item)?, version, level, below })
    }

    /// A document that is not in the table yet.
    pub fn new(document: MailDocument, level: Level) -> Self {
        Self { document, version: 0, level, below: None }
    }

    /// The row with `document` as the environment's document, which overrides the branch's
    /// document, if there is one.
    #[must_use]
    pub fn at_environment(self, document: MailDocument) -> Self {
        let below = if self.level == Level::Branch { Some(self.document) } else { self.below };
        Self { document, version: self.version, level: Level::Environment, below }
    }
}

/// Records that a draft is being sent; fails if the draft no longer exists.
pub fn mark_sent(project: &ProjectId, draft: DocumentId, now: Timestamp) -> Write {
    Write::update(document_key(project, DocumentKind::Draft, draft), "SET d.sent_at = :now, version = version + :one")
        .on("attribute_exists(pk)")
        .value(":now", integer(now.as_millisecond()))
        .value(":one", integer(1))
}

impl Store {
    /// The project's own document with this id.
    pub async fn mail_document(&self, project: &ProjectId, kind: DocumentKind, id: DocumentId) -> Result<Option<DocumentRow>, Error> {
        self.get(&document_key(project, kind, id)).await?.map(DocumentRow::of).transpose()
    }

    /// Whether a theme with this id exists, either built-in or the project's own.
    pub async fn has_theme(&self, project: &ProjectId, id: Uuid) -> Result<bool, Error> {
        Ok(id == DEFAULT_THEME || self.mail_document(project, DocumentKind::Theme, id.into()).await?.is_some())
    }

    /// All of the project's own templates and themes, with their sources.
    pub async fn templates_and_themes(&self, project: &ProjectId) -> Result<Vec<(DocumentKind, DocumentRow)>, Error> {
        // `$` follows `#` in ASCII, so the range contains only templates and themes.
        let query = self.query_range(format!("T#{project}"), prefix(DocumentKind::Template), "THEME$");
        let mut rows = Vec::new();
        for item in self.query_all(query).await? {
            let is_theme = item.get("sk").and_then(|sk| sk.as_s().ok()).is_some_and(|sk| sk.starts_with(prefix(DocumentKind::Theme)));
            let kind = if is_theme { DocumentKind::Theme } else { DocumentKind::Template };
            rows.push((kind, DocumentRow::of(item)?));
        }
        Ok(rows)
    }

    /// Replaces a project that was read at `version`, together with the levels of its configuration
    /// and `documents`. Fails if the project, the levels or a document has changed since it was
    /// read.
    pub async fn update_configuration(
        &self,
        (project, version): (&Project, u64),
        levels: &Levels,
        documents: &[DocumentWrite],
    ) -> Result<(), ConfigError> {
        let counts = [DocumentKind::Template, DocumentKind::Theme].into_iter().filter_map(|kind| counted(&project.id, kind, documents));
        let mut writes: Vec<Write> = counts.collect();
        writes.extend(replaced(project, version)?);
        writes.push(levels_of(&project.id, levels)?);
        for document in documents {
            writes.push(document.write(&project.id)?);
        }
        match self.transact(writes).await {
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Err(ConfigError::TooManyDocuments),
            result => Ok(result?),
        }
    }

    /// Reads the project's own documents of a kind one by one, in the order of ids, because 200
    /// documents may take 50 MB in total. Templates and drafts include their HTML source; themes do
    /// not.
    pub async fn mail_documents(&self, project: &ProjectId, kind: DocumentKind, mut each: impl FnMut(DocumentLine)) -> Result<(), Error> {
        let html = if kind == DocumentKind::Theme { "" } else { ", d.html" };
        let query = self
            .query_prefix(format!("T#{project}"), prefix(kind))
            .projection_expression(format!("d.id, d.display_name, d.theme, d.sent_at{html}"));
        let mut pages = self.query_pages(query);
        while let Some(items) = pages.next().await? {
            for item in items {
                each(entity(item)?);
            }
        }
        Ok(())
    }

    /// Writes a new document; `false` if the project already has [`MAX_DOCUMENTS`] of its kind.
    pub async fn create_mail_document(&self, project: &ProjectId, kind: DocumentKind, document: &MailDocument) -> Result<bool, Error> {
        let target = Target::new(kind.into(), document.id);
        let row = DocumentRow::new(document.clone(), Level::Environment);
        match self.transact([more(project, kind, 1), written(project, kind, &row)?.targets([target])]).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Replaces a document, or overrides a built-in document if the version is 0; `Conflict` if the
    /// document has changed since it was read.
    pub async fn write_mail_document(&self, project: &ProjectId, kind: DocumentKind, row: &DocumentRow) -> Result<(), Error> {
        self.write(written(project, kind, row)?).await
    }

    /// Deletes a document; `false` if it does not exist. `is_counted` must be `false` for an
    /// override of a built-in document, which does not count towards the maximum.
    pub async fn delete_mail_document(
        &self,
        project: &ProjectId,
        kind: DocumentKind,
        id: DocumentId,
        is_counted: bool,
    ) -> Result<bool, Error> {
        let delete = Write::delete(document_key(project, kind, id)).on("attribute_exists(pk)");
        let result = if is_counted { self.transact([delete, less(project, kind, 1)]).await } else { self.write(delete).await };
        is_made(result)
    }
}
