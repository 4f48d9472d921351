//! The operations of Amazon SES (API version 2) used by Gatelet: four JSON requests, signed and
//! sent by [`aws`].
//!
//! The SDK's crate for SES is not used, because it describes over a hundred operations. Compiling
//! that crate took 61 of the 330 core-seconds of a first `cargo run` (`cargo build --timings`),
//! more than any other crate. Source: The requests follow the Amazon SES API v2 reference:
//! `SendEmail`, `GetAccount`, `GetEmailIdentity` and `GetConfigurationSetEventDestinations`. The
//! errors follow the AWS restJson1 protocol.

use std::error::Error as StdError;

use aws::{Client, ExchangeError};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SES responded with an error.
    #[error("{code}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The name of the error without its namespace, such as `MessageRejected`; empty if
        /// unknown.
        code: String,
        /// SES's explanation, which may be empty.
        message: String,
    },
    /// The request could not be serialized, addressed or signed.
    #[error("the request could not be built or signed")]
    Request(#[source] Box<dyn StdError + Send + Sync>),
    /// The request may or may not have reached SES; the connector's error says more.
    #[error("the request was not answered")]
    NotAnswered(#[source] ConnectorError),
    /// SES responded, but the response was cut off or cannot be parsed.
    #[error("the response was cut off or cannot be parsed")]
    Answer(#[source] Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Whether SES does not have the requested resource.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == "NotFoundException")
    }
}

impl From<ExchangeError> for Error {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Request(error) => Self::Request(error),
            ExchangeError::Connector(error) => Self::NotAnswered(error),
            ExchangeError::Body(error, _) => Self::Answer(error),
        }
    }
}

/// The request of `SendEmail`, with the email's content instead of an SES template.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct SendEmail {
    /// `"Name" <address>`.
    pub from_email_address: String,
    /// The recipients.
    pub destination: Destination,
    /// Subject, parts and headers.
    pub content: Content,
    /// Tags that delivery reports repeat; at most 50.
    pub email_tags: Vec<Pair>,
    /// The configuration set that reports deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_set_name: Option<String>,
}

/// The recipients of an email.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Destination {
    /// Addresses for the header `To`; at most 50.
    pub to_addresses: Vec<String>,
}

/// The content of an email.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Content {
    /// A message in parts, for SES to assemble.
    pub simple: Message,
}

/// A message in parts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Message {
    /// The subject.
    pub subject: Text,
    /// The parts.
    pub body: Body,
    /// Additional headers; at most 15.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Pair>,
}

/// The parts of a message; at least one is required.
#[wire::sparse]
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Body {
    /// The plain-text part.
    pub text: Option<Text>,
    /// The HTML part.
    pub html: Option<Text>,
}

/// A text with its charset.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Text {
    /// The text.
    pub data: String,
    /// The charset of the text in the email.
    pub charset: &'static str,
}

impl Text {
    /// A text in UTF-8.
    pub fn utf8(data: impl Into<String>) -> Self {
        Self { data: data.into(), charset: "UTF-8" }
    }
}

/// A message header or an email tag.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Pair {
    /// The name of the header or tag.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// The response of `GetAccount`; only the fields used here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Account {
    /// Whether the account may send emails at all.
    pub sending_enabled: bool,
    /// `false` if the account is in the sandbox.
    pub production_access_enabled: bool,
    /// The account's limits.
    pub send_quota: Option<SendQuota>,
}

/// The sending limits of an account in one region.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SendQuota {
    /// Emails per second.
    pub max_send_rate: f64,
}

/// The response of `GetEmailIdentity`; only the fields used here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EmailIdentity {
    /// Whether emails may be sent from the identity.
    pub verified_for_sending_status: bool,
}

/// The answer of `GetConfigurationSetEventDestinations`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventDestinations {
    /// The destinations of the configuration set.
    pub event_destinations: Vec<EventDestination>,
}

/// A destination of delivery reports; only the fields used here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventDestination {
    /// Whether SES sends reports to this destination.
    pub enabled: bool,
    /// Present if the destination is an event bus.
    pub event_bridge_destination: Option<serde::de::IgnoredAny>,
}

/// A client of the SES API.
#[derive(Debug, Clone)]
pub struct SesApi(Client);

impl SesApi {
    /// Sends calls with `client`, which must be a client of [`aws::Service::Ses`].
    pub fn new(client: Client) -> Self {
        Self(client)
    }

    /// Sends an email (`SendEmail`). Not idempotent: SES does not support idempotency keys, so it
    /// cannot recognize a repeated request.
    pub async fn send_email(&self, email: &SendEmail) -> Result<(), Error> {
        let body = serde_json::to_vec(email).map_err(|error| Error::Request(error.into()))?;
        self.call("POST", "/v2/email/outbound-emails", Some(body)).await.map(|_: serde::de::IgnoredAny| ())
    }

    /// The sending status and limits of the account (`GetAccount`).
    pub async fn get_account(&self) -> Result<Account, Error> {
        self.call("GET", "/v2/email/account", None).await
    }

    /// The status of an identity, which is an address or a domain (`GetEmailIdentity`).
    pub async fn get_email_identity(&self, identity: &str) -> Result<EmailIdentity, Error> {
        self.call("GET", &format!("/v2/email/identities/{}", encoded(identity)), None).await
    }

    /// The destinations of delivery reports (`GetConfigurationSetEventDestinations`).
    pub async fn get_event_destinations(&self, configuration_set: &str) -> Result<EventDestinations, Error> {
        self.call("GET", &format!("/v2/email/configuration-sets/{}/event-destinations", encoded(configuration_set)), None).await
    }

    async fn call<T: DeserializeOwned>(&self, method: &'static str, path: &str, body: Option<Vec<u8>>) -> Result<T, Error> {
        let mut request = HttpRequest::new(SdkBody::empty());
        request.set_method(method).and_then(|()| request.set_uri(path)).map_err(|error| Error::Request(error.into()))?;
        if let Some(body) = body {
            request.headers_mut().insert("content-type", "application/json");
            request.headers_mut().insert("content-length", body.len().to_string());
            *request.body_mut() = SdkBody::from(body);
        }
        let answer = self.0.exchange(request).await?;
        let body = answer.body().bytes().unwrap_or_default();
        if !answer.status().is_success() {
            return Err(refused(&answer, body));
        }
        serde_json::from_slice(body).map_err(|error| Error::Answer(error.into()))
    }
}

/// Percent-encodes a value as one path segment.
fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}

/// An error of the restJson1 protocol. The error's code, perhaps with a namespace before it and a
/// URL after it, is in a header or in the body.
fn refused(answer: &HttpResponse, body: &[u8]) -> Error {
    #[derive(Deserialize, Default)]
    struct Wire {
        #[serde(alias = "__type")]
        code: Option<String>,
        #[serde(alias = "Message")]
        message: Option<String>,
    }
    let wire: Wire = serde_json::from_slice(body).unwrap_or_default();
    let code = answer.headers().get("x-amzn-errortype").map(str::to_owned).or(wire.code).unwrap_or_default();
    let code = code.rsplit('#').next().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
    Error::Refused { status: answer.status().as_u16(), code, message: wire.message.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_one_segment_of_the_path() {
        assert_eq!(encoded("a+b@example.com"), "a%2Bb%40example.com");
        assert_eq!(encoded("../account?x"), "..%2Faccount%3Fx");
    }

    #[test]
    fn an_error_code_is_read_from_the_header_or_the_body() {
        let refusal = |header: Option<&'static str>, body: &'static str| {
            let mut answer = HttpResponse::new(400.try_into().unwrap(), SdkBody::from(body));
            if let Some(header) = header {
                answer.headers_mut().insert("x-amzn-errortype", header);
            }
            refused(&answer, body.as_bytes()).to_string()
        };
        let in_header = refusal(Some("MessageRejected:http://internal.amazon.com/coral/"), r#"{"message":"not verified"}"#);
        assert_eq!(in_header, "MessageRejected: not verified");
        assert_eq!(refusal(None, r#"{"__type":"com.amazonaws#NotFoundException","Message":"none"}"#), "NotFoundException: none");
        assert_eq!(refusal(None, "<html>"), ": ");
    }
}
