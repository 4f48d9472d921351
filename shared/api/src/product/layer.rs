//! The layer around every operation of the product API. The layer parses the body before access is
//! checked, begins the trail entry, and writes error bodies and response headers.

use std::any::Any;
use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use errors::{AnsweredCode, AttachedError, KnownError};
use flows::{App, rejections};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value};
use store::record;
use store::table::retry;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;
use wire::json::{MAX_MARKS, is_too_complex, without_mark};

use crate::http::request_id::RequestId;
use crate::http::route::{BodyRule, Route};
use crate::http::whole_body::{self, BodyError};
use crate::product::header_family::{REQUEST_HEADERS, RESPONSE_HEADERS, answer_prefixes, is_of_older_sdk, names, values};
use crate::product::input::ParsedBody;
use crate::product::reading::counted;
use crate::product::{client_input, oauth_error, trail};

/// The maximum size of a body, in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// The minimum duration of a response that must not reveal whether an account exists. With the
/// gateway's own table, operations that hide accounts take less time than this minimum, but a tenth
/// of a millisecond longer if the account exists. With DynamoDB, durations vary by milliseconds,
/// which hides the difference anyway.
const HIDING: Duration = Duration::from_millis(10);

/// Wraps an operation of the product API.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let hides_accounts = request.extensions().get::<Route>().is_some_and(|route| route.answer.hides_accounts);
    let until = Instant::now() + HIDING;
    let response = answered(&app, request, |request| async {
        let (mut parts, body) = request.into_parts();
        let rule = parts.extensions.get::<Route>().map(|route| route.body);
        let body = match rule {
            Some(BodyRule::Ignored) => Ok((None, 0)),
            rule => read_body(&parts.method, &parts.headers, body, rule == Some(BodyRule::OauthForm)).await,
        };
        match body {
            Ok((json, bytes)) => {
                let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
                let started = trail::started(&app, &parts, path.as_ref(), json.as_ref());
                let mut request = Request::from_parts(parts, Body::empty());
                request.extensions_mut().insert(ParsedBody { json, bytes });
                match started {
                    Some(started) => {
                        let run = async {
                            let response = counted(&app, request, next).await;
                            // Boxed, so that the future of every request does not contain the
                            // future for rejected sign-ups, which are rare.
                            Box::pin(rejections::count(&app)).await;
                            response
                        };
                        record::within(started, run).await
                    }
                    None => counted(&app, request, next).await,
                }
            }
            Err(error) => error.into_response(),
        }
    })
    .await;
    if hides_accounts {
        sleep_until(until).await;
    }
    response
}

/// Wraps the responses to requests that do not match an operation's path and method. The bodies of
/// these unmatched requests are not read.
pub async fn fallback_layer(State(app): State<App>, request: Request, next: Next) -> Response {
    answered(&app, request, |request| next.run(request)).await
}

async fn answered<F: Future<Output = Response>>(app: &App, request: Request, answer: impl FnOnce(Request) -> F) -> Response {
    let request_id = request.extensions().get().cloned().unwrap_or_else(|| RequestId::new(app.entropy.request_id()));
    let has_oauth_errors = request.extensions().get::<Route>().is_some_and(|route| route.body.has_oauth_errors());
    let headers = request.headers().clone();
    // The level is `error`, because a span is attached to log lines only if its own level is
    // logged.
    let span = tracing::error_span!("request", request_id = request_id.as_str());
    let response = retry::within(retry::BUDGET, answer(request)).instrument(span).await;
    let response = with_error(response, &app.settings.api_url, &request_id, has_oauth_errors.then_some(&headers));
    finish(&headers, request_id, response)
}

/// Writes the body of an error, and leaves other responses unchanged. `of_client` contains the
/// request's headers if the request came from an OAuth client.
fn with_error(mut response: Response, api_url: &str, request_id: &RequestId, of_client: Option<&HeaderMap>) -> Response {
    let Some(AttachedError(error)) = response.extensions_mut().remove::<AttachedError>() else { return response };
    let mut body = error.body();
    if let Some(headers) = of_client {
        let code = oauth_error::describe(&error, response.extensions_mut().remove(), &mut body);
        if let Some((status, scheme)) = client_input::challenge(headers, code) {
            *response.status_mut() = status;
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
    }
    body["hint"] = error.hint().into();
    body["documentation_url"] = format!("{api_url}/docs/errors#{}", error.code()).into();
    if response.status().is_server_error() {
        body["request_id"] = request_id.as_str().into();
    }
    let (parts, _) = response.into_parts();
    let mut response = Response::from_parts(parts, Body::from(body.to_string()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// The response if a handler panics.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("an operation panicked");
    KnownError::InternalError.into_response()
}

/// The parsed body, and its length in bytes.
async fn read_body(method: &Method, headers: &HeaderMap, body: Body, is_of_oauth: bool) -> Result<(Option<Value>, usize), KnownError> {
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok((None, 0));
    }
    let bytes = whole_body::read(body, MAX_BODY_BYTES).await.map_err(|error| match error {
        BodyError::TooLarge => KnownError::BodyTooLarge { max_bytes: MAX_BODY_BYTES },
        BodyError::EndedEarly => unreadable("it ended early"),
    })?;
    if let Some(content_encoding) = whole_body::encoding(headers).filter(|_| !bytes.is_empty()) {
        return Err(KnownError::UnsupportedContentEncoding { content_encoding });
    }
    let content_type = headers.get(header::CONTENT_TYPE).map_or(Ok(""), |value| value.to_str());
    let content_type = content_type.map_err(|_| unreadable("its content type is not text"))?.trim();
    let json = if content_type.is_empty() {
        parse_unlabelled(&bytes)?
    } else {
        let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        parse_body(&media_type, &bytes, is_of_oauth)?
    };
    Ok((json, bytes.len()))
}

fn unreadable(reason: impl Into<Cow<'static, str>>) -> KnownError {
    KnownError::BodyParsingError(reason.into())
}

/// Parses a body without a content type as JSON, the usual format (RFC 9110 §8.3 lets the recipient
/// examine the content).
fn parse_unlabelled(bytes: &[u8]) -> Result<Option<Value>, KnownError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    parse_json(bytes, "it has no content type and is not valid JSON")
}

/// Parses JSON. The error's reason begins with `fault` and contains the position and what was
/// expected there. The reason does not repeat anything from the body.
fn parse_json(bytes: &[u8], fault: &str) -> Result<Option<Value>, KnownError> {
    if is_too_complex(bytes) {
        return Err(unreadable(format!("outside strings, it has more than {MAX_MARKS} of the characters {{ [ , :")));
    }
    serde_json::from_slice(without_mark(bytes)).map(Some).map_err(|error| unreadable(format!("{fault}: {error}")))
}

fn parse_body(media_type: &str, bytes: &[u8], is_of_oauth: bool) -> Result<Option<Value>, KnownError> {
    let is_known =
        matches!(media_type, "application/json" | "application/x-www-form-urlencoded" | "text/plain" | "application/octet-stream");
    match media_type {
        _ if !is_known => Err(unreadable("its content type is not supported; send `content-type: application/json`")),
        _ if bytes.is_empty() => Ok(None),
        "application/json" => parse_json(bytes, "it is not valid JSON"),
        // By default, curl declares JSON as a form. Parsed as a form, the whole text would be a
        // field's name.
        _ if looks_like_json(bytes) => {
            Err(unreadable(format!("it looks like JSON, but its content type is {media_type}; send `content-type: application/json`")))
        }
        "application/x-www-form-urlencoded" if bytes.split(|byte| *byte == b'&').nth(MAX_MARKS + 1).is_some() => {
            Err(unreadable(format!("it has more than {MAX_MARKS} of the character &")))
        }
        "application/x-www-form-urlencoded" => {
            let pairs = url::form_urlencoded::parse(bytes).map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())));
            if is_of_oauth { oauth_parameters(pairs) } else { Ok(Some(Value::Object(pairs.collect::<Map<_, _>>()))) }
        }
        _ => {
            let text = std::str::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8"))?;
            Ok(Some(Value::String(text.to_owned())))
        }
    }
}

/// The parameters of an OAuth client. A parameter must not be repeated, and one without a value
/// counts as absent (RFC 6749 §3.2). Only `resource` may be repeated (RFC 8707 §2): its values are
/// joined by spaces.
fn oauth_parameters(pairs: impl Iterator<Item = (String, Value)>) -> Result<Option<Value>, KnownError> {
    let mut parameters = Map::new();
    for (name, value) in pairs.filter(|(_, value)| value != "") {
        let value = match (parameters.get(&name), &value) {
            (Some(Value::String(first)), Value::String(next)) if name == "resource" => Value::String(format!("{first} {next}")),
            (Some(_), _) => return Err(unreadable("a parameter was sent more than once")),
            (None, _) => value,
        };
        parameters.insert(name, value);
    }
    Ok(Some(Value::Object(parameters)))
}

fn looks_like_json(bytes: &[u8]) -> bool {
    let text = without_mark(bytes).trim_ascii_start();
    text.starts_with(b"{") || text.starts_with(b"[")
}

/// Adds the headers of the product API, and replaces the status of a client error with 200 if an
/// old client asks for it.
fn finish(request: &HeaderMap, request_id: RequestId, mut response: Response) -> Response {
    let prefixes = answer_prefixes(request);
    let is_older = is_of_older_sdk(request);
    let code = response.extensions().get::<AnsweredCode>().map(|code| code.0).filter(|code| code.is_known_to_sdk(is_older));
    let status = response.status();
    let overridden = status.is_client_error() && values(request, "override-error-status").any(|value| !value.is_empty());
    if overridden {
        *response.status_mut() = StatusCode::OK;
    }
    let headers = response.headers_mut();
    set(headers, "x-", RESPONSE_HEADERS[2], request_id.as_str());
    for prefix in prefixes {
        set(headers, prefix, RESPONSE_HEADERS[2], request_id.as_str());
        if let Some(code) = code {
            set(headers, prefix, RESPONSE_HEADERS[0], code.name());
        }
        if overridden || values(request, "override-error-status").next().is_some() {
            set(headers, prefix, RESPONSE_HEADERS[1], status.as_str());
        }
    }
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store, max-age=0"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    cross_origin(headers);
    response.extensions_mut().insert(request_id);
    response
}

fn set(headers: &mut HeaderMap, prefix: &str, suffix: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(format!("{prefix}{suffix}")), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

/// Lets any origin read the responses, because requests are authenticated by headers, not by
/// cookies.
fn cross_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Some(exposed) = &*EXPOSED {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
    }
}

/// The names of the headers that browsers may show to scripts.
static EXPOSED: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let answer_names = RESPONSE_HEADERS.iter().flat_map(|suffix| names(suffix)).collect::<Vec<_>>().join(", ");
    let exposed = format!("content-type, link, retry-after, ratelimit, ratelimit-policy, etag, x-request-id, {answer_names}");
    HeaderValue::from_str(&exposed).ok()
});

/// The response to every `OPTIONS` request.
pub fn preflight() -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    cross_origin(headers);
    let allowed = REQUEST_HEADERS.iter().flat_map(|suffix| names(suffix)).collect::<Vec<_>>().join(", ");
    let allowed = format!(
        "content-type, authorization, if-match, if-none-match, baggage, sentry-trace, x-vercel-protection-bypass, ngrok-skip-browser-warning, {allowed}"
    );
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, value);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    headers.insert(header::VARY, HeaderValue::from_static("access-control-request-headers"));
    response
}
