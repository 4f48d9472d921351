//! Code shared by the operations on email templates, themes and drafts.

use std::collections::HashSet;

use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::page::{self, Limit, PageSorter, Pagination};
use api::product::precondition::IfMatch;
use api::product::{Access, Admin};
use deserr::Deserr;
use errors::{Error, KnownError};
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentLine, MAX_DOCUMENTS, MailDocument, NewDocument, builtin};
use model::email::category::Category;
use model::project::config::Level;
use serde::Serialize;
use store::document::DocumentRow;
use store::{Store, optimistic};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::DocumentId;
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DocumentPath {
    pub(crate) id: DocumentId,
}

#[derive(Serialize, ToSchema)]
pub struct CreatedDocument {
    id: DocumentId,
}

/// A template or a draft with its sources.
#[derive(Serialize, ToSchema)]
pub struct DocumentView {
    id: DocumentId,
    display_name: String,
    /// The subject, as a MiniJinja template.
    subject_source: String,
    /// The body, as a MiniJinja template of HTML or MJML.
    html_source: String,
    /// The same text as in `html_source`, for published SDKs.
    tsx_source: String,
    /// The text part, as a MiniJinja template. `null` if the text is derived from the HTML.
    text_source: Option<String>,
    /// `false` if there is no theme, and `null` for the project's theme.
    theme_id: Option<Theme>,
    notification_category_name: Category,
}

impl From<MailDocument> for DocumentView {
    fn from(document: MailDocument) -> Self {
        Self {
            id: document.id,
            display_name: document.display_name,
            subject_source: document.subject,
            tsx_source: document.html.clone(),
            html_source: document.html,
            text_source: document.text,
            theme_id: document.theme,
            notification_category_name: document.category,
        }
    }
}

/// The response to a change of a draft, or to the deletion of a draft or a theme: `{"ok": "ok"}`.
#[derive(Serialize, ToSchema)]
#[schema(as = Changed)]
pub struct ChangeAnswer {
    ok: &'static str,
}

pub(crate) const CHANGED: ChangeAnswer = ChangeAnswer { ok: "ok" };

fn not_found(kind: DocumentKind) -> KnownError {
    match kind {
        DocumentKind::Template => KnownError::EmailTemplateNotFound,
        DocumentKind::Theme => KnownError::EmailThemeNotFound,
        DocumentKind::Draft => KnownError::EmailDraftNotFound,
    }
}

/// Checks that the theme of a document exists, if there is one.
pub(crate) async fn check_theme(access: &Access<Admin>, theme: Option<Uuid>, route: &Route) -> Result<(), Error> {
    match theme {
        Some(id) if !access.app.store.has_theme(&access.project.id, id).await? => {
            Err(route.schema_error(&Problems::one("body.theme_id", "must be the id of a theme")).into())
        }
        _ => Ok(()),
    }
}

/// Creates a template or a draft.
pub(crate) async fn create_from(
    access: &Access<Admin>,
    kind: DocumentKind,
    body: NewDocument,
    route: &Route,
) -> Result<Json<CreatedDocument>, Error> {
    check_theme(access, body.theme_id(), route).await?;
    let document = body.into_document(DocumentId::from(access.app.entropy.uuid()), access.app.clock.now());
    create(access, kind, document.map_err(|problems| route.schema_error(&problems))?).await
}

pub(crate) async fn create(access: &Access<Admin>, kind: DocumentKind, document: MailDocument) -> Result<Json<CreatedDocument>, Error> {
    if !access.app.store.create_mail_document(&access.project.id, kind, &document).await? {
        return Err(KnownError::TooManyEmailDocuments { max: MAX_DOCUMENTS }.into());
    }
    Ok(Json(CreatedDocument { id: document.id }))
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DocumentsQuery {
    /// 1 to 1,000. The default of 1,000 is more than the number of documents that a project has. A
    /// page also ends when it reaches 1 MB.
    limit: Option<Limit<1000, 1000>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A page of the project's documents of one kind and the defaults that the project has not
/// replaced, sorted by name.
pub(crate) async fn list<T: Serialize + Send>(
    access: &Access<Admin>,
    (kind, route): (DocumentKind, &Route),
    query: DocumentsQuery,
    view: impl Fn(DocumentLine) -> T + Sync,
) -> Result<(Vec<T>, Pagination), Error> {
    let limit = page::limit(query.limit, route)?;
    let cursors = Cursors::of(access, route.name);
    let mut page = PageSorter::new(cursors.position(query.cursor.as_deref())?, limit);
    let mut offer = |line: DocumentLine| page.offer((line.display_name.clone(), line.id), view(line));
    let mut own = HashSet::new();
    let each = |line: DocumentLine| {
        own.insert(line.id);
        offer(line);
    };
    access.app.store.mail_documents(&access.project.id, kind, each).await?;
    builtin::documents(kind).iter().filter(|ours| !own.contains(&ours.id)).for_each(|ours| offer(ours.line()));
    let (items, last) = page.finish();
    Ok((items, Pagination { next_cursor: cursors.next(last.as_ref())? }))
}

/// The document in effect, with its version: the project's document or, if the project has none,
/// the default.
pub(crate) async fn read(access: &Access<Admin>, kind: DocumentKind, id: DocumentId) -> Result<DocumentRow, Error> {
    row(&access.prefetched, access, kind, id).await
}

async fn row(table: &Store, access: &Access<Admin>, kind: DocumentKind, id: DocumentId) -> Result<DocumentRow, Error> {
    let own = table.mail_document(&access.project.id, kind, id).await?;
    let row = own.or_else(|| builtin::document(kind, id).map(|document| DocumentRow::new(document, Level::Environment)));
    Ok(row.ok_or_else(|| not_found(kind))?)
}

/// The document to change, and the versions of the document that may be changed (`If-Match`).
pub(crate) struct ChangeTarget {
    pub(crate) kind: DocumentKind,
    pub(crate) id: DocumentId,
    pub(crate) if_match: IfMatch,
}

impl ChangeTarget {
    /// The document before the change, as read in this attempt. `attempt` counts from zero.
    pub(crate) async fn row(&self, access: &Access<Admin>, attempt: u32) -> Result<DocumentRow, Error> {
        let row = row(access.table(attempt), access, self.kind, self.id).await?;
        self.if_match.check(row.version)?;
        Ok(row)
    }

    /// Replaces the document, unless it has changed since `row` was read. Changing a default
    /// creates the project's version of the document.
    pub(crate) async fn write(&self, access: &Access<Admin>, row: DocumentRow, changed: MailDocument) -> Result<(), Error> {
        Ok(access.app.store.write_mail_document(&access.project.id, self.kind, &row.at_environment(changed)).await?)
    }
}

/// Changes a draft or a theme as `rule` specifies, and returns it.
pub(crate) async fn update(
    access: &Access<Admin>,
    changing: ChangeTarget,
    route: &Route,
    rule: impl Fn(MailDocument) -> Result<MailDocument, Problems>,
) -> Result<MailDocument, Error> {
    optimistic!(|attempt| {
        let row = changing.row(access, attempt).await?;
        let changed = rule(row.document.clone()).map_err(|problems| route.schema_error(&problems))?;
        changing.write(access, row, changed.clone()).await?;
        Ok(changed)
    })
}

/// Deletes a document of the project. Deleting the project's version of a default restores the
/// default. The default cannot be deleted.
pub(crate) async fn delete(access: &Access<Admin>, kind: DocumentKind, id: DocumentId) -> Result<(), Error> {
    let is_ours = builtin::document(kind, id).is_some();
    let existed = access.app.store.delete_mail_document(&access.project.id, kind, id, !is_ours).await?;
    if existed || is_ours { Ok(()) } else { Err(not_found(kind).into()) }
}
