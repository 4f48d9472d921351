//! `POST /api/v1/auth/oauth/callback/{provider_id}`: the same for providers that post a form (OAuth 2.0 Form Post Response Mode).

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use shared::App;
use shared::http::Route;
use shared::http::client::Caller;
use shared::model::limit::Limit;
use shared::product_api::Input;
use shared::product_api::input::Nothing;

use crate::oauth_authorize::ProviderPath;
use crate::oauth_callback::{ERRORS, ProviderAnswer, TABLE};
use crate::oauth_flow;

pub const ROUTE: Route = Route::post("auth-oauth-callback-form", "/api/v1/auth/oauth/callback/{provider_id}")
    .summary("Takes the user back from a provider that posts its answer as a form")
    .limit(Limit::Code)
    .takes_forms()
    .table(TABLE)
    .errors(ERRORS);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Input { body, path, .. }: Input<ProviderAnswer, Nothing, ProviderPath>,
) -> Response {
    oauth_flow::finish(&app, &caller, &headers, &path.provider_id, &body).await
}
