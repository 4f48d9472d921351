//! Responses to requests, and the errors of requests.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_cache_semantics::{CacheOptions, CachePolicy};
use serde::de::DeserializeOwned;
use wire::json::is_too_complex;

/// Why a provider's response is missing or unusable. Here, "provider" includes Turnstile and
/// webhook endpoints. The texts are for the log; the text that administrators see for a failed
/// webhook is derived from them (`flows::webhook`).
#[derive(Debug, Clone, thiserror::Error)]
pub enum AnswerError {
    /// The provider cannot be reached, took too long, responded with status 429 or 5xx, or reported
    /// a temporary problem, such as `temporarily_unavailable`. A name with only private addresses
    /// causes the same error, after the same time, as a name that does not resolve. A difference
    /// would reveal which names exist in a private network.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// The provider refused the request.
    #[error("the provider refused the request: {0}")]
    Refused(String),
    /// The provider responded to a GET with status 401: it does not accept the access token, or
    /// requires one although none was sent.
    #[error("the provider does not accept the access token, or requires one")]
    Unauthorized,
    /// The provider's metadata or response shows that the provider, or its entry in the project's
    /// settings, is set up incorrectly, so later attempts would also fail.
    #[error("the provider is not set up correctly: {0}")]
    Misconfigured(String),
    /// The provider's response violates the protocol, or a request to the provider cannot be built.
    #[error("the request or the provider's answer is invalid: {0}")]
    Senseless(String),
    /// The URL must not be called: it uses neither HTTP nor HTTPS. Unless the deployment allows
    /// private addresses, plain HTTP and private IP addresses are refused too.
    #[error("{0} is not a public HTTPS address; GATELET_ALLOW_PRIVATE_ISSUERS=1 allows private ones and HTTP")]
    Private(String),
}

/// A response whose status is below 500 and not 429.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    pub(crate) fresh_for: Duration,
}

impl Answer {
    /// The status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// How long a shared cache may use the response, by its headers (RFC 9111 §4.2).
    pub fn fresh_for(&self) -> Duration {
        self.fresh_for
    }

    /// The response, if its status is 200.
    pub fn found(self) -> Result<Self, AnswerError> {
        let status = self.status;
        self.successful()
            .and_then(|answer| if status == StatusCode::OK { Ok(answer) } else { Err(AnswerError::Refused(status.to_string())) })
    }

    /// The body as text; `None` if it is not UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.body).ok()
    }

    /// The body as JSON; fails if the body is malformed or too complex. The error does not quote
    /// the body, which may contain secrets.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, AnswerError> {
        if is_too_complex(&self.body) {
            return Err(AnswerError::Senseless(format!("status {}, but the body has too many values", self.status)));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            let what = if error.is_data() { "does not have the expected form" } else { "is not JSON" };
            let (status, line, column) = (self.status, error.line(), error.column());
            AnswerError::Senseless(format!("status {status}, but the body {what} (line {line}, column {column})"))
        })
    }

    /// The response, if its status is 2xx.
    pub(crate) fn successful(self) -> Result<Self, AnswerError> {
        match self.status {
            status if status.is_success() => Ok(self),
            StatusCode::UNAUTHORIZED => Err(AnswerError::Unauthorized),
            status if status.is_redirection() => Err(redirects(status)),
            status => Err(AnswerError::Refused(status.to_string())),
        }
    }

    /// The response, unless its status is 3xx.
    pub(crate) fn unredirected(self) -> Result<Self, AnswerError> {
        if self.status.is_redirection() { Err(redirects(self.status)) } else { Ok(self) }
    }
}

fn redirects(status: StatusCode) -> AnswerError {
    AnswerError::Misconfigured(format!("an endpoint answers {status}, and redirects are not followed: use the URL it redirects to"))
}

/// The failure of a request that did not get a usable response.
pub(crate) struct AttemptError {
    pub(crate) fault: AnswerError,
    /// Whether the request definitely did not reach the server.
    pub(crate) is_unsent: bool,
    /// Whether the server asked for fewer requests.
    pub(crate) is_throttled: bool,
}

impl AttemptError {
    /// The failure of a request that the server may have processed.
    pub(crate) fn after(fault: AnswerError) -> Self {
        Self { fault, is_unsent: false, is_throttled: false }
    }

    /// Whether a second attempt could succeed without doing harm; repeating a request that
    /// `is_safe` never does harm.
    pub(crate) fn may_repeat(&self, is_safe: bool) -> bool {
        matches!(self.fault, AnswerError::Unavailable(_)) && !self.is_throttled && (is_safe || self.is_unsent)
    }
}

/// The error of a request that cannot be built, for example because of a malformed header.
pub(crate) fn unsendable(error: impl Into<http::Error>) -> AnswerError {
    AnswerError::Senseless(error.into().to_string())
}

/// The error of a failed request, with the whole chain of causes.
pub(crate) fn unavailable(error: &(dyn StdError + 'static)) -> AnswerError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    AnswerError::Unavailable(text)
}

/// How long a shared cache may use a response. The headers determine this, relative to the time of
/// the response, so the current time does not matter.
pub(crate) fn freshness<B>(request: &Request<()>, response: &Response<B>) -> Duration {
    let policy = CachePolicy::new_options(request, response, SystemTime::UNIX_EPOCH, CacheOptions::default());
    if policy.is_storable() { policy.time_to_live(SystemTime::UNIX_EPOCH) } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use serde::Deserialize;
    use serde_json::Value;
    use wire::json::MAX_MARKS;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Token {
        access_token: String,
    }

    fn answer(status: StatusCode, body: String) -> Answer {
        Answer { status, body: body.into(), fresh_for: Duration::ZERO }
    }

    #[test]
    fn a_response_is_fresh_for_as_long_as_its_headers_say() {
        let fresh = |headers: &[(&'static str, &'static str)]| {
            let mut response = Response::new(());
            response
                .headers_mut()
                .extend(headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))));
            freshness(&Request::new(()), &response).as_secs()
        };
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(fresh(&[("cache-control", "max-age=600")]), 600);
        assert_eq!(fresh(&[("cache-control", "max-age=600, s-maxage=60")]), 60);
        assert_eq!(fresh(&[("cache-control", "public, max-age=600"), ("age", "500"), date]), 100);
        assert_eq!(fresh(&[date, ("expires", "Sun, 06 Nov 1994 08:59:37 GMT")]), 600);
        for cache_control in ["no-store", "no-cache", "private, max-age=600", "max-age=0"] {
            assert_eq!(fresh(&[("cache-control", cache_control)]), 0, "{cache_control}");
        }
        assert_eq!(fresh(&[]), 0);
    }

    #[test]
    fn an_answer_with_too_many_values_is_not_parsed_into_any_type() {
        let with = |values: usize| format!(r#"{{"access_token":"x","more":[{}]}}"#, vec!["1"; values].join(","));
        for status in [StatusCode::OK, StatusCode::BAD_REQUEST] {
            let complex = answer(status, with(MAX_MARKS));
            for fault in [complex.json::<Value>().err(), complex.json::<Token>().err()] {
                assert!(matches!(&fault, Some(AnswerError::Senseless(text)) if text.contains("too many values")), "{fault:?}");
            }
        }
        assert_eq!(answer(StatusCode::OK, with(100)).json::<Token>().expect("a token").access_token, "x");
    }
}
