//! Documents from templates. Templates, style and texts are part of the binary.

pub(crate) mod language;
pub(crate) mod templates;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flows::App;
use http::StatusCode;
use minijinja::{Value, context};
use ring::digest::{SHA256, digest};
use serde_json::json;
use url::Url;

use crate::answer::Answer;
use crate::render::language::Language;

/// The script that adds passkeys, bot challenges and small comforts.
pub(crate) const SCRIPT: &str = include_str!("pages.js");

/// The name of the script under which it is cached: it changes with the content.
pub(crate) fn script_name() -> String {
    format!("{}.js", site::look::version(SCRIPT))
}

/// A document without a project: the request names none that exists, or something failed.
pub(crate) fn failure(app: &App, language: Language, status: StatusCode, text: &str) -> Answer {
    let frame = context! {
        t => language.texts(), lang => language.tag(), dir => language.direction(), problem => text,
        page => "error", project => context! { id => "", name => "", logo => (), dark_logo => () }, form_token => "", script => "",
        link => Value::from_function(|_: String| String::new()),
        home => app.settings.site_url.as_str(),
    };
    let html = templates::render("problem", frame).unwrap_or_else(|_| json!({ "status": status.as_u16() }).to_string());
    Answer::document(status, html, &policy("", "", ""))
}

/// The widget of Cloudflare, for projects that use it; nothing else comes from elsewhere.
pub(crate) const TURNSTILE: &str = "https://challenges.cloudflare.com";

/// What a document may load and where its forms may lead: browsers check the policy for every
/// redirect after a form, so it names the app that the visitor returns to.
pub(crate) fn policy(images: &str, form_target: &str, others: &str) -> String {
    let frames = if others.is_empty() { "'none'" } else { others };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'self' {others}; connect-src 'self'; img-src 'self' data: {images}; \
         frame-src {frames}; form-action 'self' {form_target}; base-uri 'none'; frame-ancestors 'none'",
        style_digest()
    );
    policy.replace(" ;", ";")
}

fn style_digest() -> String {
    STANDARD.encode(digest(&SHA256, templates::style().as_bytes()))
}

/// The origin of a URL as a source of the policy; a URL without one (`data:`) is permitted anyway.
/// A host may contain `;` (WHATWG URL, §3.2), which would begin another directive.
pub(crate) fn origin(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin();
    let text = origin.is_tuple().then(|| origin.ascii_serialization())?;
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.:/[]_".contains(letter)).then_some(text)
}
