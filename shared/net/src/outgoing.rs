//! Requests to OAuth providers and Turnstile. A project's administrators choose issuers, so the
//! target of a request is untrusted. Redirects are not followed, each request has a timeout, and
//! responses have a maximum size. Only public IP addresses are called ([`crate::public_address`])
//! unless the deployment also allows private ones.
//!
//! A failed request is repeated once if that is safe: if the request only reads, or certainly did
//! not reach the server. A code or refresh token that may have arrived is not sent again, because a
//! provider that receives one twice revokes the tokens it issued (RFC 6749 §4.1.2, RFC 9700 §4.14).

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;
use serde::de::DeserializeOwned;
use serde_json::Value;
use settings::Settings;
use tokio::time::{Instant, sleep, timeout_at};
use tower::Service;
use url::{Host, Url};
use wire::id::ProjectId;

pub use crate::answer::{Answer, AnswerError};
use crate::answer::{AttemptError, freshness, unavailable, unsendable};
use crate::connector::Connector;
use crate::lookups::{DOCUMENTS, Lookups, PROVIDERS, SystemNames, WEBHOOKS};
use crate::proxy::Proxy;
use crate::public_address::is_public;
use crate::resolver::{BoxError, PublicResolver};
use crate::tls;

/// The time limit for one attempt to call a provider, from resolving the name to the last byte.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(6);
/// The total time limit for a request's calls to providers: below the timeout of the functions that
/// make these calls.
pub const PROVIDERS_TIMEOUT: Duration = Duration::from_secs(20);
/// The time limit for fetching the metadata document of an OAuth client. A person waits for it.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of such a document, in bytes (Client ID Metadata Document §6.6).
const MAX_DOCUMENT: usize = 5 * 1024;
/// The time limit for Turnstile, because people wait for it at every sign-up.
const CHALLENGE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit for calls in operations whose main work is something else: below the timeout of
/// functions.
const BRIEF_TIMEOUT: Duration = Duration::from_secs(8);
/// The pause before the second attempt.
pub(crate) const BACKOFF: Duration = Duration::from_millis(200);
/// The maximum size of a response, in bytes; a set of ten RSA keys has about 5 KB.
const MAX_ANSWER: usize = 256 * 1024;
/// The maximum number of unused connections kept open to one host: as many as there can be
/// concurrent deliveries to a webhook endpoint.
pub(crate) const MAX_IDLE: usize = 8;
/// How long an unused connection is kept; the pool may take up to twice as long to close it. The
/// time is short because projects choose the hosts and their number.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The purpose of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Signing in with providers, and bot challenges.
    Providers,
    /// Deliveries to webhook endpoints.
    Webhooks,
    /// Metadata documents of OAuth clients, which anybody can name.
    Documents,
}

/// A client for one request's calls to providers.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Whether loopback, private and link-local IP addresses, and plain HTTP, are allowed.
    allow_private: bool,
    /// The base URL of the server that replaces every `https` host; `None` to call the real hosts.
    stand_in: Option<&'a str>,
    /// The project for which the calls are made, to limit the project's lookups.
    project: Option<&'a ProjectId>,
    /// The purpose, for each of which lookups have a separate limit.
    purpose: Purpose,
    /// The maximum size of a response, in bytes.
    max_answer: usize,
    /// The time limit for an attempt.
    timeout: Duration,
    /// The end of the time for all calls together.
    until: Instant,
}

impl<'a> Outgoing<'a> {
    /// A client with the deployment's rules for private IP addresses. All of the client's calls
    /// together may take up to [`PROVIDERS_TIMEOUT`], starting now.
    pub fn new(settings: &'a Settings, project: &'a ProjectId) -> Self {
        Self { project: Some(project), ..Self::without_project(settings) }
    }

    fn without_project(settings: &'a Settings) -> Self {
        Self {
            allow_private: settings.allow_private_issuers,
            stand_in: settings.provider_stand_in.as_deref(),
            project: None,
            purpose: Purpose::Providers,
            max_answer: MAX_ANSWER,
            timeout: PROVIDER_TIMEOUT,
            until: Instant::now() + PROVIDERS_TIMEOUT,
        }
    }

    /// A client for the metadata documents of OAuth clients, which anybody can choose.
    pub fn for_documents(settings: &'a Settings, project: &'a ProjectId) -> Self {
        let until = Instant::now() + DOCUMENT_TIMEOUT;
        Self { purpose: Purpose::Documents, max_answer: MAX_DOCUMENT, timeout: DOCUMENT_TIMEOUT, until, ..Self::new(settings, project) }
    }

    /// A client for Turnstile.
    pub fn for_challenges(settings: &'a Settings, project: &'a ProjectId) -> Self {
        let until = Instant::now() + CHALLENGE_TIMEOUT;
        Self { timeout: CHALLENGE_TIMEOUT, until, ..Self::new(settings, project) }
    }

    /// A client for the metadata of issuers. All of its calls together may take eight seconds.
    pub fn for_metadata(settings: &'a Settings, project: &'a ProjectId) -> Self {
        Self { until: Instant::now() + BRIEF_TIMEOUT, ..Self::new(settings, project) }
    }

    /// A client for webhook endpoints, which does not use the server that replaces providers;
    /// `project` is `None` if the client only checks URLs.
    pub(crate) fn for_webhooks(settings: &'a Settings, project: Option<&'a ProjectId>) -> Self {
        Self { stand_in: None, project, purpose: Purpose::Webhooks, ..Self::without_project(settings) }
    }

    /// Whether there is time left for a whole attempt. If there is too little time, do not send
    /// anything that must not be sent twice.
    pub fn has_time(self) -> bool {
        Instant::now() + self.timeout <= self.until
    }

    /// A client for tests, which may call this machine.
    #[cfg(test)]
    pub(crate) fn for_tests(timeout: Duration, until: Instant) -> Outgoing<'static> {
        Outgoing { allow_private: true, stand_in: None, project: None, purpose: Purpose::Providers, max_answer: MAX_ANSWER, timeout, until }
    }

    /// The URL to use for an endpoint: the endpoint's URL or, if a server replaces all hosts, the
    /// corresponding URL of that server.
    pub fn place(self, endpoint: &str) -> Cow<'_, str> {
        match self.stand_in.zip(endpoint.strip_prefix("https://")) {
            Some((base, rest)) => Cow::Owned(format!("{base}/{rest}")),
            None => Cow::Borrowed(endpoint),
        }
    }

    /// Fetches a JSON document. Any status other than 2xx is an error. Parse documents of untrusted
    /// size and structure into a specific type, because a [`Value`] needs up to a hundred times the
    /// memory of the text.
    pub async fn get<T: DeserializeOwned>(self, url: &str, bearer: Option<&str>, header: Option<(&str, &str)>) -> Result<T, AnswerError> {
        self.fetch(url, bearer, header).await?.successful()?.json()
    }

    /// Fetches a document. The status may be any status below 500 except 429, and the media type
    /// need not be JSON or JWT.
    pub async fn fetch(self, url: &str, bearer: Option<&str>, header: Option<(&str, &str)>) -> Result<Answer, AnswerError> {
        let bearer = bearer.map(|token| (AUTHORIZATION, format!("Bearer {token}")));
        let header = header.map(|(name, value)| Ok((name.parse::<HeaderName>().map_err(unsendable)?, value.to_owned()))).transpose()?;
        self.send(Method::GET, url, bearer.into_iter().chain(header), Bytes::new()).await
    }

    /// Posts a form. Returns the status and the JSON response, or `null` for a 401 without JSON.
    /// Fails for the statuses 3xx, 429 and 5xx, and for any other response without JSON.
    pub async fn post(self, url: &str, form: &[(&str, &str)], basic: Option<(&str, &str)>) -> Result<(u16, Value), AnswerError> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let login = basic.map(|(id, secret)| {
            // RFC 6749 §2.3.1: the id and the secret are form-encoded before they are joined.
            let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            (AUTHORIZATION, format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(id), encode(secret)))))
        });
        let headers = [(CONTENT_TYPE, "application/x-www-form-urlencoded".to_owned())].into_iter().chain(login);
        let answer = self.send(Method::POST, url, headers, body.into()).await?.unredirected()?;
        match answer.json() {
            // If the status is 401, the body does not matter.
            Err(_) if answer.status() == 401 => Ok((401, Value::Null)),
            parsed => Ok((answer.status(), parsed?)),
        }
    }

    async fn send(
        self,
        method: Method,
        url: &str,
        headers: impl IntoIterator<Item = (HeaderName, String)>,
        body: Bytes,
    ) -> Result<Answer, AnswerError> {
        let is_safe = method.is_safe();
        let mut request = Request::builder().method(method).uri(self.check(url)?.as_str()).body(Full::new(body)).map_err(unsendable)?;
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("gatelet"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, application/jwt;q=0.9"));
        for (name, value) in headers {
            let mut value = HeaderValue::try_from(value).map_err(unsendable)?;
            value.set_sensitive(name == AUTHORIZATION);
            request.headers_mut().insert(name, value);
        }
        match self.attempt(request.clone()).await {
            Err(failure) if failure.may_repeat(is_safe) && Instant::now() + BACKOFF < self.until => {
                sleep(BACKOFF).await;
                self.attempt(request).await
            }
            result => result,
        }
        .map_err(|failure| failure.fault)
    }

    /// Sends a request once. If there was no connection, the request certainly did not reach the
    /// server.
    async fn attempt(self, mut request: Request<Full<Bytes>>) -> Result<Answer, AttemptError> {
        self.admit(request.uri())?;
        let begun = Instant::now();
        let end = (begun + self.timeout).min(self.until);
        let connection = capture_connection(&mut request);
        let late = |_| AttemptError::after(AnswerError::Unavailable(format!("no answer within {:.0} s", (end - begun).as_secs_f64())));
        let answer = timeout_at(end, exchange(self.client(), request, self.max_answer)).await.map_err(late).flatten();
        answer.map_err(|failure| AttemptError { is_unsent: connection.connection_metadata().is_none(), ..failure })
    }

    /// Fails if too many hosts of the project are being looked up.
    pub(crate) fn admit(self, uri: &Uri) -> Result<(), AttemptError> {
        let Some(project) = self.project else { return Ok(()) };
        self.lookups()
            .admit(project, uri.host().unwrap_or_default())
            .map_err(|error| AttemptError { is_unsent: true, ..AttemptError::after(AnswerError::Unavailable(error.to_string())) })
    }

    fn lookups(self) -> &'static Lookups {
        match self.purpose {
            Purpose::Providers => &PROVIDERS,
            Purpose::Webhooks => &WEBHOOKS,
            Purpose::Documents => &DOCUMENTS,
        }
    }

    /// Parses a URL, and refuses it if the scheme or the IP address shows that the URL may not be
    /// called. A host name is checked when it is resolved.
    pub(crate) fn check(self, text: &str) -> Result<Url, AnswerError> {
        let url = Url::parse(&self.place(text)).map_err(|_| AnswerError::Senseless("an endpoint is not a valid URL".to_owned()))?;
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(AnswerError::Senseless("an endpoint has no host".to_owned())),
        };
        let is_fit = self.allow_private || (url.scheme() == "https" && address.is_none_or(is_public));
        if is_fit && matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(AnswerError::Private(text.to_owned())) }
    }

    pub(crate) fn client(self) -> &'static Client {
        static CLIENTS: [[OnceLock<Client>; 2]; 3] = [const { [const { OnceLock::new() }; 2] }; 3];
        let of_purpose = &CLIENTS[self.purpose as usize];
        of_purpose[usize::from(self.allow_private)].get_or_init(|| client_from_env(PublicResolver::new(self.allow_private, self.lookups())))
    }
}

pub(crate) type Client<R = SystemNames> = legacy::Client<HttpsConnector<Connector<PublicResolver<R>>>, Full<Bytes>>;

/// A client that connects to a host name only at the addresses that the resolver returns. IP
/// addresses in URLs are not resolved; [`Outgoing::check`] checks them. The client trusts the
/// operator's certificates, and uses the operator's proxy.
fn client_from_env(resolver: PublicResolver) -> Client {
    // In practice, the variables are valid, because a process with invalid ones does not start.
    let unreadable = |error: &wire::environment::Error| tracing::error!(%error, "outgoing calls ignore a setting of the environment");
    let roots = tls::roots().inspect_err(unreadable).unwrap_or_else(|_| tls::public_roots());
    let proxy = Proxy::from_env().inspect_err(unreadable).unwrap_or_default();
    client(resolver, roots, proxy)
}

/// A client that trusts these roots and uses this proxy. The client keeps few unused connections,
/// and only for a short time.
#[expect(clippy::disallowed_methods, reason = "the connector calls only public addresses")]
pub(crate) fn client<R>(resolver: PublicResolver<R>, roots: RootCertStore, proxy: Option<Proxy>) -> Client<R>
where
    PublicResolver<R>:
        Service<Name, Response = std::vec::IntoIter<SocketAddr>, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static,
{
    let connector = Connector::checked(resolver, proxy).with_tls(roots);
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .build(connector)
}

async fn exchange(client: &Client, request: Request<Full<Bytes>>, max_answer: usize) -> Result<Answer, AttemptError> {
    let sent = Request::from_parts(request.clone().into_parts().0, ());
    let response = client.request(request).await.map_err(|error| AttemptError::after(unavailable(&error)))?;
    let status = response.status();
    let is_throttled = status == StatusCode::TOO_MANY_REQUESTS;
    if status.is_server_error() || is_throttled {
        return Err(AttemptError { is_throttled, ..AttemptError::after(AnswerError::Unavailable(status.to_string())) });
    }
    let fresh_for = freshness(&sent, &response);
    let body = Limited::new(response.into_body(), max_answer).collect().await.map_err(|error| match error.downcast_ref() {
        Some(LengthLimitError { .. }) => {
            AttemptError::after(AnswerError::Senseless(format!("the answer has more than {max_answer} bytes")))
        }
        None => AttemptError::after(unavailable(&*error)),
    })?;
    Ok(Answer { status, body: body.to_bytes(), fresh_for })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(allow_private: bool) -> Outgoing<'static> {
        let until = Instant::now() + PROVIDERS_TIMEOUT;
        Outgoing { allow_private, ..Outgoing::for_tests(PROVIDER_TIMEOUT, until) }
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
        assert!(matches!(&fault, AnswerError::Unavailable(text) if text.contains("no public address")), "{fault}");
    }
}
