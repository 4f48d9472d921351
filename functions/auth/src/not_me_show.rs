//! `GET /api/v1/auth/not-me-link`: asks whoever followed the "This wasn't me" link of an email about an account. Nothing changes by it, as
//! mail scanners follow links.

use axum::extract::State;
use shared::App;
use shared::http::Route;
use shared::http::TableAction::GetItem;
use shared::http::client::Caller;
use shared::mail::notice::NOT_ME_PATH;
use shared::product_api::Input;
use shared::product_api::error::Error;
use shared::product_api::input::Ignored;
use shared::product_api::link_page::{LinkPage, LinkQuery, show};

use crate::not_me_page::{find, question, used};

pub const ROUTE: Route = Route::get("auth-not-me-show", NOT_ME_PATH)
    .summary("Shows the page by which a change of an account is undone")
    .without_secret()
    .table(&[GetItem])
    .errors(&["VERIFICATION_CODE_NOT_FOUND", "VERIFICATION_CODE_EXPIRED"]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<Ignored, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
