//! From sources to a mail: MiniJinja fills them in, the theme goes around the body, MJML becomes HTML, and the text part is derived from
//! the HTML when there is none.
//!
//! A template is a stranger's program: it has fuel, its output a limit, and it cannot reach anything but its context. What these do not
//! bound, its memory and its time, does the process that it runs in ([`crate::sandbox`]).

use std::borrow::Cow;
use std::collections::HashMap;

use minijinja::value::{Rest, Serde};
use minijinja::{AutoEscape, Environment, Output, State, Template, UndefinedBehavior, Value, context, filters};
use model::outbox::work::Rendering;
use mrml::prelude::render::RenderOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::undefined;

/// Largest part of a rendered mail, in bytes.
pub const MAX_OUTPUT: usize = 512 * 1024;
/// Instructions of the template engine that a source may take.
const FUEL: u64 = 200_000;
/// The names of the parts whose values are escaped.
const BODY: &str = "body.html";
const THEME: &str = "theme.html";

/// Everything that a mail is rendered from.
#[derive(Debug, Clone)]
pub struct Job {
    pub sources: Sources,
    pub context: Context,
}

/// What the mails of many recipients may have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sources {
    pub subject: String,
    pub html: String,
    /// Derived from the HTML when absent.
    pub text: Option<String>,
    /// The source of the theme; absent for none.
    pub theme: Option<String>,
}

/// What a source may speak of.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Context {
    pub project: ProjectContext,
    /// The recipient, when it is a user.
    pub user: Option<UserContext>,
    pub variables: Map<String, Json>,
    /// Where the recipient refuses mails of this kind; absent when that is not possible.
    pub unsubscribe_link: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProjectContext {
    pub id: String,
    pub display_name: String,
    pub logo_url: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UserContext {
    pub id: String,
    pub display_name: Option<String>,
    pub primary_email: Option<String>,
}

/// Renders a mail of the same sources for each of some contexts, and hands out one after another. An error is a sentence for whoever wrote
/// the source.
pub fn render_each<E>(sources: &Sources, contexts: &[Context], mut done: impl FnMut(Rendering) -> Result<(), E>) -> Result<(), E> {
    let environment = environment();
    let templates = Templates::of(&environment, sources);
    let mut known = Known::default();
    contexts.iter().try_for_each(|context| done(templates.render(context, &mut known)))
}

/// The compiled sources of a mail.
struct Templates<'e> {
    subject: Part<'e>,
    body: Part<'e>,
    text: Option<Part<'e>>,
    theme: Option<(&'e str, Part<'e>)>,
}

/// What was compiled of MJML last: the mails of many recipients often differ in their bodies alone.
#[derive(Default)]
struct Known {
    body: Compiled,
    theme: Compiled,
}

impl<'e> Templates<'e> {
    fn of(environment: &'e Environment<'e>, sources: &'e Sources) -> Self {
        let part = |name, source| Part::of(environment, name, source);
        Self {
            subject: part("subject", &sources.subject),
            body: part(BODY, &sources.html),
            text: sources.text.as_deref().map(|text| part("text", text)),
            theme: sources.theme.as_deref().map(|theme| (theme, part(THEME, theme))),
        }
    }

    fn render(&self, values: &Context, known: &mut Known) -> Rendering {
        let context = values.to_value();
        let subject = self.subject.fill(&context)?;
        // One line, without what could end it.
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "");
        let body = self.body.fill(&context)?;
        let html = match &self.theme {
            _ if is_mjml(&body) => known.body.mjml(BODY, body.clone())?,
            Some((source, theme)) if !is_document(&body) => in_theme(source, theme, &subject, &body, values, &mut known.theme)?,
            _ => body.clone(),
        };
        let text = match &self.text {
            Some(text) => text.fill(&context)?,
            None => to_text(if is_mjml(&body) { &html } else { &body }),
        };
        let text = with_unsubscribe_link(text, values.unsubscribe_link.as_deref());
        let html = with_unsubscribe_footer(html, values.unsubscribe_link.as_deref());
        Ok((subject, Some(limited(html)?), Some(limited(text)?)))
    }
}

impl Context {
    fn to_value(&self) -> Value {
        match self.user {
            Some(_) => Value::from(Serde(self)),
            None => context! { user => Value::from_object(undefined::Nobody), ..Value::from(Serde(self)) },
        }
    }
}

/// Adds the link to an HTML part that does not show it: MJML, whole documents and themes of a
/// project may leave it out.
fn with_unsubscribe_footer(html: String, link: Option<&str>) -> String {
    let Some(link) = link else { return html };
    let escaped = escaped(link);
    if html.contains(&escaped) || html.contains(link) {
        return html;
    }
    let footer = format!(
        "<p style=\"margin:0;padding:16px;text-align:center;font:13px/1.5 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif\">\
         <a href=\"{escaped}\" style=\"color:#5b6775\">Unsubscribe</a></p>"
    );
    let end = html.to_ascii_lowercase().rfind("</body>").unwrap_or(html.len());
    let (before, after) = html.split_at(end);
    format!("{before}{footer}{after}")
}

/// The default theme shows the link below the body; the text has no theme.
fn with_unsubscribe_link(text: String, link: Option<&str>) -> String {
    match link {
        Some(link) if !text.contains(link) => format!("{}\n\n-- \nUnsubscribe: {link}\n", text.trim_end()),
        _ => text,
    }
}

fn environment<'e>() -> Environment<'e> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|name| if matches!(name, BODY | THEME) { AutoEscape::Html } else { AutoEscape::None });
    environment.set_formatter(format_value);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment
}

/// The filter `default`, for which a user without a name has no name: the engine's own replaces
/// what is undefined alone.
fn default(state: &State, value: &Value, others: Rest<Value>) -> Result<Value, minijinja::Error> {
    let value = if value.is_none() { &Value::UNDEFINED } else { value };
    filters::default(state, value, others)
}

/// A source that may be compiled.
struct Part<'e> {
    name: &'static str,
    source: &'e str,
    environment: &'e Environment<'e>,
    template: Result<Template<'e, 'e>, String>,
}

impl<'e> Part<'e> {
    fn of(environment: &'e Environment<'e>, name: &'static str, source: &'e str) -> Self {
        let template = environment.template_from_named_str(name, source).map_err(|error| message(name, &error, None));
        Self { name, source, environment, template }
    }

    fn fill(&self, context: &Value) -> Result<String, String> {
        let (name, template) = (self.name, self.template.as_ref().map_err(String::clone)?);
        let mut output = Bounded::default();
        match template.render_captured_to(context.clone(), &mut output) {
            Ok(_) => String::from_utf8(output.0).map_err(|_| format!("{name}: the output is not UTF-8")),
            Err(_) if output.0.len() >= MAX_OUTPUT => Err(format!("{name}: the output is larger than {MAX_OUTPUT} bytes")),
            Err(error) => {
                let variables = undefined::diagnose(self.environment, template, self.source, &error, context);
                Err(message(name, &error, variables))
            }
        }
    }
}

/// Escapes text for HTML as MiniJinja does, but for the slash: it is no danger, and a link stays one that a program finds.
/// What has no value, such as the name of a user without one, is empty.
fn format_value(out: &mut Output, state: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_none() {
        return Ok(());
    }
    let text = value.as_str().filter(|_| *state.auto_escape() == AutoEscape::Html && !value.is_safe());
    let Some(text) = text else { return minijinja::escape_formatter(out, state, value) };
    Ok(out.write_str(&escaped(text))?)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn message(name: &str, error: &minijinja::Error, variables: Option<String>) -> String {
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    if let Some(variables) = variables {
        return format!("{name}{line}: {variables}");
    }
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

fn compile_mjml(name: &str, source: &str) -> Result<String, String> {
    let parsed = mrml::parse(source).map_err(|error| format!("{name}: not MJML: {error}"))?;
    // Without the fonts that MRML knows: a mail does not tell a stranger that it was opened.
    let options = RenderOptions { fonts: HashMap::new(), ..RenderOptions::default() };
    parsed.element.render(&options).map_err(|error| format!("{name}: {error}"))
}

/// MJML, and the HTML that it is.
#[derive(Default)]
struct Compiled(Option<(String, String)>);

impl Compiled {
    fn mjml(&mut self, name: &str, source: String) -> Result<String, String> {
        match &self.0 {
            Some((known, html)) if *known == source => Ok(html.clone()),
            _ => {
                let html = compile_mjml(name, &source)?;
                Ok(self.0.insert((source, html)).1.clone())
            }
        }
    }
}

fn in_theme(source: &str, theme: &Part<'_>, subject: &str, body: &str, values: &Context, known: &mut Compiled) -> Result<String, String> {
    let slot = slot(source, subject, values);
    let content = Value::from_safe_string(slot.clone());
    let context = context! { content => content, subject => subject, ..values.to_value() };
    let theme = theme.fill(&context)?;
    let theme = if is_mjml(&theme) { known.mjml(THEME, theme)? } else { theme };
    match theme.matches(&slot).count() {
        1 => Ok(theme.replacen(&slot, body, 1)),
        count => Err(format!("{THEME}: it shows {{{{ content }}}} {count} times, which must be once")),
    }
}

/// Stands for the body while the theme is compiled, as a body may be any HTML, which MJML need not understand: a word that is nowhere else.
fn slot(theme: &str, subject: &str, values: &Context) -> String {
    let values = serde_json::to_string(values).unwrap_or_default();
    let is_free = |slot: &String| ![theme, subject, values.as_str()].iter().any(|text| text.contains(slot.as_str()));
    // There are fewer words in the mail than it has bytes.
    let bytes = theme.len() + subject.len() + values.len();
    (0..=bytes).map(|number| format!("content-slot-{number}-")).find(is_free).unwrap_or_default()
}

/// The text of a page, with the address of each link after its words, and a star before each item of a list.
fn to_text(html: &str) -> String {
    let mut starred = String::with_capacity(html.len());
    let mut parts = html.split_inclusive('>').peekable();
    while let Some(part) = parts.next() {
        starred.push_str(part);
        if begins_item(part) && parts.peek().is_some() {
            starred.push_str("* ");
        }
    }
    nanohtml2text::html2text(&starred).replace("\r\n", "\n")
}

/// Whether a tag ends here that begins an item of a list.
fn begins_item(part: &str) -> bool {
    let tag = part.strip_suffix('>').and_then(|part| part.rsplit_once('<')).map(|(_, tag)| tag);
    let name = tag.and_then(|tag| tag.split_ascii_whitespace().next()).unwrap_or_default();
    name.eq_ignore_ascii_case("li")
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
#[path = "render_tests.rs"]
mod tests;
