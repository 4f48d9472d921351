//! The look of pages: a common layout with navigation, a stylesheet, and the templates of pages in
//! `infra/pages/`.
//!
//! All pages except the console are HTML that works without scripts. Scripts add copy buttons,
//! relative times and live updates. Pages load only files of this service, such as
//! [`assets::ASSETS`]. The content security policy ([`POLICY`](web_console::serve::POLICY)) can
//! therefore forbid inline code and other hosts.

pub mod assets;
pub mod documents;
pub mod errors;
mod filters;

use std::sync::LazyLock;

use anyhow::{Context as _, anyhow};
use minijinja::value::Serde;
use minijinja::{Environment, HtmlEscape, UndefinedBehavior, Value, context};
use serde::Serialize;
use web_console::{ENTRY, STYLE, placeholder};

use crate::render;

/// The URL of the page about all errors.
pub const ERRORS_HREF: &str = "/docs/errors";

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../pages/", $name)))),*]
    };
}

const TEMPLATES: [render::Source; 12] = templates![
    "console.html.j2",
    "document.html.j2",
    "errors.html.j2",
    "inbox.html.j2",
    "inbox_email.html.j2",
    "layout.html.j2",
    "message.html.j2",
    "operation.html.j2",
    "outbox.html.j2",
    "outbox_email.html.j2",
    "parts.html.j2",
    "reference.html.j2",
];

/// An entry in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub label: &'static str,
    pub href: &'static str,
}

/// The navigation entries of the private pages, which show keys and emails on the machine of a
/// developer.
pub const PRIVATE: [Entry; 3] =
    [Entry { label: "Console", href: "/console" }, Entry { label: "Inbox", href: "/inbox" }, Entry { label: "Outbox", href: "/outbox" }];
/// The navigation entry of a console that requires a sign-in and is not a private page.
pub const CONSOLE: [Entry; 1] = [PRIVATE[0]];
/// The navigation entries of the public pages.
pub const PUBLIC: [Entry; 2] = [Entry { label: "Docs", href: "/docs" }, Entry { label: "API", href: "/docs/api" }];

/// A link to a possible next step, which a page offers.
#[derive(Debug, Clone, Serialize)]
pub struct Link {
    pub label: String,
    pub href: String,
}

impl Link {
    pub fn new(label: impl Into<String>, href: impl Into<String>) -> Self {
        Self { label: label.into(), href: href.into() }
    }
}

/// Renders pages.
pub struct Frame {
    /// The templates, which are loaded when the first page is shown, rather than at every start.
    environment: LazyLock<anyhow::Result<Environment<'static>>>,
    navigation: Vec<Entry>,
}

fn environment() -> anyhow::Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(render::syntax()?);
    environment.add_function("asset", assets::url);
    filters::add(&mut environment);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).with_context(|| format!("cannot parse the template {name}"))?;
    }
    Ok(environment)
}

impl Frame {
    /// Creates a frame. If `has_private`, its navigation includes the private pages.
    pub fn new(has_private: bool) -> Self {
        Self::beginning_with(if has_private { &PRIVATE } else { &[] })
    }

    /// Creates a frame whose navigation shows `entries` before the entries of the public pages.
    pub fn beginning_with(entries: &[Entry]) -> Self {
        Self { environment: LazyLock::new(environment), navigation: [entries, &PUBLIC].concat() }
    }

    /// Renders a page with this template. `here` is the URL of the page's entry in the navigation;
    /// empty if the page has no entry.
    pub fn page(&self, template: &str, here: &str, page: impl Serialize) -> anyhow::Result<String> {
        let home = self.navigation.first().map_or("/docs", |entry| entry.href);
        let navigation = Value::from(Serde(&self.navigation));
        let page = context! { home, here, navigation, ..Value::from(Serde(page)) };
        let environment = self.environment.as_ref().map_err(|error| anyhow!("cannot load the templates of pages: {error:#}"))?;
        let rendered = environment.get_template(&format!("{template}.html.j2"))?.render(page);
        rendered.with_context(|| format!("cannot render the page {template}"))
    }

    /// Renders a page with a short message, and with links to continue.
    pub fn message(&self, title: &str, text: &str, links: &[Link]) -> anyhow::Result<String> {
        self.page("message", "", serde_json::json!({ "title": title, "text": text, "links": links }))
    }
}

/// The console's page for deployments, with placeholders for the URLs of its files.
pub fn console() -> anyhow::Result<String> {
    let names = serde_json::json!({ "entry": placeholder(ENTRY), "style": placeholder(STYLE) });
    let mut page = Frame::beginning_with(&CONSOLE).page("console", CONSOLE[0].href, names)?;
    for asset in &assets::ASSETS {
        page = page.replace(&HtmlEscape(&assets::url(asset.name)?).to_string(), &placeholder(asset.name));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_navigation_of_its_frame_and_escapes_texts() {
        let page = Frame::new(true).message("Hello", "<script>alert(1)</script>", &[]).unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"), "{page}");
        for entry in PRIVATE.iter().chain(&PUBLIC) {
            assert!(page.contains(&format!(">{}</a>", entry.label)), "{page}");
        }
        let page = Frame::new(false).message("Hello", "", &[]).unwrap();
        assert!(!page.contains("/inbox") && page.contains("class=\"brand\" href=\"&#x2f;docs\""), "{page}");
    }
}
