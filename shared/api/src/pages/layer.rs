//! The layer around every page: it reads the form, and sets the headers common to all pages. The
//! layer never permits other origins to read a page, because cookies identify the visitor.

use std::any::Any;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flows::App;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use store::table::retry;
use tracing::Instrument as _;
use url::form_urlencoded;

use crate::http::request_id::RequestId;
use crate::http::text::Page;
use crate::http::whole_body::{self, BodyError};

/// The maximum size of a form, in bytes.
const MAX_FORM_BYTES: usize = 128 * 1024;
/// The maximum number of fields in a form.
const MAX_FIELDS: usize = 200;
const FORM: &str = "application/x-www-form-urlencoded";

/// The fields of the submitted form, in order; empty on GET.
#[derive(Debug, Clone, Default)]
pub struct FormFields(pub Vec<(String, String)>);

/// Wraps a page.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let request_id = request.extensions().get().cloned().unwrap_or_else(|| RequestId::new(app.entropy.request_id()));
    let span = tracing::error_span!("request", request_id = request_id.as_str());
    let work = async {
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(request_id.clone());
        match read_form(&parts.method, &parts.headers, body).await {
            Ok(fields) => {
                parts.extensions.insert(fields);
                next.run(Request::from_parts(parts, Body::empty())).await
            }
            Err(status) => failed(status),
        }
    };
    let mut response = retry::within(retry::BUDGET, work).instrument(span).await;
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request_id.as_str()) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    response.extensions_mut().insert(request_id);
    response
}

async fn read_form(method: &Method, headers: &HeaderMap, body: Body) -> Result<FormFields, StatusCode> {
    if *method != Method::POST {
        return Ok(FormFields::default());
    }
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case(FORM) || whole_body::encoding(headers).is_some() {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let bytes = whole_body::read(body, MAX_FORM_BYTES).await.map_err(|error| match error {
        BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::EndedEarly => StatusCode::BAD_REQUEST,
    })?;
    let fields: Vec<_> = form_urlencoded::parse(&bytes).into_owned().take(MAX_FIELDS + 1).collect();
    if fields.len() > MAX_FIELDS { Err(StatusCode::PAYLOAD_TOO_LARGE) } else { Ok(FormFields(fields)) }
}

/// An error page for a request that no page can handle.
fn failed(status: StatusCode) -> Response {
    let text = "<p>Go back to the app that sent you here, and try again.</p>";
    Page::of(status, "Something went wrong", text).into_response()
}

/// The response if a page panics.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a page panicked");
    failed(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The page for an unknown path.
pub(crate) fn missing() -> Response {
    failed(StatusCode::NOT_FOUND)
}

/// The page for a method that the path does not support.
pub(crate) fn wrong_method() -> Response {
    failed(StatusCode::METHOD_NOT_ALLOWED)
}
