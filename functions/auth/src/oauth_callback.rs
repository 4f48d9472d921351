//! `GET /api/v1/auth/oauth/callback/{provider_id}`: the redirect URI for providers (RFC 6749
//! §4.1.2).
//!
//! The operation is a GET, as RFC 6749 requires, although it changes data. Gatelet issues the
//! `state` parameter, which works once. In redirect mode, the state works only in the browser that
//! began the flow (RFC 9700 §4.7).

use api::http::client::Caller;
use api::http::{Need, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flows::App;
use http::{HeaderMap, Method, StatusCode};
use model::limit::Limit;

use crate::oauth::flow;
use crate::oauth::provider_answer::{ERRORS, ProviderAnswer, ProviderPath, TABLE};

pub const ROUTE: Route = Route::get("auth-oauth-callback", "/api/v1/auth/oauth/callback/{provider_id}")
    .summary("Receives a user returning from a provider and redirects to the app")
    .limit(Limit::Code)
    .needs(&[Need::Providers])
    .leaves_trail()
    .table(TABLE)
    .errors(ERRORS);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    method: Method,
    headers: HeaderMap,
    Input { query, path, .. }: Input<IgnoredBody, ProviderAnswer, ProviderPath>,
) -> Response {
    // A HEAD request must not end the flow.
    if method == Method::HEAD {
        return StatusCode::NO_CONTENT.into_response();
    }
    flow::finish(&app, &caller, &headers, &path.provider_id, &query).await
}
