//! Retries: every HTTP call from a store to its table, or from a function to the bucket of images,
//! goes through this connector.
//!
//! A retry sends the same signed request, so a transaction keeps its `ClientRequestToken`, and
//! DynamoDB executes it only once within ten minutes. Throttled calls, conflicts with other
//! transactions, 5xx responses, timeouts and lost connections are retried until the request's time
//! or ten attempts are used up. The wait before a retry is a random fraction of a time that doubles
//! with each attempt ("full jitter"), which spreads concurrent retries.
//!
//! After a lost response or a 5xx response, the call may have been executed. A condition that fails
//! in the retry may have failed because of the earlier attempt. The response to the retry therefore
//! has the header `UNCERTAIN`, and the item is checked before a conflict is reported
//! ([`Store::write_unrecorded`](crate::Store::write_unrecorded)).

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use tokio::time::{Instant, sleep, timeout};
use wire::entropy::Entropy;

/// The time that a request may wait for the table, counted from the start of the request; outside
/// [`within`], the time that one call may wait. A Lambda function has ten seconds, two of which are
/// reserved for the response and for hashing a password.
pub const BUDGET: Duration = Duration::from_secs(8);
/// The time limit for one attempt; DynamoDB normally takes milliseconds.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_ATTEMPTS: u32 = 10;
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Marks a response if an earlier attempt at the call may have been executed.
pub(crate) const UNCERTAIN: &str = "x-gatelet-uncertain";

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs work that may wait for the table for up to `budget` from its start.
pub async fn within<F: Future>(budget: Duration, future: F) -> F::Output {
    DEADLINE.scope(Instant::now() + budget, future).await
}

/// The waits between attempts at one call.
pub(crate) struct Waits<'a> {
    entropy: &'a Entropy,
    deadline: Instant,
    attempts: u32,
}

impl<'a> Waits<'a> {
    pub(crate) fn new(entropy: &'a Entropy) -> Self {
        let deadline = DEADLINE.try_with(|deadline| *deadline).unwrap_or_else(|_| Instant::now() + BUDGET);
        Self { entropy, deadline, attempts: 1 }
    }

    /// Waits before the next attempt; `false` if no attempts are left.
    pub(crate) async fn next(&mut self) -> bool {
        let max_wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.attempts - 1)).min(MAX_WAIT);
        let wait = max_wait.mul_f64(self.entropy.fraction());
        if self.attempts >= MAX_ATTEMPTS || Instant::now() + wait >= self.deadline {
            return false;
        }
        self.attempts += 1;
        sleep(wait).await;
        true
    }

    /// The time until the deadline.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// A connector that retries.
#[derive(Clone)]
pub struct Retrying {
    inner: SharedHttpConnector,
    entropy: Entropy,
    /// The time limit for one attempt; `None` for no limit.
    attempt: Option<Duration>,
}

impl std::fmt::Debug for Retrying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Retrying")
    }
}

impl HttpConnector for Retrying {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let connector = self.clone();
        HttpConnectorFuture::new(async move { connector.call_until(request).await })
    }
}

impl Retrying {
    /// Wraps a connector; `entropy` provides the jitter.
    pub fn new(inner: impl HttpConnector + 'static, entropy: Entropy) -> Self {
        Self { inner: SharedHttpConnector::new(inner), entropy, attempt: Some(ATTEMPT_TIMEOUT) }
    }

    /// Like [`Self::new`], but for a service in this process. Responses cannot get lost, so
    /// attempts have no time limit. On a busy machine, a second attempt would only slow everything
    /// down.
    pub(crate) fn in_process(inner: impl HttpConnector + 'static, entropy: Entropy) -> Self {
        Self { attempt: None, ..Self::new(inner, entropy) }
    }

    async fn call_until(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let mut waits = Waits::new(&self.entropy);
        let mut uncertain = false;
        loop {
            let Some(copy) = request.try_clone() else { return self.inner.call(request).await };
            let (answer, outcome) = judge(self.attempt(copy, &waits).await).await;
            let again = match outcome {
                Outcome::Final => false,
                Outcome::NotMade => waits.next().await,
                Outcome::Unknown => {
                    uncertain = true;
                    waits.next().await
                }
            };
            if !again {
                return answer.map(|answer| if uncertain { marked(answer) } else { answer });
            }
        }
    }

    async fn attempt(&self, request: HttpRequest, waits: &Waits<'_>) -> Result<HttpResponse, ConnectorError> {
        let Some(limit) = self.attempt else { return self.inner.call(request).await };
        match timeout(limit.min(waits.left()), self.inner.call(request)).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(ConnectorError::timeout(elapsed.into())),
        }
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The outcome is final: the call was executed, or never will be executed.
    Final,
    /// The call was not executed, and may succeed later.
    NotMade,
    /// The call may have been executed.
    Unknown,
}

/// Determines the outcome of an attempt, and reads the whole response if necessary.
async fn judge(answer: Result<HttpResponse, ConnectorError>) -> (Result<HttpResponse, ConnectorError>, Outcome) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if error.is_user() => return (Err(error), Outcome::Final),
        Err(error) => return (Err(error), Outcome::Unknown),
    };
    let status = answer.status().as_u16();
    if status < 400 {
        return (Ok(answer), Outcome::Final);
    }
    if status >= 500 {
        return (Ok(answer), Outcome::Unknown);
    }
    let mut answer = answer;
    match answer.take_body().collect().await {
        Ok(body) => {
            let body = body.to_bytes();
            let outcome = serde_json::from_slice(&body).map_or(Outcome::Final, |failure: ErrorResponse| failure.outcome());
            *answer.body_mut() = SdkBody::from(body);
            (Ok(answer), outcome)
        }
        Err(error) => (Err(ConnectorError::io(error)), Outcome::Unknown),
    }
}

fn marked(mut answer: HttpResponse) -> HttpResponse {
    answer.headers_mut().insert(UNCERTAIN, "true");
    answer
}

/// The part of an error response that determines the outcome.
#[derive(Debug, Deserialize)]
struct ErrorResponse {
    #[serde(rename = "__type")]
    kind: String,
    #[serde(default, rename = "CancellationReasons")]
    reasons: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
struct Reason {
    #[serde(default, rename = "Code")]
    code: Option<String>,
}

impl ErrorResponse {
    fn outcome(&self) -> Outcome {
        match self.kind.rsplit('#').next().unwrap_or_default() {
            "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "TransactionConflictException"
            | "TransactionInProgressException" => Outcome::NotMade,
            "InternalServerError" | "ServiceUnavailable" => Outcome::Unknown,
            "TransactionCanceledException" if self.may_pass() => Outcome::NotMade,
            _ => Outcome::Final,
        }
    }

    /// Whether a cancelled transaction may succeed later, because it was cancelled only by
    /// throttling or conflicts with other transactions.
    fn may_pass(&self) -> bool {
        let codes = self.reasons.iter().filter_map(|reason| reason.code.as_deref()).filter(|code| *code != "None");
        let mut codes = codes.peekable();
        codes.peek().is_some()
            && codes.all(|code| matches!(code, "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded"))
    }
}
