//! Renders emails from their sources: MiniJinja fills in the templates, the theme wraps the body,
//! MJML is compiled to HTML, and a missing text part is derived from the HTML.
//!
//! A template is an untrusted program, so its fuel and output are limited, and it can access only
//! its context. The memory and time of the rendering process are limited too ([`crate::sandbox`]).

use std::borrow::Cow;
use std::collections::HashMap;

use minijinja::value::{Rest, Serde};
use minijinja::{AutoEscape, Environment, Output, State, Template, UndefinedBehavior, Value, context, filters};
use model::document::tsx;
use model::outbox::work::Rendering;
use mrml::prelude::render::RenderOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use wire::markup::escaped;

use crate::placeholder::{self, is_placeholder};
use crate::plain_text::to_text;
use crate::prolog::{is_mjml, is_whole, root};
use crate::undefined;

/// The maximum size of each part of a rendered email, in bytes.
pub const MAX_OUTPUT: usize = 512 * 1024;
/// The maximum number of template engine instructions that one source may execute for one email.
const FUEL: u64 = 200_000;
/// The names of the parts with escaped values.
const BODY: &str = "body.html";
const THEME: &str = "theme.html";

/// What an email is rendered from: sources and a context.
#[derive(Debug, Clone)]
pub struct Job {
    /// The templates.
    pub sources: Sources,
    /// The values.
    pub context: Context,
}

/// The templates of an email. Emails to many recipients may share sources.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sources {
    /// The subject, a template; its output becomes one line.
    pub subject: String,
    /// The body: a template of HTML or MJML.
    pub html: String,
    /// The text part; if absent, it is derived from the HTML.
    pub text: Option<String>,
    /// The theme, a template of HTML or MJML that contains `content` exactly once; absent for an
    /// email without a theme.
    pub theme: Option<String>,
}

/// The variables for all templates; a theme also gets `content` and `subject`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Context {
    /// The project that sends the email.
    pub project: ProjectContext,
    /// The recipient, if it is a user.
    pub user: Option<UserContext>,
    /// Variables that only this kind of email has, such as the code of a sign-in email.
    pub variables: Map<String, Json>,
    /// The URL to unsubscribe from emails of this category; absent if users cannot unsubscribe.
    pub unsubscribe_link: Option<String>,
    /// Whether variables without a value become placeholders instead of errors, for emails that are
    /// never sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_placeholders: bool,
}

/// `project` in a template.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProjectContext {
    /// Id of the project.
    pub id: String,
    /// Name that users see.
    pub display_name: String,
    /// The URL of the logo, if the project has one.
    pub logo_url: Option<String>,
}

/// `user` in a template.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UserContext {
    /// Id of the user.
    pub id: String,
    /// The name of the user, if the user has one.
    pub display_name: Option<String>,
    /// The primary address of the user, if the user has one.
    pub primary_email: Option<String>,
}

/// Renders one email per context and passes each result to `done` immediately. The text of a
/// rendering error is meant for the author of the sources. If `done` fails, rendering stops with
/// the error of `done`.
pub fn render_each<E>(sources: &Sources, contexts: &[Context], mut done: impl FnMut(Rendering) -> Result<(), E>) -> Result<(), E> {
    let environment = environment();
    let templates = Templates::of(&environment, sources);
    let mut known = CompileCache::default();
    contexts.iter().try_for_each(|context| done(templates.render(context, &mut known)))
}

/// The compiled sources of an email.
struct Templates<'e> {
    subject: Part<'e>,
    body: Part<'e>,
    text: Option<Part<'e>>,
    theme: Option<(&'e str, Part<'e>)>,
}

/// The MJML that was compiled last (body and theme), with its HTML. If emails to many recipients
/// differ only in their bodies, the theme is compiled once.
#[derive(Default)]
struct CompileCache {
    body: CompiledMjml,
    theme: CompiledMjml,
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

    fn render(&self, values: &Context, known: &mut CompileCache) -> Rendering {
        let context = values.to_value();
        let subject = self.subject.fill(&context)?;
        // The subject becomes one line without control characters.
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "");
        let body = self.body.fill(&context)?;
        let html = match &self.theme {
            _ if is_mjml(&body) => known.body.mjml(BODY, body.clone())?,
            Some((source, theme)) if !is_whole(&body) => known.theme.in_theme(source, theme, &subject, &body, values)?,
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
        if self.has_placeholders {
            let known = Self { has_placeholders: false, ..self.clone() }.to_value();
            let variables = placeholder::Variables(Value::from(Serde(&self.variables)));
            return context! { variables => Value::from_object(variables), ..known };
        }
        match self.user {
            Some(_) => Value::from(Serde(self)),
            None => context! { user => Value::from_object(undefined::Nobody), ..Value::from(Serde(self)) },
        }
    }
}

/// Adds the unsubscribe link to an HTML part that lacks it. MJML, whole documents, bodies without a
/// theme and a project's own themes may lack the link.
fn with_unsubscribe_footer(html: String, link: Option<&str>) -> String {
    let Some(link) = link else { return html };
    let escaped = escaped(link.chars());
    if html.contains(&escaped) || html.contains(link) {
        return html;
    }
    let footer = format!(
        "<p style=\"margin:0;padding:16px;text-align:center;font:13px/1.5 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif\">\
         <a href=\"{escaped}\" style=\"color:#56616b\">Unsubscribe</a></p>"
    );
    let end = html.to_ascii_lowercase().rfind("</body>").unwrap_or(html.len());
    let (before, after) = html.split_at(end);
    format!("{before}{footer}{after}")
}

/// Adds the unsubscribe link to a text part that lacks it: the default theme adds the link to HTML
/// bodies, but text parts have no theme.
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

/// The filter `default`, which also replaces placeholders and `none`, for example the missing name
/// of a user. The filter of the engine replaces only undefined values, unless the second argument
/// is true.
fn default(state: &State, value: &Value, others: Rest<Value>) -> Result<Value, minijinja::Error> {
    let value = if value.is_none() || is_placeholder(value) { &Value::UNDEFINED } else { value };
    filters::default(state, value, others)
}

/// A source, with the compiled template or the compiler's error.
struct Part<'e> {
    name: &'static str,
    source: &'e str,
    environment: &'e Environment<'e>,
    template: Result<Template<'e, 'e>, String>,
}

impl<'e> Part<'e> {
    fn of(environment: &'e Environment<'e>, name: &'static str, source: &'e str) -> Self {
        // Requests with modules are refused, but an earlier version may have stored a module.
        let template = if matches!(name, BODY | THEME) && tsx::is_module(source) {
            Err(format!("{name} {}", tsx::PROBLEM))
        } else {
            environment.template_from_named_str(name, source).map_err(|error| message(name, &error, None))
        };
        Self { name, source, environment, template }
    }

    fn fill(&self, context: &Value) -> Result<String, String> {
        let (name, template) = (self.name, self.template.as_ref().map_err(String::clone)?);
        let mut output = BoundedBuffer::default();
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

/// Escapes text for HTML as MiniJinja does, but leaves slashes as they are: they are harmless, and
/// programs can then recognize links in the HTML. `none`, such as the missing name of a user,
/// becomes an empty string.
fn format_value(out: &mut Output, state: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_none() {
        return Ok(());
    }
    let text = value.as_str().filter(|_| *state.auto_escape() == AutoEscape::Html && !value.is_safe());
    let Some(text) = text else { return minijinja::escape_formatter(out, state, value) };
    Ok(out.write_str(&escaped(text.chars()))?)
}

fn message(name: &str, error: &minijinja::Error, variables: Option<String>) -> String {
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    if let Some(variables) = variables {
        return format!("{name}{line}: {variables}");
    }
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!("{name}{line}: {}{detail}", error.kind())
}

/// A writer that accepts at most [`MAX_OUTPUT`] bytes.
#[derive(Default)]
struct BoundedBuffer(Vec<u8>);

impl std::io::Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = MAX_OUTPUT.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn compile_mjml(name: &str, source: &str) -> Result<String, String> {
    let parsed = mrml::parse(root(source)).map_err(|error| format!("{name}: not MJML: {error}"))?;
    // MRML must not add web fonts, which would tell a third party that an email was opened.
    let options = RenderOptions { fonts: HashMap::new(), ..RenderOptions::default() };
    parsed.element.render(&options).map_err(|error| format!("{name}: {error}"))
}

/// MJML with the HTML compiled from it.
#[derive(Default)]
struct CompiledMjml(Option<(String, String)>);

impl CompiledMjml {
    fn mjml(&mut self, name: &str, source: String) -> Result<String, String> {
        match &self.0 {
            Some((known, html)) if *known == source => Ok(html.clone()),
            _ => {
                let html = compile_mjml(name, &source)?;
                Ok(self.0.insert((source, html)).1.clone())
            }
        }
    }

    fn in_theme(&mut self, source: &str, theme: &Part<'_>, subject: &str, body: &str, values: &Context) -> Result<String, String> {
        let slot = slot(source, subject, values);
        let content = Value::from_safe_string(slot.clone());
        let context = context! { content => content, subject => subject, ..values.to_value() };
        let theme = theme.fill(&context)?;
        let theme = if is_mjml(&theme) { self.mjml(THEME, theme)? } else { theme };
        match theme.matches(&slot).count() {
            1 => Ok(theme.replacen(&slot, body, 1)),
            count => Err(format!("{THEME}: {{{{ content }}}} occurs {count} times instead of exactly once")),
        }
    }
}

/// A marker that does not occur in the theme, the subject or the values. The marker replaces the
/// body while the theme is compiled, because a body may contain HTML that MJML does not accept.
fn slot(theme: &str, subject: &str, values: &Context) -> String {
    let values = serde_json::to_string(values).unwrap_or_default();
    let is_free = |slot: &String| ![theme, subject, values.as_str()].iter().any(|text| text.contains(slot.as_str()));
    // The texts contain fewer markers than bytes, so at least one number is unused.
    let bytes = theme.len() + subject.len() + values.len();
    (0..=bytes).map(|number| format!("content-slot-{number}-")).find(is_free).unwrap_or_default()
}

fn limited(text: String) -> Result<String, String> {
    if text.len() <= MAX_OUTPUT { Ok(text) } else { Err(format!("a part of the email is larger than {MAX_OUTPUT} bytes")) }
}

/// A display name for the header `From`: quoted, without characters that could end the quotes or
/// the header.
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    let clean: String = name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    Cow::Owned(format!("\"{clean}\""))
}

#[cfg(test)]
mod tests;
