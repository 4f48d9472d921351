//! The client of DynamoDB from the environment of a Lambda function: no credential chain and no files, as each is time at a cold start.

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Region, StalledStreamProtectionConfig};
use aws_sdk_dynamodb::{Client, Config};
use aws_smithy_runtime_api::client::http::HttpClient;

use super::Store;
use super::retry::Patient;
use crate::aws_http::AwsHttp;
use crate::entropy::Entropy;
use crate::settings::{Error, required, variable};

impl Store {
    /// The table that the environment names.
    pub fn from_env() -> Result<Self, Error> {
        Self::connect(&required("GATELET_TABLE")?)
    }

    /// A table of the region and endpoint that the environment names.
    pub fn connect(table: &str) -> Result<Self, Error> {
        let entropy = Entropy::system();
        let mut config =
            base_config(AwsHttp::from_env()?, &entropy).region(Region::new(required("AWS_REGION")?)).credentials_provider(credentials()?);
        config.set_endpoint_url(variable("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| variable("AWS_ENDPOINT_URL")));
        Ok(Self::new(Client::from_conf(config.build()), table, entropy))
    }
}

/// What every client of the table has, whatever carries its requests. Those are tried again below the SDK ([`super::retry`]), which
/// knows how long a request may wait and which of DynamoDB's refusals pass; the SDK itself does not.
pub fn base_config(http: impl HttpClient + 'static, entropy: &Entropy) -> Builder {
    Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .retry_config(RetryConfig::disabled())
        .http_client(Patient::new(http, entropy.clone()))
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}

/// The credentials that Lambda sets for the function's role.
pub fn credentials() -> Result<Credentials, Error> {
    let (key, secret) = (required("AWS_ACCESS_KEY_ID")?, required("AWS_SECRET_ACCESS_KEY")?);
    Ok(Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "environment"))
}
