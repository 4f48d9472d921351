//! `GET /cli/{file}`: returns the command-line tool of the site, as an npm package.

use api::content::{ContentPath, NamedResource, Problem, ServedDocument};
use api::http::Route;
use axum::extract::State;
use flows::App;
use serde::Deserialize;
use site::package;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-get-cli", "/cli/{file}")
    .content()
    .media(&["application/gzip"])
    .summary("Returns the command-line tool of the site as an npm package")
    .problems(&["route_not_found"]);

/// The requested package.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PackagePath {
    /// The name of the package's file, `site.tgz`.
    #[schema(example = "site.tgz")]
    file: String,
}

impl NamedResource for PackagePath {
    const PROBLEM: Problem = Problem::RouteNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<PackagePath>) -> Result<ServedDocument, Problem> {
    if path.file != "site.tgz" {
        return Err(Problem::RouteNotFound);
    }
    let archive = package::archive(&app.settings.site_url).map_err(|error| {
        tracing::error!(%error, "the package cannot be built");
        Problem::InternalError
    })?;
    Ok(ServedDocument::archive(archive))
}
