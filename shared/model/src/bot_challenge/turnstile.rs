//! Checks the response of Cloudflare Turnstile's `siteverify` for a token.
//!
//! `success` only means that someone solved a widget with this site key in the last five minutes.
//! The response also contains the widget's host and action. The host must be one of the project's
//! trusted domains, and the action must be that of the operation.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::bot_challenge::GuardedOperation;

/// Cloudflare's URL for checking tokens.
pub const ENDPOINT: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// The longest token in characters, according to Cloudflare.
pub const MAX_TOKEN: usize = 2048;

/// The lifetime of a token, according to Cloudflare.
const LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How far Cloudflare's clock may be ahead of this service's clock.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

/// The response from `siteverify`.
#[derive(Debug, Deserialize)]
pub struct Answer {
    success: bool,
    #[serde(default)]
    challenge_ts: Option<Timestamp>,
    #[serde(default)]
    hostname: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default, rename = "error-codes")]
    error_codes: Vec<String>,
}

/// Why a token is not accepted. The texts are for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The token does not prove that the sender of the token solved a challenge for this operation.
    #[error("the Turnstile token was rejected: {0}")]
    Token(String),
    /// The token could not be checked, for example because of an outage at Cloudflare or because
    /// the secret key is wrong.
    #[error("Turnstile tokens cannot be checked: {0}")]
    Unjudged(String),
}

/// The error codes of `siteverify` for an invalid token.
const OF_TOKEN: [&str; 3] = ["missing-input-response", "invalid-input-response", "timeout-or-duplicate"];

impl Answer {
    /// Checks that the token is valid for this operation; `is_trusted` decides whether the project
    /// trusts a host.
    pub fn judge(&self, operation: GuardedOperation, is_trusted: impl Fn(&str) -> bool, now: Timestamp) -> Result<(), Refusal> {
        let token = |reason: String| Err(Refusal::Token(reason));
        if !self.success {
            let codes = self.error_codes.join(" ");
            let is_about_token = !self.error_codes.is_empty() && self.error_codes.iter().all(|code| OF_TOKEN.contains(&code.as_str()));
            return if is_about_token { token(codes) } else { Err(Refusal::Unjudged(codes)) };
        }
        let Some(hostname) = self.hostname.as_deref().filter(|hostname| is_trusted(hostname)) else {
            let found = self.hostname.as_deref().unwrap_or_default();
            return token(format!("the challenge was solved on the host {found:?}, which is not a trusted domain of the project"));
        };
        if self.action.as_deref() != Some(operation.action()) {
            let (found, expected) = (self.action.as_deref().unwrap_or_default(), operation.action());
            return token(format!("the challenge was solved on the host {hostname} for the action {found:?}, not {expected}"));
        }
        let age = self.challenge_ts.map(|time| now.duration_since(time));
        if age.is_none_or(|age| age > LIFE || age < -SKEW) {
            let found = self.challenge_ts.map_or_else(|| "an unknown time".to_owned(), |time| time.to_string());
            return token(format!("the challenge was solved at {found}, which is not within the last five minutes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn judged(change: impl FnOnce(&mut Value)) -> Result<(), Refusal> {
        let mut answer = json!({
            "success": true, "challenge_ts": "2026-01-01T11:59:00.123Z", "hostname": "app.example.com", "action": "sign_up_with_credential",
            "error-codes": [], "cdata": "", "metadata": { "ephemeral_id": "x:9f78e0ed210960d7693b167e" },
        });
        change(&mut answer);
        let answer: Answer = serde_json::from_value(answer).expect("an answer");
        let now = "2026-01-01T12:00:00Z".parse().expect("a time");
        answer.judge(GuardedOperation::SignUp, |host| host == "app.example.com", now)
    }

    #[test]
    fn a_recent_token_of_the_project_and_operation_is_accepted() {
        assert_eq!(judged(|_| ()), Ok(()));
    }

    #[test]
    fn a_success_field_alone_is_not_enough() {
        let fields = [
            ("hostname", json!("evil.example")),
            ("hostname", json!("localhost")),
            ("hostname", json!(null)),
            ("action", json!("oauth_authenticate")),
            ("action", json!(null)),
            ("challenge_ts", json!("2026-01-01T11:54:59Z")),
            ("challenge_ts", json!("2026-01-01T12:01:01Z")),
            ("challenge_ts", json!(null)),
        ];
        for (name, value) in fields {
            let result = judged(|answer| answer[name] = value.clone());
            assert!(matches!(result, Err(Refusal::Token(_))), "{name} {value}: {result:?}");
        }
    }

    #[test]
    fn a_rejection_blames_the_token_only_if_every_error_code_does() {
        let refused = |codes: Value| {
            judged(|answer| {
                answer["success"] = json!(false);
                answer["error-codes"] = codes;
            })
        };
        assert_eq!(refused(json!(["timeout-or-duplicate"])), Err(Refusal::Token("timeout-or-duplicate".to_owned())));
        for codes in
            [json!(["invalid-input-secret"]), json!(["internal-error"]), json!([]), json!(["timeout-or-duplicate", "internal-error"])]
        {
            assert!(matches!(refused(codes.clone()), Err(Refusal::Unjudged(_))), "{codes}");
        }
    }
}
