//! `POST /api/v1/emails/send-email`: queues an email to some users or to all users in the outbox.

use std::collections::HashSet;

use api::http::TableAction::{BatchGetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::email::gate;
use model::outbox::{NewEntry, OutboxEntry};
use serde::Serialize;
use store::keys::user_key;
use store::{Write, document};
use utoipa::ToSchema;
use wire::id::{EmailId, ProjectId, UserId};
use wire::problem::Problems;

use crate::sending::content::Content;
use crate::sending::request::SendEmail;

pub const ROUTE: Route = Route::post("emails-send", "/api/v1/emails/send-email")
    .summary("Sends an email to users of the project")
    .table(&[BatchGetItem, PutItem, Query, UpdateItem])
    .errors(&[ErrorCode::UserIdDoesNotExist]);

#[derive(Serialize, ToSchema)]
#[schema(as = Accepted)]
pub struct AcceptedEmails {
    /// The recipients, in the order of the request.
    results: Vec<Recipient>,
}

#[derive(Serialize, ToSchema)]
pub struct Recipient {
    user_id: UserId,
}

/// The number of keys in one batch read.
const CHUNK: usize = 100;

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<SendEmail>,
) -> Result<Json<AcceptedEmails>, Error> {
    let project = &access.project.id;
    if body.user_ids.is_some() == body.all_users.is_some() {
        return Err(ROUTE.schema_error(&Problems::one("body", "must have either user_ids or all_users")).into());
    }
    let (content, user_ids) = tokio::join!(Content::read(&access, &body, &ROUTE), user_ids(&access, &body));
    let (content, user_ids) = (content?, user_ids?);
    let draft = content.source.draft_id.map(|draft| document::mark_sent(project, draft.into(), app.clock.now()));
    accept(&app, project, content.entry(&body), draft, &distinct(&user_ids)).await?;
    Ok(Json(AcceptedEmails { results: user_ids.into_iter().map(|user_id| Recipient { user_id }).collect() }))
}

/// The recipients, in the order of the request. Fails if one of the recipients does not exist.
async fn user_ids(access: &Access<Server>, body: &SendEmail) -> Result<Vec<UserId>, Error> {
    match &body.user_ids {
        Some(ids) => {
            check_users(access, &distinct(ids)).await?;
            Ok(ids.clone())
        }
        None => Ok(access.app.store.user_ids(&access.project.id).await?),
    }
}

/// The users without duplicates.
fn distinct(ids: &[UserId]) -> Vec<UserId> {
    let mut seen = HashSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}

/// Queues the email for all recipients, or for none if the transaction fails.
///
/// The same transaction writes `draft`, which records when the draft was sent. If there are no
/// recipients, nothing is written.
async fn accept(app: &App, project: &ProjectId, mail: NewEntry, draft: Option<Write>, user_ids: &[UserId]) -> Result<(), store::Error> {
    let mail = OutboxEntry::new(EmailId::from(app.entropy.uuid()), mail, app.clock.now());
    if user_ids.is_empty() {
        return Ok(());
    }
    gate::to_users(app, project, &mail, user_ids, draft).await
}

/// Fails if one of the users does not exist, so that nobody gets the email.
async fn check_users(access: &Access<Server>, ids: &[UserId]) -> Result<(), Error> {
    for chunk in ids.chunks(CHUNK) {
        let mut items = access.app.store.get_many(chunk.iter().map(|id| user_key(&access.project.id, *id))).await?;
        let missing = chunk.iter().find(|id| items.take(&user_key(&access.project.id, **id)).is_none());
        if let Some(id) = missing {
            return Err(KnownError::UserIdDoesNotExist { user_id: id.to_string() }.into());
        }
    }
    Ok(())
}
