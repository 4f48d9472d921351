//! `GET /api/v1/emails/unsubscribe-link`: asks whoever followed the link of a mail. Nothing changes by it, as mail scanners follow links.

use axum::extract::State;
use shared::App;
use shared::http::Route;
use shared::http::TableAction::GetItem;
use shared::http::client::Caller;
use shared::product_api::Input;
use shared::product_api::error::Error;
use shared::product_api::input::Ignored;
use shared::product_api::link_page::{LinkPage, LinkQuery, show};

use crate::unsubscribe_page::{find, question, used};

pub const ROUTE: Route = Route::get("emails-unsubscribe-show", "/api/v1/emails/unsubscribe-link")
    .summary("Shows the page behind the unsubscribe link of a mail")
    .without_secret()
    .table(&[GetItem])
    .errors(&["VERIFICATION_CODE_NOT_FOUND", "VERIFICATION_CODE_EXPIRED"]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<Ignored, LinkQuery>) -> Result<LinkPage, Error> {
    show(&app, find(&app, &caller, &query.code).await?, used, question).await
}
