//! Every environment variable of a function, in one table.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `GATELET_TABLE` | name of the DynamoDB table | required |
//! | `GATELET_SECRET` | deployment secret, at least 32 characters; keys of tokens and of stored secrets are derived from it | required |
//! | `GATELET_API_URL` | public base URL of interface B, without a path | required |
//! | `GATELET_SITE_URL` | public base URL of interface A | the API URL |
//! | `GATELET_ORIGIN_SECRET` | value of `x-origin-secret` that proves a request came through our distribution | none: viewer headers are not believed |
//! | `GATELET_ACCESS_TOKEN_SECONDS` | life of an access token, 20 to 3600 | 600 |
//! | `GATELET_SENDER` | address that mails are sent from | `noreply@` the API's host |
//! | `GATELET_ALLOW_PRIVATE_ISSUERS` | `1`: OAuth issuers may be at private addresses and without TLS | no |
//! | `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` | set by Lambda | required |
//! | `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_SESV2`, `AWS_ENDPOINT_URL` | other endpoints than AWS's | AWS |

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::model::email::Email;

/// Values that nobody may run a deployment with.
const KNOWN_SECRETS: [&str; 2] = ["change-me-change-me-change-me-change-me", "00000000000000000000000000000000"];

/// What the operator decides for a deployment.
#[derive(Clone)]
pub struct Settings {
    /// Base of interface B and issuer of tokens, without a trailing slash.
    pub api_url: String,
    /// Base of interface A, without a trailing slash.
    pub site_url: String,
    pub secret: SecretString,
    pub origin_secret: Option<SecretString>,
    pub access_token_life: Duration,
    /// Address in the `From` of mails whose project names none.
    pub sender: String,
    /// Believe the viewer headers of a distribution without a secret: for the gateway in tests.
    pub trust_viewer_headers: bool,
    /// Localhost and plain HTTP are fine: the cookie of OAuth may be sent without TLS.
    pub development: bool,
    /// OAuth issuers may be at loopback, private and link-local addresses, and without TLS.
    pub allow_private_issuers: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    #[error("GATELET_SECRET must have at least 32 characters and not be one that is known")]
    WeakSecret,
    #[error("{0} is not an absolute http or https URL")]
    InvalidUrl(&'static str),
    #[error("GATELET_ACCESS_TOKEN_SECONDS must be a number from 20 to 3600")]
    InvalidTokenLife,
    #[error("GATELET_SENDER must be an e-mail address")]
    InvalidSender,
}

/// Reads one variable; an empty one counts as absent.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub fn required(name: &'static str) -> Result<String, Error> {
    variable(name).ok_or(Error::Missing(name))
}

impl Settings {
    pub fn from_env() -> Result<Self, Error> {
        let api_url = base_url("GATELET_API_URL", &required("GATELET_API_URL")?)?;
        let site_url = match variable("GATELET_SITE_URL") {
            Some(url) => base_url("GATELET_SITE_URL", &url)?,
            None => api_url.clone(),
        };
        let settings = Self {
            sender: sender(&api_url)?,
            trust_viewer_headers: false,
            development: api_url.starts_with("http:"),
            allow_private_issuers: allow_private_issuers(),
            api_url,
            site_url,
            secret: deployment_secret(required("GATELET_SECRET")?)?,
            origin_secret: variable("GATELET_ORIGIN_SECRET").map(Into::into),
            access_token_life: access_token_life()?,
        };
        Ok(settings)
    }
}

/// Whether OAuth issuers may be at private addresses.
pub fn allow_private_issuers() -> bool {
    variable("GATELET_ALLOW_PRIVATE_ISSUERS").is_some_and(|value| value == "1")
}

/// Refuses a secret that is short or known.
pub fn deployment_secret(secret: String) -> Result<SecretString, Error> {
    let secret = SecretString::from(secret);
    let text = secret.expose_secret();
    if text.len() < 32 || KNOWN_SECRETS.contains(&text) { Err(Error::WeakSecret) } else { Ok(secret) }
}

/// The life of an access token from the environment.
pub fn access_token_life() -> Result<Duration, Error> {
    let Some(text) = variable("GATELET_ACCESS_TOKEN_SECONDS") else { return Ok(Duration::from_secs(600)) };
    let seconds = text.parse().ok().filter(|seconds| (20..=3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or(Error::InvalidTokenLife)
}

/// An absolute http or https URL without its trailing slash.
pub fn base_url(name: &'static str, text: &str) -> Result<String, Error> {
    let url = Url::parse(text).map_err(|_| Error::InvalidUrl(name))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some() || url.fragment().is_some() {
        return Err(Error::InvalidUrl(name));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The address of mails whose project names none: from the environment, or `noreply@` the host of the API.
pub fn sender(api_url: &str) -> Result<String, Error> {
    if let Some(text) = variable("GATELET_SENDER") {
        return Email::parse(&text).map(|email| email.to_string()).map_err(|_| Error::InvalidSender);
    }
    let host = Url::parse(api_url).ok().and_then(|url| url.host_str().map(str::to_owned));
    Ok(format!("noreply@{}", host.unwrap_or_else(|| "localhost".to_owned())))
}
