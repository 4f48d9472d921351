//! The responses of pages, which are documents, redirects and files.

use api::http::{Describe, Description};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// The response of a page.
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

/// The headers of every document. The URL may contain a code, so other sites get no referrer. The
/// pages themselves get one, because browsers would otherwise send `Origin: null` with the forms.
const DOCUMENT: [(HeaderName, HeaderValue); 6] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "camera=(), geolocation=(), microphone=(), payment=(), publickey-credentials-create=(self), publickey-credentials-get=(self)",
        ),
    ),
];

impl Answer {
    /// A document with its content security policy.
    pub(crate) fn document(status: StatusCode, html: String, policy: &str) -> Self {
        let mut headers = HeaderMap::from_iter(DOCUMENT);
        // A policy is always a valid header value. If the value were invalid, the document could
        // not load anything.
        let policy = HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        Self { status, headers, body: html }
    }

    /// Sends the browser to another URL. The browser requests this URL with GET.
    pub(crate) fn redirect(location: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match HeaderValue::from_str(location) {
            Ok(location) => {
                headers.insert(header::LOCATION, location);
                Self { status: StatusCode::SEE_OTHER, headers, body: String::new() }
            }
            Err(_) => Self { status: StatusCode::BAD_REQUEST, headers, body: String::new() },
        }
    }

    /// A file that browsers may cache forever, because its URL changes with its content.
    pub(crate) fn file(media: &'static str, body: &'static str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        Self { status: StatusCode::OK, headers, body: body.to_owned() }
    }

    /// JSON that the browser saves as a file.
    pub(crate) fn download(name: &str, body: &serde_json::Value) -> Self {
        let answer = Self::json(StatusCode::OK, body);
        let mut headers = answer.headers;
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let body = serde_json::to_string_pretty(body).unwrap_or(answer.body);
        Self { headers, body, ..answer }
    }

    /// JSON for the script of a page.
    pub(crate) fn json(status: StatusCode, body: &serde_json::Value) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self { status, headers, body: body.to_string() }
    }

    /// The response with these cookies added.
    pub(crate) fn with_cookies(mut self, cookies: impl IntoIterator<Item = String>) -> Self {
        for cookie in cookies.into_iter().filter_map(|cookie| HeaderValue::from_str(&cookie).ok()) {
            self.headers.append(header::SET_COOKIE, cookie);
        }
        self
    }

    /// The document with another status code. The status of a redirect does not change.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        if self.status.is_redirection() { self } else { Self { status, ..self } }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.body).into_response()
    }
}

impl Describe for Answer {
    fn describe(description: &mut Description) {
        description.text = Some("text/html");
    }
}
