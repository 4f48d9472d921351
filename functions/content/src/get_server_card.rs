//! `GET /mcp/server-card`: returns the card of the MCP server.

use api::content::{Problem, ServedDocument};
use api::http::Route;
use axum::extract::State;
use flows::App;
use site::agent;

pub const ROUTE: Route = Route::get("content-get-server-card", "/mcp/server-card")
    .content()
    .media(&["application/mcp-server-card+json"])
    .summary("Returns the card that lets models discover the MCP server");

pub async fn handle(State(app): State<App>) -> Result<ServedDocument, Problem> {
    Ok(agent::server_card(&app.settings.site_url).into())
}
