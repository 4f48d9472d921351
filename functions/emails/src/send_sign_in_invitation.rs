//! `POST /api/v1/internal/send-sign-in-invitation`: emails an invitation to sign in. The email
//! contains no code, and no user is created. The link opens a page of the project's app, on which
//! the recipient signs in like any other user.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use flows::email::gate::{self, Address};
use flows::email::sealed;
use flows::literal::{SUCCESS, Success};
use model::document::builtin::Builtin;
use model::email::Email;
use model::limit::Limit;
use model::outbox::codes::LINK;
use model::outbox::{NewEntry, Recipients, Source};
use model::project::redirect::RedirectUrl;
use serde_json::{Map, json};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("emails-send-sign-in-invitation", "/api/v1/internal/send-sign-in-invitation")
    .summary("Emails an invitation to sign in")
    .limit(Limit::SendCode)
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::RedirectUrlNotWhitelisted]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendSignInInvitation {
    email: Email,
    /// The link in the email.
    callback_url: RedirectUrl,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<SendSignInInvitation>,
) -> Result<Json<Success>, Error> {
    let project = &access.project.id;
    access.redirects().check(&body.callback_url)?;
    let recipient = gate::recipient(&access, &body.email, Address::Unproved).await?;
    let variables = Map::from_iter([("email".to_owned(), json!(body.email)), (LINK.to_owned(), json!(body.callback_url.url()))]);
    let to = Recipients::CustomEmails { emails: vec![body.email] };
    let new = NewEntry { is_high_priority: false, ..NewEntry::urgent(to, Source::builtin(Builtin::SignInInvitation), variables) };
    // The email address of the recipient may be unverified. With `sealed::entry`, the email counts
    // towards the sending capacity for unverified addresses, even though it contains no code.
    let entry = sealed::entry(&app, project, new, [], app.clock.now())?;
    app.store.transact(recipient.queue(project, &entry, None)?).await?;
    Ok(Json(SUCCESS))
}
