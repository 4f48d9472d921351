//! The response of the token endpoint of a project's apps.

use std::borrow::Cow;
use std::time::Duration;

use api::http::{Describe, Description, Json};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use serde::Serialize;
use store::provider::authorization::AuthorizationCode;
use utoipa::ToSchema;

/// A successful token response (RFC 6749 §5.1).
#[derive(Serialize, ToSchema)]
pub struct Tokens {
    access_token: String,
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// In seconds. For users, the value is a constant, for compatibility; the token itself contains
    /// the actual expiry time.
    expires_in: u64,
    /// `legacy` for a user. For a server key, the permissions of the key, separated by spaces, or
    /// `server` if the key is unlimited.
    #[schema(value_type = String, example = "legacy")]
    scope: Cow<'static, str>,
    /// Present if the request exchanged an authorization code or a device code.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    #[serde(rename = "newUser", skip_serializing_if = "Option::is_none")]
    is_new_user_camel: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_new_user: Option<bool>,
    #[serde(rename = "afterCallbackRedirectUrl")]
    after_callback_redirect_url_camel: Option<String>,
    after_callback_redirect_url: Option<String>,
}

/// The `expires_in` of tokens for users, in seconds, which is a constant for compatibility. The
/// token itself contains the actual expiry time.
const EXPIRES_IN: u64 = 3599;

impl Tokens {
    pub(crate) fn from_refresh(access_token: String) -> Self {
        Self {
            access_token,
            token_type: "Bearer",
            expires_in: EXPIRES_IN,
            scope: Cow::Borrowed("legacy"),
            refresh_token: None,
            is_new_user_camel: None,
            is_new_user: None,
            after_callback_redirect_url_camel: None,
            after_callback_redirect_url: None,
        }
    }

    pub(crate) fn from_machine(access_token: String, scope: String, life: Duration) -> Self {
        Self { scope: Cow::Owned(scope), expires_in: life.as_secs(), ..Self::from_refresh(access_token) }
    }

    pub(crate) fn from_device(access_token: String, refresh_token: String) -> Self {
        Self { refresh_token: Some(refresh_token), ..Self::from_refresh(access_token) }
    }

    /// The tokens that were issued for a code.
    pub(crate) fn from_code(access_token: String, refresh_token: String, code: AuthorizationCode) -> Self {
        let after = code.after_callback_redirect_url.map(|url| url.url().to_string());
        Self {
            refresh_token: Some(refresh_token),
            is_new_user_camel: Some(code.is_new_user),
            is_new_user: Some(code.is_new_user),
            after_callback_redirect_url_camel: after.clone(),
            after_callback_redirect_url: after,
            ..Self::from_refresh(access_token)
        }
    }
}

/// The headers of every token response (RFC 6749 §5.1).
pub(crate) fn not_stored() -> HeaderMap {
    HeaderMap::from_iter([
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::PRAGMA, HeaderValue::from_static("no-cache")),
    ])
}

impl IntoResponse for Tokens {
    fn into_response(self) -> Response {
        (not_stored(), Json(self)).into_response()
    }
}

impl Describe for Tokens {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}
