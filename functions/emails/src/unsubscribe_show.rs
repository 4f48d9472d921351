//! `GET /api/v1/emails/unsubscribe-link`: asks whoever followed the link of a mail. Nothing changes by it, as mail scanners follow links.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use shared::App;
use shared::http::TableAction::GetItem;
use shared::http::{Describe, Description, Page, Route};
use shared::product_api::input::Ignored;
use shared::product_api::{Error, Input};

use crate::unsubscribe_page::{LinkQuery, find, question, used};

pub const ROUTE: Route = Route::get("emails-unsubscribe-show", "/api/v1/emails/unsubscribe-link")
    .summary("Shows the page behind the unsubscribe link of a mail")
    .table(&[GetItem])
    .errors(&["VERIFICATION_CODE_NOT_FOUND", "VERIFICATION_CODE_EXPIRED"]);

/// A page, for whatever reason.
pub struct Shown(pub(crate) Response);

impl IntoResponse for Shown {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Describe for Shown {
    fn describe(description: &mut Description) {
        Page::describe(description);
    }
}

pub async fn handle(State(app): State<App>, Input { query, .. }: Input<Ignored, LinkQuery>) -> Result<Shown, Error> {
    let link = match find(&app, &query.code).await? {
        Ok(link) if link.used => return Ok(Shown(used().into_response())),
        Ok(link) => link,
        Err(page) => return Ok(Shown(page)),
    };
    let project = app.store.project(&link.project_id).await?.map(|row| row.project.display_name);
    Ok(Shown(question(&project.unwrap_or_default(), link.category).into_response()))
}
