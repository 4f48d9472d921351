//! Renders documents from templates. The templates, the style and the texts are part of the binary.

pub(crate) mod language;
pub(crate) mod templates;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use minijinja::context;
use ring::digest::{SHA256, digest};
use serde_json::json;
use url::Url;

use crate::answer::Answer;
use crate::render::language::Language;

/// The script that adds passkeys, bot challenges and small conveniences.
pub(crate) const SCRIPT: &str = include_str!("pages.js");

/// The file name of the script, which changes with the script's content, so that browsers can cache
/// the script.
pub(crate) fn script_name() -> String {
    format!("{}.js", site::look::version(SCRIPT))
}

/// A document without a project, for a request that does not name an existing project or that
/// failed. `problem` is the key of a text about problems.
pub(crate) fn failure(language: Language, status: StatusCode, problem: &str) -> Answer {
    let frame = context! {
        t => language.texts(), lang => language.tag(), dir => language.direction(), problem => problem,
        project => context! { name => "" }, script => "",
    };
    let html = templates::render("problem", frame).unwrap_or_else(|_| json!({ "status": status.as_u16() }).to_string());
    Answer::document(status, html, &policy("", "", ""))
}

/// The widget of Cloudflare, for projects that use it. Apart from images, documents load nothing
/// else from other sites.
pub(crate) const TURNSTILE: &str = "https://challenges.cloudflare.com";

/// The content security policy, which states what a document may load and where its forms may lead.
/// Browsers check the policy for every redirect that follows a form, so the policy names the app to
/// which the visitor returns.
///
/// Each argument is a list of sources, separated by spaces. `widgets` are the sites whose scripts
/// and frames the document loads.
pub(crate) fn policy(images: &str, form_targets: &str, widgets: &str) -> String {
    let frames = if widgets.is_empty() { "'none'" } else { widgets };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'self' {widgets}; connect-src 'self'; img-src 'self' data: {images}; \
         frame-src {frames}; form-action 'self' {form_targets}; base-uri 'none'; frame-ancestors 'none'",
        style_digest()
    );
    policy.replace(" ;", ";")
}

fn style_digest() -> String {
    STANDARD.encode(digest(&SHA256, templates::style().as_bytes()))
}

/// The origin of a URL as a source of the policy. `None` if the URL has no origin, like a `data:`
/// URL, which the policy always permits for images. Also `None` if the host contains a character
/// that would begin another directive, such as `;`, which WHATWG URL (§3.2) permits.
pub(crate) fn origin(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin();
    let text = origin.is_tuple().then(|| origin.ascii_serialization())?;
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.:/[]_".contains(letter)).then_some(text)
}
