//! Responses for people: plain text and pages.

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};
pub use site::escape::markup as escape_html;
use site::look::{ICON, TOKENS};

use crate::http::describe::{Describe, Description};

/// A response with status 200 and plain text.
#[derive(Debug, Clone)]
pub struct Text(pub String);

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))], self.0).into_response()
    }
}

impl Describe for Text {
    fn describe(description: &mut Description) {
        description.text = Some("text/plain");
    }
}

/// An HTML page that does not load anything, and whose form can only be submitted to this service.
#[derive(Debug, Clone)]
pub struct Page {
    /// The HTTP status.
    pub status: StatusCode,
    /// The whole document.
    pub html: String,
}

const PAGE: &str = include_str!("page.html");

/// The page without its content.
fn shell() -> String {
    PAGE.replace("{tokens}", TOKENS.trim_end()).replace("{icon}", &STANDARD.encode(ICON.trim_end()))
}

impl Page {
    /// A page. `title` and `body` are HTML: escape any text in them ([`escape_html`]).
    pub fn of(status: StatusCode, title: &str, body: &str) -> Self {
        Self { status, html: shell().replace("{title}", title).replace("{body}", body) }
    }
}

/// The content security policy. The policy permits the page's own style (by its digest), inline
/// images, and forms to the same origin, but not scripts.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-hjfnAdbct1iPjcFzjpW/P7w99NLvnBwP38yowADR02E='; img-src data:; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        // The URL may contain a code, which must not leak to other sites.
        let referrer = HeaderValue::from_static("no-referrer");
        let headers = [(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, POLICY), (header::REFERRER_POLICY, referrer)];
        (self.status, headers, self.html).into_response()
    }
}

impl Describe for Page {
    fn describe(description: &mut Description) {
        description.text = Some("text/html");
    }
}

#[cfg(test)]
mod tests {
    use ring::digest::{SHA256, digest};

    use super::*;

    #[test]
    fn the_policy_allows_the_pages_own_style() {
        let shell = shell();
        let (_, rest) = shell.split_once("<style>").expect("a style");
        let (style, _) = rest.split_once("</style>").expect("its end");
        let expected = format!("style-src 'sha256-{}';", STANDARD.encode(digest(&SHA256, style.as_bytes())));
        assert!(POLICY.to_str().is_ok_and(|policy| policy.contains(&expected)), "the policy must contain {expected}");
    }
}
