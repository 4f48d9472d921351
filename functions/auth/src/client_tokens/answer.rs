//! The responses of the token endpoint (RFC 6749 §5).

use api::http::{Describe, Description, Json};
use axum::response::{IntoResponse, Response};
use model::session::scope::Scopes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::oauth::tokens::{self, Tokens};

/// A successful token response (RFC 6749 §5.1).
#[derive(Serialize, ToSchema)]
#[schema(as = OauthClientTokens)]
pub struct ClientTokens {
    pub(crate) access_token: String,
    #[schema(example = "Bearer")]
    pub(crate) token_type: &'static str,
    /// The lifetime of the access token, in seconds.
    pub(crate) expires_in: u64,
    /// The scopes of the access token, separated by spaces.
    #[schema(value_type = String, example = "openid email")]
    pub(crate) scope: ScopeText,
    /// Issued if the session has the scope `offline_access`. If the request contained a refresh
    /// token, the new refresh token replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<String>,
    /// With the scope `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id_token: Option<String>,
}

/// Scopes as one text.
pub(crate) struct ScopeText(pub(crate) Scopes);

impl Serialize for ScopeText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The response of the token endpoint, which accepts both OAuth clients and the project's keys.
#[derive(Serialize)]
#[serde(untagged)]
pub enum AnyTokens {
    /// Tokens for one of the project's OAuth clients.
    Client(ClientTokens),
    /// Tokens for the project itself, which acts as the client.
    Project(Tokens),
}

model::either!(AnyTokens, ClientTokens, Tokens, "The response of the token endpoint, which also serves the project's own keys.");

impl IntoResponse for AnyTokens {
    fn into_response(self) -> Response {
        match self {
            Self::Client(tokens) => (tokens::not_stored(), Json(tokens)).into_response(),
            Self::Project(tokens) => tokens.into_response(),
        }
    }
}

impl Describe for AnyTokens {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}
