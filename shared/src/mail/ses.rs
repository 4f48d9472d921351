//! Sending through Amazon SES (API version 2).
//!
//! SES has no key of idempotency: a request that was cut off after it left may or may not have been taken, so its outcome is final and
//! unknown (WIRE.md, decision 14). For the same reason the SDK does not retry by itself.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use aws_sdk_sesv2::config::retry::RetryConfig;
use aws_sdk_sesv2::config::timeout::TimeoutConfig;
use aws_sdk_sesv2::config::{BehaviorVersion, Region, StalledStreamProtectionConfig};
use aws_sdk_sesv2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sesv2::operation::send_email::SendEmailError;
use aws_sdk_sesv2::types::{Body, Content, Destination, EmailContent, Message, MessageTag};
use aws_sdk_sesv2::{Client, Config};

use super::send::{Mail, Mailer};
use crate::clock::Clock;
use crate::model::outbox::Failure;
use crate::model::outbox_work::Outcome;
use crate::settings::{self, required, variable};
use crate::store::connect::{credentials, tls_client};

/// Sends through SES.
pub struct Ses {
    client: Client,
    configuration_set: Option<String>,
    clock: Clock,
}

impl Ses {
    /// The sender of a Lambda: `GATELET_SES_CONFIGURATION_SET` names the set whose events come back to us.
    pub fn from_env(clock: Clock) -> Result<Self, settings::Error> {
        let timeouts = TimeoutConfig::builder().connect_timeout(Duration::from_secs(2)).operation_timeout(Duration::from_secs(20)).build();
        let config = Config::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(Region::new(required("AWS_REGION")?))
            .credentials_provider(credentials()?)
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        let endpoint = variable("AWS_ENDPOINT_URL_SESV2").or_else(|| variable("AWS_ENDPOINT_URL"));
        let config = match endpoint {
            Some(url) if url.starts_with("http:") => {
                config.endpoint_url(url).http_client(aws_smithy_http_client::Builder::new().build_http())
            }
            endpoint => {
                let mut config = config.http_client(tls_client()?);
                config.set_endpoint_url(endpoint);
                config
            }
        };
        let configuration_set = variable("GATELET_SES_CONFIGURATION_SET");
        Ok(Self { client: Client::from_conf(config.build()), configuration_set, clock })
    }

    async fn try_send(&self, mail: &Mail) -> Outcome {
        let content = match content(mail) {
            Ok(content) => content,
            Err(error) => return Outcome::Final(self.failure("INVALID_MESSAGE", error.to_string())),
        };
        let to = Destination::builder().set_to_addresses(Some(mail.to.iter().map(ToString::to_string).collect())).build();
        let tags = [("gatelet-entry", mail.id.to_string()), ("gatelet-project", mail.project.to_string())];
        let tags: Result<Vec<_>, _> = tags.into_iter().map(|(name, value)| MessageTag::builder().name(name).value(value).build()).collect();
        let request = self.client.send_email().from_email_address(&mail.from).destination(to).content(content).set_email_tags(tags.ok());
        match request.set_configuration_set_name(self.configuration_set.clone()).send().await {
            Ok(_) => Outcome::Sent,
            Err(error) => self.classify(&error),
        }
    }

    fn classify(&self, error: &SdkError<SendEmailError>) -> Outcome {
        match error {
            SdkError::ServiceError(service) => {
                let code = service.err().code().unwrap_or("UNKNOWN");
                let failure = self.failure(code, service.err().message().unwrap_or(code).to_owned());
                match code {
                    "TooManyRequestsException" | "LimitExceededException" | "ThrottlingException" | "SendingPausedException" => {
                        Outcome::Retryable(failure)
                    }
                    _ => Outcome::Final(failure),
                }
            }
            // Nothing left this machine.
            SdkError::DispatchFailure(failure) if failure.is_user() => {
                Outcome::Retryable(self.failure("CONNECTION", "SES cannot be reached".to_owned()))
            }
            _ => Outcome::Final(self.failure("UNKNOWN", "the connection ended before SES answered: the mail may have gone out".to_owned())),
        }
    }

    fn failure(&self, class: &str, message: String) -> Failure {
        Failure { at: self.clock.now().as_millisecond(), class: class.to_owned(), message }
    }
}

fn content(mail: &Mail) -> Result<EmailContent, aws_sdk_sesv2::error::BuildError> {
    let utf8 = |text: &String| Content::builder().data(text).charset("UTF-8").build();
    let body =
        Body::builder().set_html(mail.html.as_ref().map(utf8).transpose()?).set_text(mail.text.as_ref().map(utf8).transpose()?).build();
    Ok(EmailContent::builder().simple(Message::builder().subject(utf8(&mail.subject)?).body(body).build()).build())
}

impl Mailer for Ses {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(self.try_send(mail))
    }
}
