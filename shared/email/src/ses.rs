//! Sending through Amazon SES (API version 2).
//!
//! SES does not support idempotency keys. If the connection drops after the request was sent, SES
//! may or may not have accepted the email, so the outcome is unknown and final. An email is retried
//! only if SES refused it temporarily or never received the request.

use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws::connector::AwsHttp;
use aws::{Client, Endpoint, Service};
use model::outbox::SendError;
use model::outbox::work::Outcome;
use tokio::time::timeout;
use wire::clock::Clock;
use wire::environment::{self, variable};

use crate::mime::ascii;
use crate::send::{Mail, Mailer, tags};
use crate::ses_api::{Body, Content, Destination, Error, Message, Pair, SendEmail, SesApi, Text};

/// How long to wait for SES's response before the outcome counts as unknown.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends through SES.
pub struct Ses {
    api: SesApi,
    configuration_set: Option<String>,
    timeout: Duration,
    clock: Clock,
    is_refused: AtomicBool,
}

impl Ses {
    /// The sender for a Lambda function. `GATELET_SES_CONFIGURATION_SET` names the configuration
    /// set that reports deliveries.
    pub fn from_env(clock: Clock) -> Result<Self, environment::Error> {
        let client = Client::new(Endpoint::from_env(Service::Ses)?, AwsHttp::from_env()?);
        Ok(Self::new(client, variable("GATELET_SES_CONFIGURATION_SET"), TIMEOUT, clock))
    }

    /// A sender that waits up to `timeout` for a response.
    pub fn new(client: Client, configuration_set: Option<String>, timeout: Duration, clock: Clock) -> Self {
        Self { api: SesApi::new(client), configuration_set, timeout, clock, is_refused: AtomicBool::new(false) }
    }

    async fn try_send(&self, mail: &Mail) -> Outcome {
        let (request, was_refused) = (self.request(mail), self.is_refused.load(Ordering::Relaxed));
        match timeout(self.timeout, self.api.send_email(&request)).await {
            Ok(Ok(())) => {
                // Reset only a refusal from before this email: a concurrent email may have been
                // refused since.
                if was_refused {
                    self.is_refused.store(false, Ordering::Relaxed);
                }
                Outcome::Sent { is_reported_on: self.configuration_set.is_some() }
            }
            Ok(Err(error)) => self.classify(&error),
            Err(elapsed) => Outcome::Final(self.unknown()).because(elapsed.to_string()),
        }
    }

    fn request(&self, mail: &Mail) -> SendEmail {
        let body = Body { text: mail.text.as_deref().map(Text::utf8), html: mail.html.as_deref().map(Text::utf8) };
        let headers = mail.headers().map(|(name, value)| Pair { name, value }).collect();
        let tags =
            [(tags::ENTRY, mail.id.to_string()), (tags::PROJECT, mail.project.to_string()), (tags::ATTEMPT, mail.attempt.to_string())];
        SendEmail {
            from_email_address: ascii(&mail.from),
            destination: Destination { to_addresses: mail.to.iter().map(ToString::to_string).collect() },
            content: Content { simple: Message { subject: Text::utf8(&mail.subject), body, headers } },
            email_tags: tags.into_iter().map(|(name, value)| Pair { name, value }).collect(),
            configuration_set_name: self.configuration_set.clone(),
        }
    }

    fn classify(&self, error: &Error) -> Outcome {
        match error {
            Error::Refused { status, code, .. } => self.refusal(code, *status).because(error.to_string()),
            Error::NotAnswered(error) if was_never_connected(error) => {
                let class = if is_timeout(error) { "TIMEOUT" } else { "TEMPORARY" };
                Outcome::Retryable(self.failure(class, "the email service cannot be reached"))
            }
            Error::Request(_) => self.not_sendable(),
            Error::NotAnswered(error) if error.is_user() => self.not_sendable(),
            Error::NotAnswered(_) | Error::Answer(_) => Outcome::Final(self.unknown()),
        }
        .because(causes(error))
    }

    /// Maps an SES error to one of the outbox's failure classes.
    fn refusal(&self, code: &str, status: u16) -> Outcome {
        match (code, status) {
            ("TooManyRequestsException" | "LimitExceededException" | "ThrottlingException" | "Throttling", _) | (_, 429) => {
                self.not_now("the email service is not accepting emails at the moment")
            }
            ("SendingPausedException", _) => self.not_now("the email service has paused sending"),
            // SES reports a failure, but not whether it had already accepted the email.
            (_, 500..) => Outcome::Final(self.unknown()),
            (_, 401 | 403) => Outcome::Final(self.failure("AUTH_FAILED", "the email service does not allow this deployment to send")),
            _ => Outcome::Final(self.failure("REJECTED", "the email service refused the email")),
        }
    }

    fn not_now(&self, message: &str) -> Outcome {
        self.is_refused.store(true, Ordering::Relaxed);
        Outcome::Retryable(self.failure(SendError::NOT_NOW, message))
    }

    fn not_sendable(&self) -> Outcome {
        Outcome::Final(self.failure("REJECTED", "the email cannot be sent: it does not make a valid request"))
    }

    fn unknown(&self) -> SendError {
        SendError::unknown(self.clock.now(), "the email service did not confirm the email: it may or may not have been sent")
    }

    fn failure(&self, class: &str, message: &str) -> SendError {
        SendError::new(self.clock.now(), class, message)
    }
}

/// Whether the connection was never established, so nothing was sent.
fn was_never_connected(error: &(dyn StdError + 'static)) -> bool {
    let is_connect = |error: &(dyn StdError + 'static)| {
        error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(hyper_util::client::legacy::Error::is_connect)
    };
    chain(error).any(is_connect)
}

fn is_timeout(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut))
}

/// An error and its causes, on one line.
fn causes(error: &(dyn StdError + 'static)) -> String {
    chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn chain<'e>(error: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn StdError + 'static)| (*error).source())
}

impl Mailer for Ses {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(self.try_send(mail))
    }

    fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }
}
