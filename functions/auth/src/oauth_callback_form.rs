//! `POST /api/v1/auth/oauth/callback/{provider_id}`: the redirect URI for providers that post a
//! form (OAuth 2.0 Form Post Response Mode).

use api::http::client::Caller;
use api::http::{BodyRule, Need, Route};
use api::product::Input;
use api::product::input::Nothing;
use axum::extract::State;
use axum::response::Response;
use flows::App;
use http::HeaderMap;
use model::limit::Limit;

use crate::oauth::flow;
use crate::oauth::provider_answer::{ERRORS, ProviderAnswer, ProviderPath, TABLE};

pub const ROUTE: Route = Route::post("auth-oauth-callback-form", "/api/v1/auth/oauth/callback/{provider_id}")
    .summary("Receives a user returning from a provider that posts its response as a form")
    .limit(Limit::Code)
    .needs(&[Need::Providers])
    .body(BodyRule::Form)
    .table(TABLE)
    .errors(ERRORS);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Input { body, path, .. }: Input<ProviderAnswer, Nothing, ProviderPath>,
) -> Response {
    flow::finish(&app, &caller, &headers, &path.provider_id, &body).await
}
