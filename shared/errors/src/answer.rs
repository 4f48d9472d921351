//! Known errors as HTTP responses: status, body and headers.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use model::limit::Refused;
use serde_json::{Value, json};
use strum::{IntoEnumIterator as _, VariantNames as _};
use wire::problem::Problems;

use crate::groups::{NEWER_CODES, OWN_CODES};
use crate::known::KnownError;

/// The code of an error. It is attached to the response, so that the layers around operations can
/// log it and name it in a header.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredCode(pub &'static str);

/// An error. It is attached to the response, so that the layer around operations can write the
/// body.
#[derive(Debug, Clone)]
pub struct Answered(pub KnownError);

impl KnownError {
    /// The error for a request that does not match its operation's schema.
    pub fn schema(problems: &Problems, method: &str, path: &str) -> Self {
        let mut message = format!("the request {method} {path} does not match its schema:");
        for line in problems.lines() {
            message.push_str("\n  - ");
            message.push_str(&line);
        }
        Self::SchemaError { message }
    }

    /// Every code of the catalog.
    pub const CODES: &[&str] = Self::VARIANTS;

    /// The code on the wire.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Every error once, with empty details.
    pub fn samples() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The HTTP status of a code; `None` if the catalog does not contain the code.
    pub fn status_of(code: &str) -> Option<StatusCode> {
        Self::samples().find(|error| error.code() == code).map(|error| error.status())
    }

    /// Whether a published SDK knows the code; `is_older` if its version is before 2.8.108. Headers
    /// name only codes that the SDK knows, because it takes itself for outdated when it gets any
    /// other.
    pub fn is_known_to_sdks(code: &str, is_older: bool) -> bool {
        let newer = if is_older { NEWER_CODES } else { &[] };
        !OWN_CODES.iter().chain(newer).any(|unknown| unknown.name() == code)
    }

    /// The HTTP status.
    #[rustfmt::skip]
    pub fn status(&self) -> StatusCode {
        #[expect(clippy::enum_glob_use, reason = "the names of the variants suffice in this table")]
        use KnownError::*;
        match self {
            InvalidPublishableClientKey { .. } | InvalidSecretServerKey { .. } | InvalidSuperSecretAdminKey { .. }
            | PublishableClientKeyRequiredForProject { .. } | ServerAuthenticationRequired(_) | AdminAuthenticationRequired(_) | AccessTypeRequired
            | UnparsableAdminAccessToken | AdminAccessTokenExpired { .. } | AdminAccessTokenIsNotAdmin | AdminAccessTokenUserNotFound
            | ExpectedInternalProject | UnparsableAccessToken | ApiKeyExpired | ApiKeyRevoked | CrossDomainSessionMismatch
            | AccessTokenExpired { .. } | InvalidProjectForAccessToken { .. } | RefreshTokenNotFoundOrExpired
            | UserAuthenticationRequired | AnonymousAuthenticationNotAllowed | OverrideKeyNotSupported | TeamPermissionRequired { .. }
            | TeamPermissionNotFound { .. } => StatusCode::UNAUTHORIZED,
            InsufficientAccessType { .. } | InsufficientKeyPermission { .. } | RestrictedUserNotAllowed { .. } | SignUpRejected { .. } | Forbidden | InternalProjectStays | MagicLinkNotEnabled | BotChallengeNotEnabled
            | ReauthenticationRequired | UserDeletionNotEnabled | TeamCreationNotEnabled | TeamInvitationRestrictedUserNotAllowed { .. }
            | TeamInvitationEmailMismatch => StatusCode::FORBIDDEN,
            ProjectNotFound { .. } | UserNotFound | VerificationCodeNotFound | RouteNotFound(_) | SessionNotFound | ContactChannelNotFound
            | ProviderAccountNotFound | PasskeyNotFound | ApiKeyNotFound | EmailNotFound | EmailTemplateNotFound | EmailThemeNotFound | EmailDraftNotFound
            | WebhookEndpointNotFound | WebhookDeliveryNotFound
            | NotificationCategoryNotFound | TeamMembershipNotFound { .. } | ProfileImageNotFound | TeamNotFound { .. } | PermissionNotFound { .. }
            | AuthenticatorNotFound | DeviceNotFound | WrongPermissionScope { .. } => StatusCode::NOT_FOUND,
            MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            OuterOauthTimeout => StatusCode::REQUEST_TIMEOUT,
            ContactChannelAlreadyUsedForAuthBySomeoneElse { .. } | OauthConnectionAlreadyConnectedToAnotherUser
            | UserEmailAlreadyExists { .. } | VerificationCodeAlreadyUsed | EmailAlreadyVerified | ContactChannelAlreadyExists
            | BotChallengeRequired | EmailCapacityBoostAlreadyActive { .. } | LastSignInMethod | TeamMembershipAlreadyExists | TeamOwnsProjects { .. } => StatusCode::CONFLICT,
            PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            UnsupportedContentEncoding { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
            InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            ServiceUnavailable | OauthProviderTemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The error's part of the body: `{code, error, details?}`.
    pub fn body(&self) -> Value {
        let mut body = serde_json::to_value(self).unwrap_or_else(|_| json!({ "code": self.code() }));
        body["error"] = Value::String(self.to_string());
        if body["details"].is_null() || body["details"].as_array().is_some_and(Vec::is_empty) {
            body.as_object_mut().map(|body| body.remove("details"));
        }
        body
    }
}

/// Makes the response without its body. The body contains the URL of the documentation, which only
/// the layer around operations knows, so that layer writes it.
impl IntoResponse for KnownError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Gatelet"));
        }
        if self == Self::ServiceUnavailable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Self::RateLimited(refused) = &self {
            describe_limit(refused, headers);
        }
        response.extensions_mut().insert(AnsweredCode(self.code()));
        response.extensions_mut().insert(Answered(self));
        response
    }
}

/// Sets `Retry-After` (RFC 9110 §10.2.3), and the fields of draft-ietf-httpapi-ratelimit-headers:
/// `RateLimit-Policy` contains the policy, and `RateLimit` says that no requests remain.
fn describe_limit(refused: &Refused, headers: &mut HeaderMap) {
    let Refused { limit, retry_after_seconds, quota, window } = refused;
    for (name, value) in [
        (header::RETRY_AFTER, retry_after_seconds.to_string()),
        (HeaderName::from_static("ratelimit-policy"), format!("\"{limit}\";q={quota};w={window}")),
        (HeaderName::from_static("ratelimit"), format!("\"{limit}\";r=0;t={retry_after_seconds}")),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_details_only_when_there_are_any() {
        insta::assert_snapshot!(KnownError::UserNotFound.body(), @r#"{"code":"USER_NOT_FOUND","error":"the user does not exist"}"#);
        insta::assert_snapshot!(KnownError::BodyParsingError("x".into()).body(), @r#"{"code":"BODY_PARSING_ERROR","error":"the body cannot be parsed: x"}"#);
        let long = KnownError::PasswordTooLong { max_length: 128 };
        insta::assert_snapshot!(long.body(), @r#"{"code":"PASSWORD_TOO_LONG","details":{"maxLength":128},"error":"the password must be at most 128 characters long"}"#);
    }

    #[test]
    fn gatelets_own_codes_are_in_the_catalog() {
        for code in OWN_CODES {
            assert!(KnownError::CODES.contains(&code.name()), "{code:?}");
        }
    }
}
