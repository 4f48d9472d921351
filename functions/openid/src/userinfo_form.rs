//! `POST /api/v1/projects/{project_id}/oauth2/userinfo`: returns claims about the user of a
//! client's access token.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::Input;
use api::product::input::{IgnoredBody, Nothing, ProjectPath};
use axum::extract::State;
use errors::ErrorCode;
use flows::App;
use http::HeaderMap;

use crate::userinfo::{BearerError, Userinfo, userinfo};

pub const ROUTE: Route = Route::post("openid-userinfo-form", "/api/v1/projects/{project_id}/oauth2/userinfo")
    .summary("Returns claims about the user of an OAuth client's access token, by POST")
    .body(BodyRule::Ignored)
    .writes_nothing()
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::BearerTokenMissing, ErrorCode::BearerTokenInvalid, ErrorCode::BearerScopeInsufficient]);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Input { path, .. }: Input<IgnoredBody, Nothing, ProjectPath>,
) -> Result<Userinfo, BearerError> {
    userinfo(&app, &caller, &headers, &path).await
}
