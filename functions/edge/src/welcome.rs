//! `GET /api/v1`: greets whoever looks at the API with a browser, and says what the request proved.

use std::fmt::Write as _;

use axum::extract::State;
use shared::App;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Route, Text};
use shared::product_api::{Access, Client, Error, Input};

pub const ROUTE: Route = Route::get("edge-welcome", "/api/v1").summary("Says how the request is authenticated").table(&[BatchGetItem]);

pub async fn handle(State(app): State<App>, access: Option<Access<Client>>, _: Input) -> Result<Text, Error> {
    let mut text = "Welcome to the Gatelet API, version 1.\n\n".to_owned();
    let user = access.as_ref().and_then(|access| access.user.as_ref());
    let lines = [
        ("Access", access.as_ref().map_or("none".to_owned(), |access| access.level.name().to_owned())),
        ("Project", access.as_ref().map_or("none".to_owned(), |access| access.project.id.to_string())),
        ("User", user.map_or("none".to_owned(), |user| user.row.user.id.to_string())),
        ("Documentation", format!("{}/docs/api", app.settings.site_url)),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name}: {value}");
    }
    Ok(Text(text))
}
