//! `GET /api/v1/auth/not-me-link`: shows the page behind the "This wasn't me" link of an email
//! about an account. The request changes nothing, because mail scanners follow links.

use api::http::Route;
use api::http::TableAction::GetItem;
use api::http::client::Caller;
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery, show};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::email::notice::NOT_ME_PATH;

use crate::pages::not_me::{find, question, used};

pub const ROUTE: Route = Route::get("auth-not-me-show", NOT_ME_PATH)
    .summary("Shows the page that undoes a change to an account")
    .without_secret()
    .table(&[GetItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
