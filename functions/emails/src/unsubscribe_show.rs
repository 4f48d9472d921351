//! `GET /api/v1/emails/unsubscribe-link`: shows the page behind the unsubscribe link of an email.
//! The request changes nothing, because mail scanners follow links.

use api::http::Route;
use api::http::TableAction::GetItem;
use api::http::client::Caller;
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery, show};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;

use crate::preferences::unsubscribe_page::{find, question, used};

pub const ROUTE: Route = Route::get("emails-unsubscribe-show", "/api/v1/emails/unsubscribe-link")
    .summary("Shows the page behind the unsubscribe link of an email")
    .without_secret()
    .table(&[GetItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
