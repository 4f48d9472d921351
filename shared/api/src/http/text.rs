//! Answers for people: plain text and pages.

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};

use crate::http::describe::{Describe, Description};

/// An answer of 200 with a text for people.
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

/// A page for people, which loads nothing and sends its form to us alone.
#[derive(Debug, Clone)]
pub struct Page {
    pub status: StatusCode,
    pub html: String,
}

const PAGE: &str = include_str!("page.html");
/// The tokens and the icon of all pages: those of the gateway have them from here.
const TOKENS: &str = include_str!("tokens.css");
const ICON: &str = include_str!("icon.svg");

/// The page without its words.
fn shell() -> String {
    PAGE.replace("{tokens}", TOKENS.trim_end()).replace("{icon}", &STANDARD.encode(ICON.trim_end()))
}

impl Page {
    /// `title` and `body` are HTML.
    pub fn of(status: StatusCode, title: &str, body: &str) -> Self {
        Self { status, html: shell().replace("{title}", title).replace("{body}", body) }
    }
}

/// A text as HTML.
pub fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#x27;")
}

/// The style is the page's own, by its digest; no other runs, and no script at all. The picture is the page's own, too.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-DN3IS+j6w3sfoMok+JkyYoV3HTdbkW8i2JopsQn/g1U='; img-src data:; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        // The address has a code, which is nobody else's business.
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
    fn the_policy_lets_the_style_of_the_page_in() {
        let shell = shell();
        let (_, rest) = shell.split_once("<style>").expect("a style");
        let (style, _) = rest.split_once("</style>").expect("its end");
        let expected = format!("style-src 'sha256-{}';", STANDARD.encode(digest(&SHA256, style.as_bytes())));
        assert!(POLICY.to_str().is_ok_and(|policy| policy.contains(&expected)), "the policy has to say {expected}");
    }
}
