//! `GET /api/v1/auth/oauth/callback/{provider_id}`: where a provider sends the user back (RFC 6749 §4.1.2).
//!
//! It is a GET that changes things, as RFC 6749 has it; the state in it was made by us, works once, and in the redirect mode only in the
//! browser that began the flow (RFC 9700 §4.7).

use api::http::Route;
use api::http::TableAction::{self, BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::client::Caller;
use api::product::Input;
use api::product::input::Ignored;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use deserr::Deserr;
use flows::App;
use http::{HeaderMap, Method, StatusCode};
use model::limit::Limit;
use utoipa::ToSchema;

use crate::oauth_authorize::ProviderPath;
use crate::oauth_flow;

/// What both ways back do to the table.
pub(crate) const TABLE: &[TableAction] = &[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem];

/// What both ways back say when there is nowhere to send the user.
pub(crate) const ERRORS: &[&str] = &["OAUTH_STATE_NOT_FOUND", "REDIRECT_URL_NOT_WHITELISTED"];

pub const ROUTE: Route = Route::get("auth-oauth-callback", "/api/v1/auth/oauth/callback/{provider_id}")
    .summary("Takes the user back from a provider, and sends it on to the app")
    .limit(Limit::Code)
    .leaves_trail()
    .table(TABLE)
    .errors(ERRORS);

/// What a provider says (RFC 6749 §4.1.2, RFC 9207); what else it says is ignored.
#[derive(Deserr, ToSchema)]
pub struct ProviderAnswer {
    /// Ours.
    pub(crate) state: String,
    #[deserr(default)]
    pub(crate) code: Option<String>,
    #[deserr(default)]
    pub(crate) error: Option<String>,
    /// The issuer that answers (RFC 9207).
    #[deserr(default)]
    pub(crate) iss: Option<String>,
    /// Apple tells the name here, at the first sign-in alone.
    #[deserr(default)]
    pub(crate) user: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    method: Method,
    headers: HeaderMap,
    Input { query, path, .. }: Input<Ignored, ProviderAnswer, ProviderPath>,
) -> Response {
    // Who only asks what there would be ends no flow.
    if method == Method::HEAD {
        return StatusCode::NO_CONTENT.into_response();
    }
    oauth_flow::finish(&app, &caller, &headers, &path.provider_id, &query).await
}
