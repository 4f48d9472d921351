//! The client of DynamoDB from the environment of a Lambda function: no credential chain, no files, TLS by rustls on ring with the
//! few root certificates that AWS's endpoints need. All of that is time at a cold start.

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Region, StalledStreamProtectionConfig};
use aws_sdk_dynamodb::{Client, Config};
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpClient, SharedHttpClient};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

use super::Store;
use super::retry::Patient;
use crate::entropy::Entropy;
use crate::settings::{Error, required, variable};

impl Store {
    /// The table that the environment names.
    pub fn from_env() -> Result<Self, Error> {
        Self::connect(&required("GATELET_TABLE")?)
    }

    /// A table of the region and endpoint that the environment names.
    pub fn connect(table: &str) -> Result<Self, Error> {
        let endpoint = variable("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| variable("AWS_ENDPOINT_URL"));
        let plain = endpoint.as_ref().is_some_and(|url| url.starts_with("http:"));
        let (http, entropy) = (if plain { plain_client() } else { tls_client()? }, Entropy::system());
        let mut config = base_config(http, &entropy).region(Region::new(required("AWS_REGION")?)).credentials_provider(credentials()?);
        config.set_endpoint_url(endpoint);
        Ok(Self::new(Client::from_conf(config.build()), table, entropy))
    }
}

/// What every client of the table has, whatever carries its requests. Those are tried again below the SDK ([`super::retry`]), which
/// knows how long a request may wait and which of DynamoDB's refusals pass; the SDK itself does not.
pub fn base_config(http: impl HttpClient + 'static, entropy: &Entropy) -> Builder {
    Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::builder().connect_timeout(Duration::from_secs(1)).build())
        .http_client(Patient::new(http, entropy.clone()))
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}

/// The credentials that Lambda sets for the function's role.
pub fn credentials() -> Result<Credentials, Error> {
    let (key, secret) = (required("AWS_ACCESS_KEY_ID")?, required("AWS_SECRET_ACCESS_KEY")?);
    Ok(Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "environment"))
}

fn plain_client() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http()
}

/// An HTTPS client that trusts the roots of AWS's endpoints; `SSL_CERT_FILE` adds others, for endpoints of one's own.
pub fn tls_client() -> Result<SharedHttpClient, Error> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter(|root| is_amazon_root(root));
    let mut store = roots.fold(TrustStore::empty(), |store, root| store.with_pem_certificate(pem(root)));
    if let Some(more) = variable("SSL_CERT_FILE").and_then(|path| std::fs::read(path).ok()) {
        store = store.with_pem_certificate(more);
    }
    let context = TlsContext::builder().with_trust_store(store).build().map_err(|_| Error::Missing("SSL_CERT_FILE"))?;
    Ok(aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).tls_context(context).build_https())
}

/// Amazon Trust Services publishes five roots: Amazon Root CA 1 to 4 and Starfield's.
fn is_amazon_root(der: &[u8]) -> bool {
    let contains = |name: &[u8]| der.windows(name.len()).any(|window| window == name);
    contains(b"Amazon Root CA") || contains(b"Starfield Services Root Certificate Authority - G2")
}

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der))
}
