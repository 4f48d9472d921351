//! `POST /api/v1/emails/send-email`: puts a mail to each of some users, or to all, into the outbox.

use std::collections::HashSet;

use api::http::TableAction::{BatchGetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use flows::literal::True;
use jiff::Timestamp;
use model::document::theme::Theme;
use model::email::category::Category;
use model::outbox::patch::{AtMillis, Variables};
use model::outbox::{NewEntry, OutboxEntry, Recipients};
use serde::Serialize;
use store::keys::user_key;
use store::outbox::{self, broadcast};
use store::{Write, document};
use utoipa::ToSchema;
use wire::id::{BroadcastId, DocumentId, EmailId, ProjectId, UserId};
use wire::problem::Problems;

use crate::content::Content;

pub const ROUTE: Route = Route::post("emails-send", "/api/v1/emails/send-email")
    .summary("Sends a mail to users of the project")
    .table(&[BatchGetItem, PutItem, Query, UpdateItem])
    .errors(&["USER_ID_DOES_NOT_EXIST"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendEmail {
    /// The recipients; either these or `all_users`.
    #[deserr(default)]
    user_ids: Option<Vec<UserId>>,
    /// All users of the project, anonymous and restricted ones too.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    all_users: Option<True>,
    /// MiniJinja source of the subject, in place of the template's or draft's.
    #[deserr(default)]
    pub(crate) subject: Option<String>,
    /// MiniJinja source of the HTML body, or of MJML when its first element is `<mjml>`; either this, `template_id` or `draft_id`.
    #[deserr(default)]
    pub(crate) html: Option<String>,
    #[deserr(default)]
    pub(crate) template_id: Option<DocumentId>,
    #[deserr(default)]
    pub(crate) draft_id: Option<DocumentId>,
    /// What the sources may speak of as `variables`.
    #[schema(value_type = Option<Object>)]
    #[deserr(default)]
    pub(crate) variables: Option<Variables>,
    /// `Transactional` or `Marketing`; by default the template's or draft's, or `Transactional`.
    #[deserr(default)]
    pub(crate) notification_category_name: Option<Category>,
    /// `false` for no theme; absent or `null` for the template's or draft's, or the project's.
    #[deserr(default)]
    pub(crate) theme_id: Option<Theme>,
    #[deserr(default)]
    is_high_priority: Option<bool>,
    /// Milliseconds since the epoch; absent or 0 for now.
    #[schema(value_type = Option<i64>)]
    #[deserr(default)]
    scheduled_at_millis: Option<AtMillis>,
}

#[derive(Serialize, ToSchema)]
pub struct Accepted {
    /// In the order of the request.
    results: Vec<Recipient>,
}

#[derive(Serialize, ToSchema)]
pub struct Recipient {
    user_id: UserId,
}

/// Keys of one batch of reads.
const CHUNK: usize = 100;

pub async fn handle(State(app): State<App>, access: Access<Server>, Input { body, .. }: Input<SendEmail>) -> Result<Json<Accepted>, Error> {
    let project = &access.project.id;
    if body.user_ids.is_some() == body.all_users.is_some() {
        return Err(ROUTE.schema_error(&Problems::one("body", "must have either user_ids or all_users")).into());
    }
    let (content, user_ids) = tokio::join!(Content::of(&app, &access, &body), user_ids(&app, &access, &body));
    let (content, user_ids) = (content?, user_ids?);
    let draft = content.source.draft_id.map(|draft| document::mark_sent(project, draft.into(), app.clock.now()));
    accept(&app, project, body.entry(content), draft, &user_ids).await?;
    Ok(Json(Accepted { results: user_ids.into_iter().map(|user_id| Recipient { user_id }).collect() }))
}

/// The recipients, all of whom exist.
async fn user_ids(app: &App, access: &Access<Server>, body: &SendEmail) -> Result<Vec<UserId>, Error> {
    match &body.user_ids {
        Some(ids) => {
            check_users(app, access, ids).await?;
            Ok(ids.clone())
        }
        None => Ok(app.store.user_ids(&access.project.id).await?),
    }
}

/// Puts the mail into the outbox, for all or for none: the entries themselves, or what a worker makes them from when they are many.
///
/// `draft` goes with it: it says when the draft was sent.
async fn accept(app: &App, project: &ProjectId, mail: NewEntry, draft: Option<Write>, user_ids: &[UserId]) -> Result<(), store::Error> {
    let mail = OutboxEntry::new(EmailId::from(app.entropy.uuid()), mail, app.clock.now());
    if user_ids.is_empty() {
        return Ok(());
    }
    if user_ids.len() > broadcast::entries_at_once(&mail) {
        return app.store.create_broadcast(project, BroadcastId::from(mail.id.uuid()), &mail, user_ids, draft).await;
    }
    let entries = user_ids.iter().map(|user_id| broadcast::entry_for(&mail, EmailId::from(app.entropy.uuid()), *user_id));
    let writes = entries.map(|entry| outbox::create(project, &entry)).collect::<Result<Vec<_>, _>>()?;
    app.store.transact(writes.into_iter().chain(draft)).await
}

/// Nothing is sent to anybody when one of them does not exist.
async fn check_users(app: &App, access: &Access<Server>, ids: &[UserId]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let distinct: Vec<UserId> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    for chunk in distinct.chunks(CHUNK) {
        let mut items = app.store.get_many(chunk.iter().map(|id| user_key(&access.project.id, *id))).await?;
        let missing = chunk.iter().find(|id| items.take(&user_key(&access.project.id, **id)).is_none());
        if let Some(id) = missing {
            return Err(KnownError::UserIdDoesNotExist { user_id: id.to_string() }.into());
        }
    }
    Ok(())
}

impl SendEmail {
    /// The mail, before it has a recipient.
    fn entry(&self, content: Content) -> NewEntry {
        NewEntry {
            to: Recipients::CustomEmails { emails: Vec::new() },
            source: content.source,
            variables: content.variables,
            category: content.category,
            is_high_priority: self.is_high_priority.unwrap_or(false),
            created_with: content.created_with,
            scheduled_at: self.scheduled_at_millis.map(|time| time.0).filter(|time| *time != Timestamp::UNIX_EPOCH),
        }
    }
}
