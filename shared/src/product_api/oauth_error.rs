//! The errors of the token endpoint: every OAuth client reads `error` as one of RFC 6749's names, every SDK reads `code` and `details`.
//!
//! Both are in one body, as neither forbids the other's fields. The layer writes it, because some errors are found before the operation runs.

use axum::body::Body;
use axum::response::Response;
use serde::Serialize;
use strum::{IntoStaticStr, VariantNames};

use super::error::{Answered, KnownError};

/// `error` of RFC 6749 §5.2; the last two are those of §4.1.2.1, which that section lacks and clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OauthErrorCode {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnauthorizedClient,
    UnsupportedGrantType,
    ServerError,
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
            KnownError::InvalidAuthorizationCode
            | KnownError::RefreshTokenNotFoundOrExpired
            | KnownError::MultiFactorAuthenticationRequired { .. }
            | KnownError::OauthConnectionAlreadyConnectedToAnotherUser
            | KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse { .. } => Self::InvalidGrant,
            KnownError::SignUpNotEnabled | KnownError::SignUpRejected { .. } => Self::UnauthorizedClient,
            KnownError::ServiceUnavailable | KnownError::RateLimited(_) => Self::TemporarilyUnavailable,
            KnownError::InternalError => Self::ServerError,
            _ => Self::InvalidRequest,
        }
    }
}

/// Writes an error as OAuth has it; an answer that is none stays as it is.
pub(super) fn in_form(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Some(Answered(error)) = parts.extensions.remove::<Answered>() else { return Response::from_parts(parts, body) };
    let code = parts.extensions.remove().unwrap_or_else(|| OauthErrorCode::from(&error));
    let mut body = error.body();
    body["error"] = <&str>::from(code).into();
    body["error_description"] = description(&error.to_string()).into();
    Response::from_parts(parts, Body::from(body.to_string()))
}

/// A sentence in the characters that RFC 6749 §5.2 allows: printable ASCII without quotes and backslashes.
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
    fn a_description_has_no_character_that_the_rfc_forbids() {
        assert_eq!(description("a \"b\" of\n  - c\\d \u{e9}"), "a 'b' of - c'd ?");
    }
}
