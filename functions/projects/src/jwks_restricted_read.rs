//! `GET /api/v1/projects-restricted-users/{project_id}/.well-known/jwks.json`: redirects to the
//! keys of restricted users' tokens. The path is derived from the tokens' issuer.

use api::http::Route;
use api::product::Input;
use api::product::input::{IgnoredBody, Nothing, ProjectPath};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;

use crate::jwks::elsewhere::KeySetRedirect;

pub const ROUTE: Route =
    Route::get("projects-jwks-restricted-read", "/api/v1/projects-restricted-users/{project_id}/.well-known/jwks.json")
        .summary("Redirects to the public keys of restricted users' access tokens")
        .without_secret()
        .errors(&[ErrorCode::ProjectNotFound]);

pub async fn handle(State(app): State<App>, Input { path, .. }: Input<IgnoredBody, Nothing, ProjectPath>) -> Result<KeySetRedirect, Error> {
    KeySetRedirect::from_path(&app, &path, "include_restricted")
}
