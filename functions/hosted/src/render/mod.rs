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
use site::look::TOKENS;
use url::Url;

use crate::answer::Answer;
use crate::render::language::Language;
use crate::visit::Visit;
use crate::visit::fields::Fields;
use crate::visit::way_back::WayBack;

/// The style of every document, after the tokens of all pages of the service.
const STYLE: &str = include_str!("style.css");
/// The script that adds passkeys, bot challenges and small comforts.
pub(crate) const SCRIPT: &str = include_str!("pages.js");

/// A document that is about to be rendered.
pub(crate) struct Document<'a> {
    visit: &'a Visit,
    template: &'static str,
    values: Value,
    status: StatusCode,
    /// The URL of one more image than those of the project.
    image: Option<&'a str>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(visit: &'a Visit, template: &'static str, values: Value) -> Self {
        Self { visit, template, values, status: StatusCode::OK, image: None }
    }

    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Lets the document show this image, too.
    pub(crate) fn image(self, image: Option<&'a str>) -> Self {
        Self { image, ..self }
    }

    pub(crate) fn answer(self) -> Answer {
        let Self { visit, template, values, status, image } = self;
        let project = &visit.project;
        let place = visit.place.clone();
        let query = visit.query.only(&WayBack::FIELDS);
        let link = {
            let (place, query) = (place.clone(), query.clone());
            move |page: String| place.path(&page, &query)
        };
        let logo = project.logo_url.as_deref().or(project.logo_full_url.as_deref());
        let dark_logo = project.logo_dark_mode_url.as_deref().or(project.logo_full_dark_mode_url.as_deref()).filter(|_| logo.is_some());
        let frame = context! {
            t => visit.language.texts(),
            lang => visit.language.tag(),
            dir => visit.language.direction(),
            project => context! { id => project.id.as_str(), name => project.display_name.as_str(), logo => logo, dark_logo => dark_logo },
            form_token => visit.form_token(),
            link => Value::from_function(link),
            script => place.path(&script_name(), &Fields::default()),
            page => visit.page.as_str(),
        };
        let images = [logo, dark_logo, image].into_iter().flatten().filter_map(origin).collect::<Vec<_>>().join(" ");
        let policy = policy(&images, &WayBack::of(visit).form_target(visit).unwrap_or_default());
        let all = context! { ..values, ..frame };
        match templates::render(template, all) {
            Ok(html) => Answer::document(status, html, &policy),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), template, "a page cannot be rendered");
                failure(&visit.app, visit.language, StatusCode::INTERNAL_SERVER_ERROR, "other")
            }
        }
    }
}

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
    Answer::document(status, html, &policy("", ""))
}

/// What a document may load and where its forms may lead: browsers check the policy for every
/// redirect after a form, so it names the app that the visitor returns to.
fn policy(images: &str, form_target: &str) -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'self'; connect-src 'self'; img-src 'self' data: {images}; \
         form-action 'self' {form_target}; base-uri 'none'; frame-ancestors 'none'",
        style_digest()
    )
}

/// The style as it stands in the document.
pub(crate) fn style() -> &'static str {
    use std::sync::LazyLock;
    static WHOLE: LazyLock<String> = LazyLock::new(|| format!("{TOKENS}{STYLE}"));
    &WHOLE
}

fn style_digest() -> String {
    STANDARD.encode(digest(&SHA256, style().as_bytes()))
}

/// The origin of a URL as a source of the policy; a URL without one (`data:`) is permitted anyway.
/// A host may contain `;` (WHATWG URL §3.2), which would begin another directive.
fn origin(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin();
    let text = origin.is_tuple().then(|| origin.ascii_serialization())?;
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.:/[]_".contains(letter)).then_some(text)
}
