//! The responses of token endpoints (RFC 6749 §5).

use jiff::{SignedDuration, Timestamp};
use net::outgoing::AnswerError;
use secrecy::SecretString;
use serde_json::Value;
use wire::clock::after;

/// The tokens that a provider issues for a code or a refresh token (RFC 6749 §5.1).
pub struct Tokens {
    /// The provider's access token.
    pub access_token: SecretString,
    /// The refresh token, if the provider issues one.
    pub refresh_token: Option<SecretString>,
    /// The ID token of an OpenID provider, which has not been verified yet.
    pub id_token: Option<SecretString>,
    /// When the access token expires; absent if unknown or more than a year away.
    pub expires_at: Option<Timestamp>,
    /// The granted scopes as the provider reports them, separated by spaces or, at some providers,
    /// by commas. `None` if the provider does not report any; then the requested scopes count as
    /// granted.
    pub scope: Option<String>,
}

/// The maximum plausible lifetime of an access token, in seconds: a year.
const MAX_LIFE: f64 = 31_536_000.0;
/// The maximum length of a token, and of a list of scopes, in bytes. Access tokens are sent in
/// headers, and servers rarely accept longer headers. Longer tokens would also cost more to store.
const MAX_LENGTH: usize = 16 * 1024;

impl Tokens {
    /// Reads a successful answer.
    pub(crate) fn read(answer: &Value, now: Timestamp) -> Result<Self, AnswerError> {
        let secret = |name: &str| answer[name].as_str().filter(|text| !text.is_empty()).map(|text| SecretString::from(text.to_owned()));
        // Tokens of other types are unusable (§7.1). Some providers do not send the type.
        if let Some(kind) = answer["token_type"].as_str().filter(|kind| !kind.eq_ignore_ascii_case("bearer")) {
            return Err(AnswerError::Misconfigured(format!("its tokens have the type {kind:.20}, not Bearer")));
        }
        let scope = scope(answer);
        let texts = [answer["access_token"].as_str(), answer["refresh_token"].as_str(), scope.as_deref()];
        if texts.into_iter().flatten().any(|text| text.len() > MAX_LENGTH) {
            return Err(AnswerError::Misconfigured(format!("a token or the list of scopes has more than {MAX_LENGTH} bytes")));
        }
        // Some providers send the number as a string, or with a fraction.
        let number = &answer["expires_in"];
        let seconds = number.as_f64().or_else(|| number.as_str()?.trim().parse().ok()).filter(|seconds| (0.0..=MAX_LIFE).contains(seconds));
        Ok(Self {
            access_token: secret("access_token")
                .ok_or_else(|| AnswerError::Senseless("the token response has no access token".to_owned()))?,
            refresh_token: secret("refresh_token"),
            id_token: secret("id_token"),
            expires_at: seconds.and_then(|seconds| SignedDuration::try_from_secs_f64(seconds.floor()).ok()).map(|life| after(now, life)),
            scope,
        })
    }
}

/// The scopes in a response: a string or a list, in `scope` or, at Bitbucket, in `scopes`. An empty
/// string counts as missing: GitHub sends an empty string for tokens that have permissions instead
/// of scopes.
fn scope(answer: &Value) -> Option<String> {
    let field = [&answer["scope"], &answer["scopes"]].into_iter().find(|field| !field.is_null())?;
    let text = match field {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        field => field.as_str()?.to_owned(),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The error in a response, in at most 100 characters: the error code (§5.2) or, at Facebook, the
/// type and the number in an object. `None` if the field is empty, because some providers always
/// send it.
pub(crate) fn error(answer: &Value) -> Option<String> {
    let error = match &answer["error"] {
        Value::Object(error) => {
            let field =
                |name: &str| error.get(name).filter(|value| !value.is_null()).map(|value| value.to_string().trim_matches('"').to_owned());
            [field("type"), field("code")].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        error => error.as_str()?.to_owned(),
    };
    Some(error.chars().take(100).collect()).filter(|text: &String| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn read(name: &str, value: Value) -> Result<Tokens, AnswerError> {
        let mut answer = json!({ "access_token": "a" });
        answer[name] = value;
        Tokens::read(&answer, NOW)
    }

    #[test]
    fn the_lifetime_may_be_a_text_or_have_a_fraction() {
        let seconds = |value: Value| read("expires_in", value).expect("tokens").expires_at.map(Timestamp::as_second);
        for value in [json!(3600), json!("3600"), json!(3600.9), json!("3600.0")] {
            assert_eq!(seconds(value.clone()), Some(3600), "{value}");
        }
        for value in [json!(-1), json!("soon"), json!(null), json!(1e12), json!([])] {
            assert_eq!(seconds(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn scopes_are_read_in_every_form() {
        let scope = |name: &str, value: Value| read(name, value).expect("tokens").scope;
        assert_eq!(scope("scope", json!("a b")).as_deref(), Some("a b"));
        assert_eq!(scope("scope", json!(["a", "b"])).as_deref(), Some("a b"));
        assert_eq!(scope("scopes", json!("a b")).as_deref(), Some("a b"));
        for value in [json!(""), json!(" "), json!([]), json!(null), json!(7)] {
            assert_eq!(scope("scope", value.clone()), None, "{value}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        for name in ["access_token", "refresh_token", "scope"] {
            assert!(read(name, json!("x".repeat(MAX_LENGTH))).is_ok(), "{name}");
            assert!(matches!(read(name, json!("x".repeat(MAX_LENGTH + 1))), Err(AnswerError::Misconfigured(_))), "{name}");
        }
        assert!(read("scope", json!(vec!["x"; MAX_LENGTH])).is_err());
    }

    #[test]
    fn only_bearer_tokens_are_used() {
        assert!(read("token_type", json!("BEARER")).is_ok() && read("token_type", Value::Null).is_ok());
        assert!(matches!(read("token_type", json!("mac")), Err(AnswerError::Misconfigured(_))));
        assert!(read("access_token", json!("")).is_err());
    }

    #[test]
    fn errors_are_read_in_every_form() {
        assert_eq!(error(&json!({ "error": "invalid_grant" })).as_deref(), Some("invalid_grant"));
        assert_eq!(error(&json!({ "error": { "type": "OAuthException", "code": 100 } })).as_deref(), Some("OAuthException 100"));
        for none in [json!({}), json!({ "error": 7 }), json!({ "error": null }), json!({ "error": "" }), json!({ "error": {} })] {
            assert_eq!(error(&none), None, "{none}");
        }
    }
}
