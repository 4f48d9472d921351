//! The errors of the token endpoint and the device authorization endpoint: OAuth clients read
//! `error`, a code of RFC 6749 or RFC 8628; SDKs read `code` and `details`.
//!
//! One body serves OAuth clients and SDKs, because each format permits the other's fields. The
//! layer writes the body, because some errors occur before the operation runs.

use errors::KnownError;
use serde::Serialize;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The codes in `error` (RFC 6749 §5.2, RFC 8628 §3.5). `ServerError` and `TemporarilyUnavailable`
/// come from RFC 6749 §4.1.2.1, because §5.2 does not define codes for these cases, and clients
/// know these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OauthErrorCode {
    /// The request is malformed.
    InvalidRequest,
    /// Client authentication failed.
    InvalidClient,
    /// The code or the refresh token is invalid, expired or revoked.
    InvalidGrant,
    /// The client may not use this grant.
    UnauthorizedClient,
    /// The grant type is not supported.
    UnsupportedGrantType,
    /// The scope exceeds what the user has granted, or what the client may ask for.
    InvalidScope,
    /// The project does not have the requested resource (RFC 8707 §2).
    InvalidTarget,
    /// A redirect URI of a client that registers itself is invalid (RFC 7591 §3.2.2).
    InvalidRedirectUri,
    /// The description of a client that registers itself is invalid (RFC 7591 §3.2.2).
    InvalidClientMetadata,
    /// Only authorization codes are supported (RFC 6749 §4.1.2.1).
    UnsupportedResponseType,
    /// The parameter `request` is not supported (OpenID Connect Core §3.1.2.6).
    RequestNotSupported,
    /// The parameter `request_uri` is not supported here (OpenID Connect Core §3.1.2.6).
    RequestUriNotSupported,
    /// The parameter `registration` is not supported (OpenID Connect Core §3.1.2.6).
    RegistrationNotSupported,
    /// The device's sign-in is neither confirmed nor refused yet (RFC 8628 §3.5).
    AuthorizationPending,
    /// The device polls too often (RFC 8628 §3.5).
    SlowDown,
    /// The device code has expired (RFC 8628 §3.5).
    ExpiredToken,
    /// The sign-in of the device was refused (RFC 8628 §3.5).
    AccessDenied,
    /// An internal error.
    ServerError,
    /// The service is overloaded, or the caller sent too many requests.
    TemporarilyUnavailable,
}

impl From<&KnownError> for OauthErrorCode {
    fn from(error: &KnownError) -> Self {
        match error {
            KnownError::InvalidOauthClientIdOrSecret { .. }
            | KnownError::PublishableClientKeyRequiredForProject { .. }
            | KnownError::InvalidPublishableClientKey { .. }
            | KnownError::InvalidSecretServerKey { .. }
            | KnownError::InvalidSuperSecretAdminKey { .. } => Self::InvalidClient,
            KnownError::OauthScopeNotGranted => Self::InvalidScope,
            KnownError::AuthorizationRequestInvalid { oauth_error, .. } | KnownError::ClientMetadataInvalid { oauth_error, .. } => {
                oauth_error.parse().unwrap_or(Self::InvalidRequest)
            }
            KnownError::AuthorizationPending => Self::AuthorizationPending,
            KnownError::SlowDown => Self::SlowDown,
            KnownError::DeviceCodeExpired => Self::ExpiredToken,
            KnownError::DeviceDenied | KnownError::ClientRegistrationNotEnabled => Self::AccessDenied,
            KnownError::InvalidPollingCode
            | KnownError::InvalidAuthorizationCode
            | KnownError::OauthGrantInvalid
            | KnownError::RefreshTokenNotFoundOrExpired
            | KnownError::MultiFactorAuthenticationRequired { .. }
            | KnownError::OauthConnectionAlreadyConnectedToAnotherUser
            | KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse { .. } => Self::InvalidGrant,
            KnownError::OauthGrantTypeNotAllowed | KnownError::SignUpNotEnabled | KnownError::SignUpRejected { .. } => {
                Self::UnauthorizedClient
            }
            KnownError::ServiceUnavailable | KnownError::RateLimited(_) | KnownError::TooManyUnusedClients => Self::TemporarilyUnavailable,
            KnownError::InternalError => Self::ServerError,
            _ => Self::InvalidRequest,
        }
    }
}

/// Adds OAuth's fields to the body of an error. `code`, if given, replaces the error's own OAuth
/// code. Returns the code.
pub(crate) fn describe(error: &KnownError, code: Option<OauthErrorCode>, body: &mut Value) -> OauthErrorCode {
    let code = code.unwrap_or_else(|| error.into());
    body["error"] = <&str>::from(code).into();
    body["error_description"] = description(&error.to_string()).into();
    code
}

/// A sentence with only the characters that RFC 6749 §5.2 allows: printable ASCII without quotation
/// marks and backslashes.
fn description(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let allowed = |c: char| match c {
        '"' | '\\' => '\'',
        ' '..='~' => c,
        _ => '?',
    };
    words.join(" ").chars().map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_only_characters_that_the_rfc_allows() {
        assert_eq!(description("a \"b\" of\n  - c\\d \u{e9}"), "a 'b' of - c'd ?");
    }
}
