//! What Cloudflare Turnstile's `siteverify` says of a token, and whether that is enough.
//!
//! `success` means only that somebody solved a widget with this site key within the last five minutes. The same answer names the host
//! and the action of the widget, which have to be compared with the project's domains and with the operation.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::bot_challenge::Guarded;
use crate::project::redirect::Rules;

/// Where tokens are checked.
pub const ENDPOINT: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// Longest token, in characters, as Cloudflare says.
pub const MAX_TOKEN: usize = 2048;

/// Life of a token, as Cloudflare says.
const LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How far the two clocks may be apart.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

/// The answer of `siteverify`.
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

/// Why a token is not taken. The texts are for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The token does not prove that its sender solved a challenge for this operation.
    #[error("the token is not taken: {0}")]
    Token(String),
    /// The token was not judged: the fault is Cloudflare's, or that of the project's secret key.
    #[error("tokens are not judged: {0}")]
    Unjudged(String),
}

/// Codes that are about the token.
const OF_TOKEN: [&str; 3] = ["missing-input-response", "invalid-input-response", "timeout-or-duplicate"];

impl Answer {
    /// Whether the token lets an operation of a project through.
    pub fn judge(&self, operation: Guarded, trusted: &Rules<'_>, now: Timestamp) -> Result<(), Rejected> {
        let token = |reason: String| Err(Rejected::Token(reason));
        if !self.success {
            let codes = self.error_codes.join(" ");
            let is_about_token = !self.error_codes.is_empty() && self.error_codes.iter().all(|code| OF_TOKEN.contains(&code.as_str()));
            return if is_about_token { token(codes) } else { Err(Rejected::Unjudged(codes)) };
        }
        let Some(hostname) = self.hostname.as_deref().filter(|hostname| trusted.trust_host(hostname)) else {
            return token(format!("it was solved at {:?}, which is no trusted domain of the project", self.hostname));
        };
        if self.action.as_deref() != Some(operation.action()) {
            return token(format!("it was solved at {hostname} for the action {:?}, not {}", self.action, operation.action()));
        }
        let age = self.challenge_ts.map(|time| now.duration_since(time));
        if age.is_none_or(|age| age > LIFE || age < -SKEW) {
            return token(format!("it was solved at {:?}", self.challenge_ts));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::project::redirect::TrustedDomain;

    fn judged(change: impl FnOnce(&mut Value)) -> Result<(), Rejected> {
        let domains = [TrustedDomain { domain: "https://app.example.com".to_owned(), handler_path: "/handler".to_owned() }];
        let mut answer = json!({
            "success": true, "challenge_ts": "2026-01-01T11:59:00.123Z", "hostname": "app.example.com", "action": "sign_up_with_credential",
            "error-codes": [], "cdata": "", "metadata": { "ephemeral_id": "x:9f78e0ed210960d7693b167e" },
        });
        change(&mut answer);
        let answer: Answer = serde_json::from_value(answer).expect("an answer");
        let now = "2026-01-01T12:00:00Z".parse().expect("a time");
        answer.judge(Guarded::SignUp, &Rules { allow_localhost: false, domains: &domains }, now)
    }

    #[test]
    fn a_token_of_the_project_the_operation_and_these_minutes_is_taken() {
        assert_eq!(judged(|_| ()), Ok(()));
    }

    #[test]
    fn success_alone_is_not_enough() {
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
            assert!(matches!(result, Err(Rejected::Token(_))), "{name} {value}: {result:?}");
        }
    }

    #[test]
    fn a_refusal_is_the_tokens_fault_only_when_it_says_so() {
        let refused = |codes: Value| {
            judged(|answer| {
                answer["success"] = json!(false);
                answer["error-codes"] = codes;
            })
        };
        assert_eq!(refused(json!(["timeout-or-duplicate"])), Err(Rejected::Token("timeout-or-duplicate".to_owned())));
        for codes in
            [json!(["invalid-input-secret"]), json!(["internal-error"]), json!([]), json!(["timeout-or-duplicate", "internal-error"])]
        {
            assert!(matches!(refused(codes.clone()), Err(Rejected::Unjudged(_))), "{codes}");
        }
    }
}
