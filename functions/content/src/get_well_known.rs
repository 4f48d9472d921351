//! `GET /.well-known/{document}`: returns a document that lets programs discover the site.

use api::content::{ContentPath, NamedResource, Problem, ServedDocument};
use api::http::Route;
use axum::extract::State;
use flows::App;
use serde::Deserialize;
use site::{agent, catalog, text};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-get-well-known", "/.well-known/{document}")
    .content()
    .media(&["application/*", "text/plain"])
    .summary("Returns a document that lets programs discover the APIs of the site")
    .problems(&["route_not_found"]);

/// The requested document.
#[derive(Debug, Deserialize, ToSchema)]
pub struct WellKnownPath {
    /// The name of the document: api-catalog (RFC 9727), agent-card.json (A2A), ai-catalog.json or
    /// security.txt (RFC 9116). The document security.txt exists only if the deployment has a
    /// contact for reports of vulnerabilities.
    #[schema(example = "api-catalog")]
    document: String,
}

impl NamedResource for WellKnownPath {
    const PROBLEM: Problem = Problem::RouteNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<WellKnownPath>) -> Result<ServedDocument, Problem> {
    let (site_url, api_url) = (&app.settings.site_url, &app.settings.api_url);
    match path.document.as_str() {
        "agent-card.json" => Ok(agent::card(site_url).into()),
        "ai-catalog.json" => Ok(agent::catalog(site_url).into()),
        "api-catalog" => {
            let links = format!("<{site_url}/.well-known/api-catalog>; rel=\"api-catalog\"");
            Ok(ServedDocument::from(catalog::apis(site_url, api_url)).with_links(links))
        }
        "security.txt" => {
            let contact = app.settings.security_contact.as_ref().ok_or(Problem::RouteNotFound)?;
            Ok(text::security(contact, site_url).into())
        }
        _ => Err(Problem::RouteNotFound),
    }
}
