//! `GET /api/v1/contact-channels/release-link`: asks whoever followed the "This wasn't me" link of a verification email. Nothing changes
//! by it, as mail scanners follow links.

use axum::extract::State;
use shared::App;
use shared::http::Route;
use shared::http::TableAction::GetItem;
use shared::http::client::Caller;
use shared::mail::code::RELEASE_PATH;
use shared::product_api::Input;
use shared::product_api::error::Error;
use shared::product_api::input::Ignored;
use shared::product_api::link_page::{LinkPage, LinkQuery, show};

use crate::release_page::{find, question, used};

pub const ROUTE: Route = Route::get("users-contact-channel-release-show", RELEASE_PATH)
    .summary("Shows the page by which an address is removed from an account that is not its own")
    .without_secret()
    .table(&[GetItem])
    .errors(&["VERIFICATION_CODE_NOT_FOUND", "VERIFICATION_CODE_EXPIRED"]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<Ignored, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
