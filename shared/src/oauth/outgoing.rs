//! Requests to providers. A project's administrator names issuers, so where a request goes is not ours to trust: no redirects, no
//! proxies, two seconds, bounded answers, and public addresses alone ([`public_address`]).

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, RequestBuilder, Response, redirect};
use serde_json::Value;
use url::{Host, Url};

use crate::public_address::{self, NotPublic, is_public};
use crate::settings::Settings;
use crate::tls;

/// How long a call may take, from the name's resolution to the last byte.
const BUDGET: Duration = Duration::from_secs(2);
/// Longest answer that is read, in bytes; a key set of ten RSA keys has about 5 KB.
const MAX_ANSWER: usize = 256 * 1024;

/// Why a provider gave no answer that can be used. The texts are for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// It cannot be reached, took too long, or says itself that it has a problem.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// It refused the request.
    #[error("the provider refused the request: {0}")]
    Refused(String),
    /// Its answer is not what its protocol says.
    #[error("the provider's answer makes no sense: {0}")]
    Senseless(String),
    /// The address may not be called from here.
    #[error("{0} is not a public address; GATELET_ALLOW_PRIVATE_ISSUERS=1 allows it")]
    Private(String),
}

/// A client for providers.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Whether loopback, private and link-local addresses, and plain HTTP, may be called.
    allow_private: bool,
    /// What answers in place of every `https` host.
    stand_in: Option<&'a str>,
}

impl<'a> Outgoing<'a> {
    pub fn new(settings: &'a Settings) -> Self {
        Self { allow_private: settings.allow_private_issuers, stand_in: settings.provider_stand_in.as_deref() }
    }

    /// Where an endpoint is: there, or at what stands in for it.
    pub fn place(self, endpoint: &str) -> Cow<'_, str> {
        match self.stand_in.zip(endpoint.strip_prefix("https://")) {
            Some((base, rest)) => Cow::Owned(format!("{base}/{rest}")),
            None => Cow::Borrowed(endpoint),
        }
    }

    /// Reads a JSON document.
    pub async fn get(self, url: &str, bearer: Option<&str>, header: Option<(&str, &str)>) -> Result<Value, Fault> {
        let mut request = self.client()?.get(self.check(url)?);
        if let Some(token) = bearer {
            request = request.bearer_auth(token);
        }
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let (status, body) = send(request).await?;
        if status.is_success() { Ok(body) } else { Err(Fault::Refused(format!("{status}"))) }
    }

    /// Posts a form, and gives the JSON answer with whether the provider took it.
    pub async fn post(self, url: &str, form: &[(&str, &str)], basic: Option<(&str, &str)>) -> Result<(bool, Value), Fault> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut request = self.client()?.post(self.check(url)?).body(body).header("content-type", "application/x-www-form-urlencoded");
        if let Some((id, secret)) = basic {
            // RFC 6749 §2.3.1: both are form-encoded before they are put together.
            let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            request = request.basic_auth(encode(id), Some(encode(secret)));
        }
        let (status, body) = send(request).await?;
        Ok((status.is_success(), body))
    }

    /// A URL that may be called, as far as the URL tells.
    fn check(self, text: &str) -> Result<Url, Fault> {
        let url = Url::parse(&self.place(text)).map_err(|_| Fault::Senseless("an endpoint is not a URL".to_owned()))?;
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(Fault::Senseless("an endpoint has no host".to_owned())),
        };
        let is_fit = self.allow_private || (url.scheme() == "https" && address.is_none_or(is_public));
        if is_fit && matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(Fault::Private(text.to_owned())) }
    }

    fn client(self) -> Result<&'static Client, Fault> {
        static CLIENTS: [OnceLock<Option<Client>>; 2] = [OnceLock::new(), OnceLock::new()];
        let client = CLIENTS[usize::from(self.allow_private)].get_or_init(|| build(self.allow_private).ok());
        client.as_ref().ok_or_else(|| Fault::Unavailable("there is no TLS".to_owned()))
    }
}

fn build(allow_private: bool) -> Result<Client, Box<dyn std::error::Error>> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls::client(tls::public_roots()))
        .dns_resolver(Arc::new(PublicResolver { allow_private }))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(BUDGET)
        .user_agent("gatelet");
    Ok(client.build()?)
}

async fn send(request: RequestBuilder) -> Result<(reqwest::StatusCode, Value), Fault> {
    let response = request.header("accept", "application/json").send().await.map_err(unavailable)?;
    let status = response.status();
    if status.is_server_error() || status == reqwest::StatusCode::TOO_MANY_REQUESTS {
        return Err(Fault::Unavailable(format!("{status}")));
    }
    let body = read(response).await?;
    let body = serde_json::from_slice(&body).map_err(|_| Fault::Senseless(format!("{status} without JSON")))?;
    Ok((status, body))
}

async fn read(mut response: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(Fault::Senseless(format!("more than {MAX_ANSWER} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The whole chain of causes, without the URL, which may carry a secret.
fn unavailable(error: reqwest::Error) -> Fault {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        if let Some(NotPublic(host)) = cause.downcast_ref() {
            return Fault::Private(host.clone());
        }
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Fault::Unavailable(text)
}

struct PublicResolver {
    allow_private: bool,
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let addresses = public_address::resolve(name.as_str(), 0, allow_private).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(allow_private: bool) -> Outgoing<'static> {
        Outgoing { allow_private, stand_in: None }
    }

    #[test]
    fn a_url_that_leads_inside_is_refused_before_a_request() {
        let outside = outgoing(false);
        for url in [
            "http://issuer.example/x",
            "https://127.0.0.1/x",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://169.254.169.254/latest",
            "file:///etc/passwd",
            "ftp://issuer.example/",
        ] {
            assert!(outside.check(url).is_err(), "{url}");
        }
        assert!(outside.check("https://issuer.example/x").is_ok());
        assert!(outgoing(true).check("http://127.0.0.1:3000/x").is_ok() && outgoing(true).check("file:///x").is_err());
    }

    #[tokio::test]
    async fn a_name_that_resolves_to_this_machine_is_not_called() {
        let fault = outgoing(false).get("https://localhost/x", None, None).await.expect_err("localhost is not public");
        assert!(matches!(fault, Fault::Private(_)), "{fault}");
    }
}
