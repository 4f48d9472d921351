//! `GET /api/v1/projects/{project_id}/.well-known/jwks.json`: returns the public keys of the
//! project's access tokens (RFC 7517).

use api::http::TableAction::BatchGetItem;
use api::http::{Describe, Description, Json, Route};
use api::product::input::{Flag, IgnoredBody, ProjectPath};
use api::product::{Anybody, Input};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::published::{self, FOR_AN_HOUR};

pub const ROUTE: Route = Route::get("projects-jwks-read", "/api/v1/projects/{project_id}/.well-known/jwks.json")
    .summary("Returns the public keys of the project's access tokens")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::ProjectNotFound]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are those of the query")]
pub struct JwksQuery {
    /// Whether to include the keys for restricted users' tokens. Default: `false`.
    include_restricted: Flag,
    /// Whether to include the keys for restricted and anonymous users' tokens. Default: `false`.
    include_anonymous: Flag,
    /// Whether to include the key for machines' tokens. Default: `false`.
    include_machines: Flag,
}

/// A JWK set that can be cached for an hour.
#[derive(Serialize, ToSchema)]
pub struct KeySet {
    #[schema(value_type = Vec<Object>)]
    keys: Vec<Value>,
}

impl IntoResponse for KeySet {
    fn into_response(self) -> Response {
        (FOR_AN_HOUR, Json(self)).into_response()
    }
}

impl Describe for KeySet {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    _: Anybody,
    Input { query, path, .. }: Input<IgnoredBody, JwksQuery, ProjectPath>,
) -> Result<KeySet, Error> {
    let (project, rsa) = published::project_and_rsa_keys(&app, &path.project_id).await?;
    let JwksQuery { include_restricted, include_anonymous, include_machines } = query;
    let derived = app.signer.jwks(&project.id, include_restricted.is_set(), include_anonymous.is_set(), include_machines.is_set());
    let stored = rsa.published(app.clock.now()).map(|key| key.public.jwk());
    Ok(KeySet { keys: derived.into_iter().chain(stored).collect() })
}
