//! Composes an email as one message (RFC 5322, RFC 2046), for senders that need the whole message
//! instead of its parts.

use std::time::SystemTime;

use crypto::digest::Digest;
use jiff::Timestamp;
use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{From as FromHeader, HeaderName, HeaderValue, Headers};
use lettre::message::{Mailbox, Mailboxes, Message, MultiPart, SinglePart};

use crate::send::{Mail, Sender};

/// Composes messages.
pub(crate) struct Composer {
    /// The right-hand side of message ids.
    host: String,
}

/// A complete message, ready to be sent.
pub(crate) struct ComposedMessage {
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Vec<u8>,
}

impl Composer {
    pub(crate) fn new(host: Option<String>) -> Self {
        Self { host: host.unwrap_or_else(|| "localhost".to_owned()) }
    }

    /// The message; `None` if the email cannot be sent because an address or a header is invalid.
    pub(crate) fn compose(&self, mail: &Mail, now: Timestamp) -> Option<ComposedMessage> {
        let address = |text: &str| text.parse::<Address>().ok();
        let name = Some(mail.from.name.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        let mut message = Message::builder()
            .from(Mailbox::new(name, address(&mail.from.address)?))
            .date(SystemTime::from(now))
            // Every attempt has the same message id, so a server can recognize a duplicate.
            .message_id(Some(format!("<{}@{}>", mail.id, self.host)))
            .subject(mail.subject.as_str());
        let to = mail.to.iter().map(|to| address(to.as_str())).collect::<Option<Vec<_>>>()?;
        message = message.raw_header(recipients(&to)).envelope(Envelope::new(Some(address(&mail.from.address)?), to).ok()?);
        for (name, value) in mail.headers() {
            message = message.raw_header(header(name, value)?);
        }
        let message = match (&mail.text, &mail.html) {
            (Some(text), Some(html)) => {
                let parts = MultiPart::alternative().boundary(boundary(mail, text, html));
                message.multipart(parts.singlepart(SinglePart::plain(text.clone())).singlepart(SinglePart::html(html.clone())))
            }
            (None, Some(html)) => message.singlepart(SinglePart::html(html.clone())),
            (text, None) => message.singlepart(SinglePart::plain(text.clone().unwrap_or_default())),
        };
        let message = message.ok()?;
        Some(ComposedMessage { envelope: message.envelope().clone(), bytes: message.formatted() })
    }
}

/// The header `To` with one address per line: a line has at most 998 characters (RFC 5322 §2.1.1),
/// too few for fifty addresses.
fn recipients(to: &[Address]) -> HeaderValue {
    let on = |separator: &str| to.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator);
    HeaderValue::dangerous_new_pre_encoded(HeaderName::new_from_ascii_str("To"), on(", "), on(",\r\n "))
}

/// A sender as an address with a name encoded in ASCII (RFC 2047): SES refuses any other.
pub(crate) fn ascii(sender: &Sender) -> String {
    let encoded = || {
        let mut headers = Headers::new();
        let mailbox = Mailbox::new(Some(sender.name.clone()), sender.address.parse().ok()?);
        headers.set(FromHeader::from(Mailboxes::from(mailbox)));
        Some(headers.to_string().trim().strip_prefix("From: ")?.replace("\r\n", ""))
    };
    if sender.name.is_ascii() { sender.to_string() } else { encoded().unwrap_or_else(|| sender.address.clone()) }
}

/// The source of an email as a message dated `at`; `None` if the email cannot be sent.
pub fn source(mail: &Mail, at: Timestamp) -> Option<String> {
    let host = mail.from.address.rsplit_once('@').map(|(_, host)| host.to_owned());
    String::from_utf8(Composer::new(host).compose(mail, at)?.bytes).ok()
}

/// A boundary that is fixed for each email and does not occur in its parts: a text cannot contain
/// its own digest.
fn boundary(mail: &Mail, text: &str, html: &str) -> String {
    Digest::of(&format!("{}\0{text}\0{html}", mail.id)).to_string()
}

fn header(name: &'static str, value: String) -> Option<HeaderValue> {
    Some(HeaderValue::new(HeaderName::new_from_ascii(name.to_owned()).ok()?, value))
}
