//! From sources to a mail: MiniJinja fills them in, the theme goes around the body, MJML becomes HTML, and the text part is derived from
//! the HTML when there is none (WIRE.md, decision 13).
//!
//! A template is a stranger's program: it has fuel, its output a limit, and it cannot reach anything but its context.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, context};
use mrml::prelude::render::RenderOptions;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::builtin::{THEME, sources};
use crate::model::outbox::Source;
use crate::model::outbox_work::Rendering;

/// Largest part of a rendered mail, in bytes.
pub const MAX_OUTPUT: usize = 512 * 1024;
/// Instructions of the template engine that a source may take.
const FUEL: u64 = 200_000;
/// The name of the part whose values are escaped.
const BODY: &str = "body.html";
/// Columns of a derived text part.
const TEXT_WIDTH: usize = 78;
/// Stands for the body while the theme is compiled: a body may be any HTML, which MJML need not understand.
const SLOT: &str = "gatelet-content-slot";

/// What a source may speak of.
#[derive(Debug, Clone, Serialize)]
pub struct Context {
    pub project: ProjectContext,
    /// The recipient, when it is a user.
    pub user: Option<UserContext>,
    pub variables: Map<String, Json>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ProjectContext {
    pub id: String,
    pub display_name: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct UserContext {
    pub id: String,
    pub display_name: Option<String>,
    pub primary_email: Option<String>,
}

/// Renders a source. The error is a sentence for whoever wrote it.
pub fn render(source: &Source, context: &Context) -> Rendering {
    let parts = sources(source);
    let subject = fill("subject", parts.subject, context)?;
    // One line, without what could end it.
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "");
    let body = fill(BODY, parts.html, context)?;
    let html = if is_mjml(&body) {
        compile_mjml(&body)?
    } else if source.theme_id.is_some() && !is_document(&body) {
        in_theme(&body, context)?
    } else {
        body.clone()
    };
    let text = match parts.text {
        Some(text) => fill("text", text, context)?,
        None => to_text(if is_mjml(&body) { &html } else { &body })?,
    };
    Ok((subject, Some(limited(html)?), Some(limited(text)?)))
}

fn fill(name: &str, source: &str, context: &Context) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|name| if name == BODY { AutoEscape::Html } else { AutoEscape::None });
    environment.set_formatter(format_value);
    let mut output = Bounded::default();
    let template = environment.template_from_named_str(name, source).map_err(|error| message(name, &error))?;
    match template.render_captured_to(Value::from(Serde(context)), &mut output) {
        Ok(_) => String::from_utf8(output.0).map_err(|_| format!("{name}: the output is not UTF-8")),
        Err(_) if output.0.len() >= MAX_OUTPUT => Err(format!("{name}: the output is larger than {MAX_OUTPUT} bytes")),
        Err(error) => Err(message(name, &error)),
    }
}

/// Escapes text for HTML as MiniJinja does, but for the slash: it is no danger, and a link stays one that a program finds.
fn format_value(out: &mut Output, state: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    let text = value.as_str().filter(|_| *state.auto_escape() == AutoEscape::Html && !value.is_safe());
    let Some(text) = text else { return minijinja::escape_formatter(out, state, value) };
    for character in text.chars() {
        match character {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\'' => out.write_str("&#x27;")?,
            other => out.write_char(other)?,
        }
    }
    Ok(())
}

fn message(name: &str, error: &minijinja::Error) -> String {
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!("{name}{line}: {}{detail}", error.kind())
}

/// Takes output up to the limit.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = MAX_OUTPUT.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn is_mjml(body: &str) -> bool {
    body.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("<mjml"))
}

/// A body that is a whole document gets no theme around it.
fn is_document(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html")
}

fn compile_mjml(source: &str) -> Result<String, String> {
    let parsed = mrml::parse(source).map_err(|error| format!("body.html: not MJML: {error}"))?;
    // Without the fonts that MRML knows: a mail does not tell a stranger that it was opened.
    parsed
        .element
        .render(&RenderOptions { fonts: HashMap::new(), ..RenderOptions::default() })
        .map_err(|error| format!("body.html: {error}"))
}

fn in_theme(body: &str, context: &Context) -> Result<String, String> {
    let footer = format!("Sent by {}", context.project.display_name);
    let environment = {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment
    };
    let values = context! { project => Value::from(Serde(&context.project)), content => SLOT, footer => footer };
    let theme = environment.render_named_str("theme", THEME, values).map_err(|error| message("theme", &error))?;
    Ok(compile_mjml(&theme)?.replacen(SLOT, body, 1))
}

fn to_text(html: &str) -> Result<String, String> {
    let text = html2text::config::plain().link_footnotes(true).no_table_borders().string_from_read(html.as_bytes(), TEXT_WIDTH);
    text.map_err(|error| format!("body.html: no text can be derived: {error}"))
}

fn limited(text: String) -> Result<String, String> {
    if text.len() <= MAX_OUTPUT { Ok(text) } else { Err(format!("the mail is larger than {MAX_OUTPUT} bytes")) }
}

/// A name for the `From` of a mail: quoted, without what could begin another header.
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    let clean: String = name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    Cow::Owned(format!("\"{clean}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::outbox::{Builtin, DEFAULT_THEME};

    fn context(variables: &Json) -> Context {
        Context {
            project: ProjectContext { id: "p".to_owned(), display_name: "Notes & Co".to_owned() },
            user: None,
            variables: variables.as_object().cloned().unwrap_or_default(),
        }
    }

    fn own(html: &str, theme: bool) -> Source {
        Source {
            builtin: None,
            subject: Some("Hi".to_owned()),
            html: Some(html.to_owned()),
            text: None,
            theme_id: theme.then_some(DEFAULT_THEME),
        }
    }

    #[test]
    fn a_sign_in_mail_has_code_and_link() {
        let variables = serde_json::json!({ "otp": "ABC123", "link": "https://a.test/?x=1&code=abc" });
        let (subject, html, text) = render(&Source::builtin(Builtin::SignIn), &context(&variables)).expect("a mail");
        assert_eq!(subject, "Sign in to Notes & Co: Your code is ABC123");
        let html = html.unwrap_or_default();
        assert!(html.contains("ABC123</p>") && html.contains("https://a.test/?x=1&amp;code=abc") && html.contains("Notes &amp; Co"));
        assert!(text.unwrap_or_default().contains("https://a.test/?x=1&code=abc"));
    }

    #[test]
    fn values_are_escaped_in_html_and_not_in_a_subject() {
        let source = Source { subject: Some("{{ variables.x }}".to_owned()), ..own("<p>{{ variables.x }}</p>", false) };
        let (subject, html, _) = render(&source, &context(&serde_json::json!({ "x": "<b>\n&" }))).expect("a mail");
        assert_eq!(subject, "<b> &");
        assert_eq!(html.as_deref(), Some("<p>&lt;b&gt;\n&amp;</p>"));
    }

    #[test]
    fn an_undefined_variable_is_an_error_with_its_line() {
        let error = render(&own("<p>\n{{ variables.nobody }}</p>", false), &context(&Json::Null)).expect_err("undefined");
        assert!(error.starts_with("body.html in line 2: "), "{error}");
    }

    #[test]
    fn mjml_and_html_and_documents_are_told_apart() {
        let mjml = own("<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>", true);
        let (_, html, text) = render(&mjml, &context(&Json::Null)).expect("a mail");
        assert!(html.unwrap_or_default().contains("<table") && text.unwrap_or_default().contains("Hello"));
        let (_, html, _) = render(&own("<p>Hello<br>you", true), &context(&Json::Null)).expect("a mail");
        assert!(html.unwrap_or_default().contains("<p>Hello<br>you"));
        let (_, html, _) = render(&own("<!DOCTYPE html><p>x", true), &context(&Json::Null)).expect("a mail");
        assert_eq!(html.as_deref(), Some("<!DOCTYPE html><p>x"));
    }

    #[test]
    fn a_template_can_neither_loop_nor_grow_without_end() {
        let endless = own("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", false);
        assert!(render(&endless, &context(&Json::Null)).is_err());
        let long = own("{% for a in range(5000) %}{{ variables.x }}{% endfor %}", false);
        let error = render(&long, &context(&serde_json::json!({ "x": "y".repeat(1000) }))).expect_err("too large");
        assert!(error.contains("larger than"), "{error}");
    }
}
