//! `GET /api/v1/contact-channels/release-link`: shows the page behind the "This wasn't me" link of
//! a verification email. The request changes nothing, because mail scanners follow links.

use api::http::Route;
use api::http::TableAction::GetItem;
use api::http::client::Caller;
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery, show};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::email::code::RELEASE_PATH;

use crate::channels::release_page::{find, question, used};

pub const ROUTE: Route = Route::get("users-contact-channel-release-show", RELEASE_PATH)
    .summary("Shows the page that removes an email address from an account that somebody else created")
    .without_secret()
    .table(&[GetItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
