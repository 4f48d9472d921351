//! `POST /api/v1/emails/unsubscribe-link`: unsubscribes a user from a category of emails. The
//! operation receives both the form on the page behind the link and the one-click requests of mail
//! clients (RFC 8058). The body is ignored, because the URL contains all necessary data.

use api::http::TableAction::{GetItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::limits::by_secret;
use model::limit::{Limit, Rule};
use store::record;

use crate::preferences::unsubscribe_page::{done, find, used};

pub const ROUTE: Route = Route::post("emails-unsubscribe", "/api/v1/emails/unsubscribe-link")
    .summary("Unsubscribes a user from a category of emails through the link in an email")
    .limit(Limit::Code)
    .body(BodyRule::Ignored)
    .without_secret()
    .table(&[GetItem, UpdateItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    let link = match find(&app, &caller, &query.code).await? {
        Ok(link) => link,
        Err(page) => return Ok(page),
    };
    // Requests are limited per link, because a mail provider sends the one-click requests of all
    // its users from a few IP addresses.
    let secret = query.code.text().to_owned().into();
    let count = by_secret(&app, &link.project_id, Rule::Code, &secret);
    let ((), project) = tokio::try_join!(count, app.store.project(&link.project_id))?;
    let Some(project) = project.filter(|_| !link.used) else { return Ok(used()) };
    record::on(&project.project);
    match app.store.unsubscribe(&query.code, &link).await {
        Ok(()) => Ok(done(link.purpose.category)),
        // Another request was faster or the account no longer exists, so there is nothing left to
        // do.
        Err(store::Error::Conflict(_)) => Ok(used()),
        Err(error) => Err(error.into()),
    }
}
