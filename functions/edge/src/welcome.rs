//! `GET /api/v1`: shows a greeting in a browser, with the access level and the project of the key
//! in the request.
//!
//! The page does not name the user, because verifying a token would require the deployment secret.

use std::fmt::Write as _;

use api::http::TableAction::BatchGetItem;
use api::http::{Route, Text};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::Error;
use flows::App;

pub const ROUTE: Route =
    Route::get("edge-welcome", "/api/v1").summary("Reports how the request is authenticated").without_secret().table(&[BatchGetItem]);

pub async fn handle(State(app): State<App>, access: Option<Access<Client>>, _: Input) -> Result<Text, Error> {
    let mut text = "Welcome to the Gatelet API, version 1.\n\n".to_owned();
    let lines = [
        ("Access", access.as_ref().map_or("none".to_owned(), |access| access.level.name().to_owned())),
        ("Project", access.as_ref().map_or("none".to_owned(), |access| access.project.id.to_string())),
        ("Documentation", format!("{}/docs/api", app.settings.site_url)),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name}: {value}");
    }
    Ok(Text(text))
}
