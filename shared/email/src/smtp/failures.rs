//! Decides whether an email is retried after a failed attempt.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use model::outbox::SendError;
use model::outbox::work::Outcome;
use model::text::line;
use secrecy::ExposeSecret as _;
use wire::clock::Clock;

use super::talk::TalkError;
use crate::send::Server;

/// The step of a conversation that failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Greeting,
    Login,
    /// `RCPT`.
    Recipient,
    /// The sender, `DATA` and the message.
    Envelope,
}

pub(super) struct Failures {
    pub(super) clock: Clock,
}

impl Failures {
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The outcome of an attempt that failed before the message ended, or while it was being ended.
    /// Only a permanent refusal is final (RFC 5321 §4.2.1): the first digit decides, with one
    /// exception.
    pub(super) fn outcome(&self, fault: &TalkError, step: Step, server: &Server) -> Outcome {
        let cause = shown(fault, server);
        let reply = match fault {
            TalkError::Refused(reply) => reply,
            TalkError::Invalid(_) => return self.again("SOCKET_CLOSED", "the mail server sent an invalid reply").because(cause),
            TalkError::Closed(error) => return self.closed(error),
            TalkError::NoLogin => return self.again("AUTH_FAILED", "the mail server offers neither PLAIN nor LOGIN").because(cause),
        };
        let said = |message: &str| format!("{message}: {}", line::to_line(&cause, usize::MAX));
        let outcome = match reply.code {
            // In a reply to `RCPT`, 552 means too many recipients, as in RFC 821, or a full
            // mailbox, and is temporary (RFC 5321 §4.5.3.1.10). In other replies, 552 is permanent:
            // the message is too large.
            code if code == 450 || code == 552 && step == Step::Recipient => {
                self.again("TEMPORARY", said("the mail server is not accepting emails for this address at the moment"))
            }
            400..500 => self.again("TRANSIENT_NEGATIVE_COMPLETION_REPLY", said("the mail server is not accepting emails at the moment")),
            530 | 534 | 535 | 538 => {
                self.lost("AUTH_FAILED", said("the mail server requires a login, rejected it or does not allow this user to send"))
            }
            _ if step == Step::Login => self.lost("AUTH_FAILED", said("the mail server rejected the login")),
            553 => self.lost("INVALID_EMAIL_ADDRESS", said("the mail server rejected an address as invalid")),
            _ => self.lost("REJECTED", said("the mail server refused the email")),
        };
        outcome.because(cause)
    }

    pub(super) fn closed(&self, error: &std::io::Error) -> Outcome {
        self.again("SOCKET_CLOSED", "the mail server closed the connection").because(error.to_string())
    }

    pub(super) fn unknown(&self) -> Outcome {
        let message = "the mail server did not confirm the email: it may or may not have been sent";
        Outcome::Final(SendError::unknown(self.now(), message))
    }

    pub(super) fn lost(&self, class: &str, message: impl Into<String>) -> Outcome {
        Outcome::Final(SendError::new(self.now(), class, message))
    }

    pub(super) fn again(&self, class: &str, message: impl Into<String>) -> Outcome {
        Outcome::Retryable(SendError::new(self.now(), class, message))
    }
}

/// The text of an error, with the password removed in case a server's reply repeats it.
pub(super) fn shown(fault: &TalkError, server: &Server) -> String {
    let mut text = fault.to_string();
    if let Some((username, password)) = &server.login {
        let password = password.expose_secret();
        for secret in [password.to_owned(), STANDARD.encode(password), STANDARD.encode(format!("\0{username}\0{password}"))] {
            text = text.replace(&secret, "…");
        }
    }
    text
}
