//! The errors of the token endpoint: every OAuth client reads `error` as one of RFC 6749's names, every SDK reads `code` and `details`.
//!
//! Both are in one body, as neither forbids the other's fields. The layer writes it, because some errors are found before the operation runs.

use errors::KnownError;
use serde::Serialize;
use serde_json::Value;
use strum::{IntoStaticStr, VariantNames};

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

/// Gives the body of an error the members of OAuth; `code` is in place of the one that the error has.
pub(crate) fn describe(error: &KnownError, code: Option<OauthErrorCode>, body: &mut Value) {
    body["error"] = <&str>::from(code.unwrap_or_else(|| error.into())).into();
    body["error_description"] = description(&error.to_string()).into();
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
