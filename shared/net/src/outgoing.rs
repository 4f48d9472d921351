//! Requests to OAuth providers, and to Turnstile. A project's administrators choose issuers, so
//! the target of a request is untrusted: no redirects, no proxies, a timeout of two seconds,
//! bounded answers, and only public IP addresses ([`crate::public_address`]) unless the deployment
//! allows others.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use settings::Settings;
use tower::Service;
use url::{Host, Url};

use crate::lookups::{PROVIDERS, SystemNames, WEBHOOKS};
use crate::public_address::{NotPublic, is_public};
use crate::resolver::{BoxError, PublicResolver};
use crate::tls;

/// How long a call may take, from resolving the name to the last byte.
const BUDGET: Duration = Duration::from_secs(2);
/// Longest accepted answer, in bytes; a set of ten RSA keys has about 5 KB.
const MAX_ANSWER: usize = 256 * 1024;

/// Why a provider gave no usable answer. Here, "provider" also means Turnstile or a webhook
/// endpoint. The texts are for the log; what administrators learn about a failed webhook is derived
/// from them (`flows::webhook`).
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// The provider cannot be reached, took too long, answered with status 429 or 5xx, or named an
    /// error of its own, such as `temporarily_unavailable`.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// The provider refused the request.
    #[error("the provider refused the request: {0}")]
    Refused(String),
    /// The provider answered a GET with status 401: it does not accept the access token, or asks
    /// for one where none is sent.
    #[error("the provider does not accept the access token, or requires one")]
    Unauthorized,
    /// The provider's answer violates the protocol, or a request to it cannot be built.
    #[error("the request or the provider's answer is invalid: {0}")]
    Senseless(String),
    /// The URL must not be called: it uses neither HTTP nor HTTPS or, unless the deployment allows
    /// private addresses, it does not use HTTPS or its host has no public IP address.
    #[error("{0} is not a public HTTPS address; GATELET_ALLOW_PRIVATE_ISSUERS=1 allows private ones and HTTP")]
    Private(String),
}

/// A client for calls to providers.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Whether loopback, private and link-local IP addresses, and plain HTTP, are allowed.
    allow_private: bool,
    /// Base URL of the server that stands in for every `https` host; `None` to call the hosts.
    stand_in: Option<&'a str>,
    /// Whether the calls go to webhook endpoints. Their names are looked up in places of their own.
    is_for_webhooks: bool,
}

impl<'a> Outgoing<'a> {
    /// A client with the deployment's rules for private IP addresses.
    pub fn new(settings: &'a Settings) -> Self {
        let stand_in = settings.provider_stand_in.as_deref();
        Self { allow_private: settings.allow_private_issuers, stand_in, is_for_webhooks: false }
    }

    /// A client for webhook endpoints, with the rules of [`Self::new`], that never calls the server
    /// that stands in for providers.
    pub(crate) fn of_webhooks(settings: &Settings) -> Outgoing<'static> {
        Outgoing { allow_private: settings.allow_private_issuers, stand_in: None, is_for_webhooks: true }
    }

    /// The URL to use for an endpoint: its own or, if a server stands in for all hosts, the
    /// corresponding URL of that server.
    pub fn place(self, endpoint: &str) -> Cow<'_, str> {
        match self.stand_in.zip(endpoint.strip_prefix("https://")) {
            Some((base, rest)) => Cow::Owned(format!("{base}/{rest}")),
            None => Cow::Borrowed(endpoint),
        }
    }

    /// Fetches a JSON document. Any status but 2xx is a fault. A document of untrusted size and
    /// shape should be read as a type of its own, because a [`Value`] needs up to a hundred times
    /// the memory of the text.
    pub async fn get<T: DeserializeOwned>(self, url: &str, bearer: Option<&str>, header: Option<(&str, &str)>) -> Result<T, Fault> {
        let bearer = bearer.map(|token| (AUTHORIZATION, format!("Bearer {token}")));
        let header = header.map(|(name, value)| Ok((name.parse::<HeaderName>().map_err(unsendable)?, value.to_owned()))).transpose()?;
        let (status, body) = self.send(Method::GET, url, bearer.into_iter().chain(header), Bytes::new()).await?;
        match status {
            StatusCode::UNAUTHORIZED => Err(Fault::Unauthorized),
            status if status.is_success() => parse(status, &body),
            status => parse(status, &body).and_then(|IgnoredAny| Err(Fault::Refused(format!("{status}")))),
        }
    }

    /// Posts a form. Returns the status and the JSON answer, which is `null` if the status is 401
    /// and the body is not JSON. 429, 5xx, and any other answer that is not JSON are faults.
    pub async fn post(self, url: &str, form: &[(&str, &str)], basic: Option<(&str, &str)>) -> Result<(StatusCode, Value), Fault> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let login = basic.map(|(id, secret)| {
            // RFC 6749 §2.3.1: id and secret are form-encoded before they are joined.
            let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            (AUTHORIZATION, format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(id), encode(secret)))))
        });
        let headers = [(CONTENT_TYPE, "application/x-www-form-urlencoded".to_owned())].into_iter().chain(login);
        let (status, body) = self.send(Method::POST, url, headers, body.into()).await?;
        match parse(status, &body) {
            // The status says enough.
            Err(_) if status == StatusCode::UNAUTHORIZED => Ok((status, Value::Null)),
            parsed => Ok((status, parsed?)),
        }
    }

    async fn send(
        self,
        method: Method,
        url: &str,
        headers: impl IntoIterator<Item = (HeaderName, String)>,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), Fault> {
        let (uri, client) = (self.check(url)?.as_str().to_owned(), self.client());
        let mut request = Request::builder().method(method).uri(uri).body(Full::new(body)).map_err(unsendable)?;
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("gatelet"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let mut value = HeaderValue::try_from(value).map_err(unsendable)?;
            value.set_sensitive(name == AUTHORIZATION);
            request.headers_mut().insert(name, value);
        }
        let late = |_| Fault::Unavailable(format!("no answer within {} s", BUDGET.as_secs()));
        tokio::time::timeout(BUDGET, exchange(client, request)).await.map_err(late)?
    }

    /// Parses a URL, and refuses it if its scheme or IP address shows that it may not be called. A
    /// host name is checked when it is resolved.
    pub(crate) fn check(self, text: &str) -> Result<Url, Fault> {
        let url = Url::parse(&self.place(text)).map_err(|_| Fault::Senseless("an endpoint is not a valid URL".to_owned()))?;
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(Fault::Senseless("an endpoint has no host".to_owned())),
        };
        let is_fit = self.allow_private || (url.scheme() == "https" && address.is_none_or(is_public));
        if is_fit && matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(Fault::Private(text.to_owned())) }
    }

    pub(crate) fn client(self) -> &'static Client {
        static CLIENTS: [[OnceLock<Client>; 2]; 2] = [const { [const { OnceLock::new() }; 2] }; 2];
        let lookups = if self.is_for_webhooks { &WEBHOOKS } else { &PROVIDERS };
        let of_purpose = &CLIENTS[usize::from(self.is_for_webhooks)];
        of_purpose[usize::from(self.allow_private)].get_or_init(|| client(PublicResolver::new(self.allow_private, lookups)))
    }
}

pub(crate) type Client<R = SystemNames> = legacy::Client<HttpsConnector<HttpConnector<PublicResolver<R>>>, Full<Bytes>>;

/// A client whose connections to a host name go only to the addresses that the resolver returns.
/// An IP address in a URL is not resolved; [`Outgoing::check`] checks it.
pub(crate) fn client<R>(resolver: PublicResolver<R>) -> Client<R>
where
    PublicResolver<R>:
        Service<Name, Response = std::vec::IntoIter<SocketAddr>, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static,
{
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    let tls = tls::client(tls::public_roots());
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
    legacy::Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
}

async fn exchange(client: &Client, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), Fault> {
    let response = client.request(request).await.map_err(|error| unavailable(&error))?;
    let status = response.status();
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(Fault::Unavailable(format!("{status}")));
    }
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(|error| match error.downcast_ref() {
        Some(LengthLimitError { .. }) => Fault::Senseless(format!("the answer has more than {MAX_ANSWER} bytes")),
        None => unavailable(&*error),
    })?;
    Ok((status, body.to_bytes()))
}

/// The body of an answer. The fault does not quote the body, which may contain secrets.
fn parse<T: DeserializeOwned>(status: StatusCode, body: &Bytes) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| {
        let what = if error.is_data() { "does not have the expected form" } else { "is not JSON" };
        Fault::Senseless(format!("status {status}, but the body {what} (line {}, column {})", error.line(), error.column()))
    })
}

/// The fault of a request that cannot be built, such as one with a header that is malformed.
pub(crate) fn unsendable(error: impl Into<http::Error>) -> Fault {
    Fault::Senseless(error.into().to_string())
}

/// The fault of a failed request: `Private` if the host has no public address, otherwise
/// `Unavailable` with the whole chain of causes.
pub(crate) fn unavailable(error: &(dyn StdError + 'static)) -> Fault {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(NotPublic(host)) = cause.downcast_ref() {
            return Fault::Private(host.clone());
        }
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Fault::Unavailable(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(allow_private: bool) -> Outgoing<'static> {
        Outgoing { allow_private, stand_in: None, is_for_webhooks: false }
    }

    #[test]
    fn a_url_of_a_private_address_is_refused_before_a_request() {
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
    async fn a_host_that_resolves_to_this_machine_is_not_called() {
        let fault = outgoing(false).get::<Value>("https://localhost/x", None, None).await.expect_err("localhost is not public");
        assert!(matches!(fault, Fault::Private(_)), "{fault}");
    }
}
