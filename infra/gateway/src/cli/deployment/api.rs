//! The API of a deployment: its URL, and how to read its responses.

use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use model::text::line::plain;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use settings::base_url;
use url::Url;
use wire::host::is_loopback;

use crate::http_client::http_client;

pub(super) const INTERNAL: &str = "internal";
const BASE: &str = "/api/v1";
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Api {
    pub(super) url: String,
    pub(super) client_key: Option<String>,
    client: Client,
}

impl Api {
    pub(super) fn new(url: String, client_key: Option<String>) -> anyhow::Result<Self> {
        let client = http_client()?.timeout(TIMEOUT).build()?;
        Ok(Self { url, client_key, client })
    }

    pub(super) fn at(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// A request below `/api/v1`.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.at(method, &format!("{BASE}{path}"))
    }

    /// A request by a client of the project `internal`.
    pub(super) fn internal(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, path);
        let request = request.header("x-service-project-id", INTERNAL).header("x-service-access-type", "client");
        match &self.client_key {
            Some(key) => request.header("x-service-publishable-client-key", key),
            None => request,
        }
    }

    /// The status and the text of the response.
    pub(super) async fn text(&self, request: RequestBuilder) -> anyhow::Result<(u16, String)> {
        let unreachable = || format!("cannot reach {}", self.url);
        let answer = request.send().await.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = answer.status();
        ensure!(!status.is_redirection(), "{} redirects to another URL ({status}): sign in to that URL", self.url);
        let text = answer.text().await.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        Ok((status.as_u16(), text))
    }

    /// The status and the body of the response, which must be JSON.
    pub(super) async fn json(&self, request: RequestBuilder) -> anyhow::Result<(u16, Value)> {
        let (status, text) = self.text(request).await?;
        let body = serde_json::from_str(&text).map_err(|_| self.foreign(status))?;
        Ok((status, body))
    }

    /// The error for a response that cannot come from an operation.
    pub(super) fn foreign(&self, status: u16) -> anyhow::Error {
        anyhow!("{} does not seem to be Gatelet (status {status}): check the URL", self.url)
    }

    /// The reason why a request failed, in the service's words. A response without a reason is
    /// assumed to come from another service.
    pub(super) fn refusal(&self, status: u16, body: &Value) -> anyhow::Error {
        let text = |name: &str| body[name].as_str();
        match text("error_description").or_else(|| text("error")) {
            Some(reason) => anyhow!("{} ({} answers {status})", plain(reason), self.url),
            None => self.foreign(status),
        }
    }
}

/// Parses the URL of a deployment. Plain HTTP is accepted only for this machine, because tokens are
/// sent to the URL.
pub(super) fn deployment_url(text: &str) -> anyhow::Result<String> {
    let url = base_url("the deployment's URL", text)?;
    let url = url.strip_suffix(BASE).unwrap_or(&url).to_owned();
    let parsed = Url::parse(&url)?;
    ensure!(
        parsed.scheme() == "https" || is_loopback(&parsed),
        "{url} must begin with https://, because tokens are sent to it; only URLs of this machine may begin with http://"
    );
    ensure!(parsed.username().is_empty() && parsed.password().is_none(), "the URL must not contain a user name or a password");
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_with_or_without_the_path_of_the_api() {
        for text in ["https://Auth.example.com", "https://auth.example.com/", "https://auth.example.com:443/api/v1/"] {
            assert_eq!(deployment_url(text).unwrap(), "https://auth.example.com", "{text}");
        }
        assert_eq!(deployment_url("http://127.0.0.1:8787").unwrap(), "http://127.0.0.1:8787");
    }

    #[test]
    fn tokens_are_sent_without_tls_to_this_machine_only() {
        for text in ["http://auth.example.com", "http://localhost.example.com", "http://10.0.0.1", "ftp://localhost", "nonsense", ""] {
            assert!(deployment_url(text).is_err(), "{text}");
        }
        assert!(deployment_url("https://ada:secret@auth.example.com").is_err());
    }
}
