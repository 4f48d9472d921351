//! Requests to webhook endpoints, which a project's administrators choose. The rules for requests
//! to providers ([`crate::outgoing`]) apply: no redirects, and connections only to checked
//! addresses. The body of a response is only shown to people, so its format does not matter.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use settings::Settings;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;
use wire::host::is_localhost;
use wire::id::ProjectId;

use crate::answer::{unavailable, unsendable};
use crate::outgoing::{AnswerError, Outgoing};

/// The time limit for a delivery, from resolving the endpoint's name to the status of the response.
pub const BUDGET: Duration = Duration::from_secs(10);
/// The maximum number of bytes kept of a response's body.
const KEPT: usize = 1024;
/// The time limit for receiving the body after the status. An endpoint with a slow body has already
/// responded, and must not delay other deliveries.
const BODY: Duration = Duration::from_secs(1);
/// Why an endpoint is refused if its host may not be called or does not resolve. The text is the
/// same in both cases, because a difference would reveal which names exist in a private network.
pub const NOT_ON_THE_INTERNET: &str = "its host has no public address";
/// The maximum length of a URL, in bytes.
const MAX_URL: usize = 2048;

/// The response of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAnswer {
    /// The status.
    pub status: u16,
    /// The beginning of the body.
    pub body: String,
}

/// Checks a URL that an administrator enters: `https`, or `http` for this machine if the deployment
/// allows private addresses. The IP addresses of a host name are checked later, when the name is
/// resolved for a request. The error says what is wrong or what is expected.
pub fn check(settings: &Settings, text: &str) -> Result<(), &'static str> {
    if text.len() > MAX_URL || text.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
        return Err("the URL must have at most 2048 bytes, and no spaces or control characters");
    }
    let url = Url::parse(text).map_err(|_| "it is not a valid URL")?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("the URL must not contain a user name, password or fragment");
    }
    if url.scheme() != "https" && !(url.scheme() == "http" && settings.allow_private_issuers && is_localhost(&url)) {
        return Err("the URL must begin with https://; http:// is only for this machine, with GATELET_ALLOW_PRIVATE_ISSUERS=1");
    }
    Outgoing::for_webhooks(settings, None).check(text).map(drop).map_err(|_| NOT_ON_THE_INTERNET)
}

/// Posts a body to a project's endpoint. The status of the endpoint's response must arrive within
/// `budget`. Any status counts as a response; an error means that there was no response.
pub async fn post(
    (settings, project): (&Settings, &ProjectId),
    url: &str,
    headers: Vec<(String, String)>,
    body: String,
    budget: Duration,
) -> Result<EndpointAnswer, AnswerError> {
    let outgoing = Outgoing::for_webhooks(settings, Some(project));
    let uri = outgoing.check(url)?.as_str().to_owned();
    let mut request = Request::builder().method(Method::POST).uri(uri).body(Full::new(Bytes::from(body))).map_err(unsendable)?;
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("gatelet"));
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("*/*"));
    for (name, value) in headers {
        let mut value = HeaderValue::try_from(value).map_err(unsendable)?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::try_from(name).map_err(unsendable)?, value);
    }
    outgoing.admit(request.uri()).map_err(|failure| failure.fault)?;
    let sent = timeout(budget, outgoing.client().request(request)).await;
    let late = |_| AnswerError::Unavailable(format!("no answer within {} s", budget.as_secs()));
    let response = sent.map_err(late)?.map_err(|error| unavailable(&error))?;
    Ok(EndpointAnswer { status: response.status().as_u16(), body: beginning(response.into_body()).await })
}

/// The first KB of a body, or the part of it that arrives in time.
async fn beginning(mut body: Incoming) -> String {
    let (mut bytes, end) = (Vec::new(), Instant::now() + BODY);
    while bytes.len() < KEPT {
        let Ok(Some(Ok(frame))) = timeout_at(end, body.frame()).await else { break };
        bytes.extend_from_slice(frame.data_ref().map(|data| &data[..data.len().min(KEPT)]).unwrap_or_default());
    }
    bytes.truncate(KEPT);
    // The text may be cut within its last character. Control characters could mislead readers of
    // the text.
    String::from_utf8_lossy(&bytes).chars().filter(|letter| !letter.is_control() || letter.is_whitespace()).collect()
}
