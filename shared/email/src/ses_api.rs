//! The operations of Amazon SES (API version 2) that Gatelet calls: four JSON requests, signed and carried by [`aws`].
//!
//! SES's SDK crate describes over a hundred operations. Compiling it took 61 of the 330 core-seconds
//! of a first `cargo run` (`cargo build --timings`), more than any other crate.
//! Source: Amazon SES API v2 reference, `SendEmail`, `GetAccount`, `GetEmailIdentity` and
//! `GetConfigurationSetEventDestinations`; errors as in the AWS restJson1 protocol.

use std::error::Error as StdError;

use aws::{Client, ExchangeError};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SES answered with an error.
    #[error("{code}: {message}")]
    Refused { status: u16, code: String, message: String },
    /// The request could not be written or signed.
    #[error("the request cannot be made")]
    Request(#[source] Box<dyn StdError + Send + Sync>),
    /// The request may or may not have reached SES: see the connector's reason.
    #[error("the request was not answered")]
    NotAnswered(#[source] ConnectorError),
    /// SES answered, but not in a way that can be read.
    #[error("the answer cannot be read")]
    Answer(#[source] Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Whether SES does not know what the request names.
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

/// `SendEmail`: a message of its own text, without a template of SES.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct SendEmail {
    /// `"Name" <address>`.
    pub from_email_address: String,
    pub destination: Destination,
    pub content: Content,
    pub email_tags: Vec<Pair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_set_name: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Destination {
    pub to_addresses: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Content {
    pub simple: Message,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Message {
    pub subject: Text,
    pub body: Body,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Pair>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Body {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<Text>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Text {
    pub data: String,
    pub charset: &'static str,
}

impl Text {
    pub fn utf8(data: impl Into<String>) -> Self {
        Self { data: data.into(), charset: "UTF-8" }
    }
}

/// A message header or an email tag.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Pair {
    pub name: &'static str,
    pub value: String,
}

/// The answer of `GetAccount`, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Account {
    pub sending_enabled: bool,
    /// `false`: the account is in the sandbox.
    pub production_access_enabled: bool,
    pub send_quota: Option<SendQuota>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SendQuota {
    /// Emails per second.
    pub max_send_rate: f64,
}

/// The answer of `GetEmailIdentity`, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EmailIdentity {
    pub verified_for_sending_status: bool,
}

/// The answer of `GetConfigurationSetEventDestinations`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventDestinations {
    pub event_destinations: Vec<EventDestination>,
}

/// Where SES reports what becomes of emails, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventDestination {
    pub enabled: bool,
    pub event_bridge_destination: Option<serde::de::IgnoredAny>,
}

/// SES, as a client of its API.
#[derive(Debug, Clone)]
pub struct SesApi(Client);

impl SesApi {
    /// `client` must be one of [`aws::Service::Ses`].
    pub fn new(client: Client) -> Self {
        Self(client)
    }

    pub async fn send_email(&self, email: &SendEmail) -> Result<(), Error> {
        let body = serde_json::to_vec(email).map_err(|error| Error::Request(error.into()))?;
        self.call("POST", "/v2/email/outbound-emails", Some(body)).await.map(|_: serde::de::IgnoredAny| ())
    }

    pub async fn get_account(&self) -> Result<Account, Error> {
        self.call("GET", "/v2/email/account", None).await
    }

    /// `identity`: an address or a domain.
    pub async fn get_email_identity(&self, identity: &str) -> Result<EmailIdentity, Error> {
        self.call("GET", &format!("/v2/email/identities/{}", encoded(identity)), None).await
    }

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

/// A value as a segment of a path.
fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}

/// An error of the restJson1 protocol: its code is in a header or in the body, with a namespace before or a URL behind it.
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
    fn an_error_code_is_read_wherever_aws_writes_it() {
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
