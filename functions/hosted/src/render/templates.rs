//! The templates.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use site::look::TOKENS;

/// The templates by name. Each template extends `layout`.
const TEMPLATES: [(&str, &str); 21] = [
    ("layout", include_str!("templates/layout.html.j2")),
    ("parts", include_str!("templates/parts.html.j2")),
    ("sign_in", include_str!("templates/sign_in.html.j2")),
    ("sign_up", include_str!("templates/sign_up.html.j2")),
    ("code", include_str!("templates/code.html.j2")),
    ("mfa", include_str!("templates/mfa.html.j2")),
    ("password", include_str!("templates/password.html.j2")),
    ("device", include_str!("templates/device.html.j2")),
    ("notice", include_str!("templates/notice.html.j2")),
    ("choose_account", include_str!("templates/choose_account.html.j2")),
    ("consent", include_str!("templates/consent.html.j2")),
    ("to_client", include_str!("templates/to_client.html.j2")),
    ("account", include_str!("templates/account.html.j2")),
    ("account_parts", include_str!("templates/account_parts.html.j2")),
    ("account_sign_in", include_str!("templates/account_sign_in.html.j2")),
    ("account_places", include_str!("templates/account_places.html.j2")),
    ("authenticator", include_str!("templates/authenticator.html.j2")),
    ("confirm", include_str!("templates/confirm.html.j2")),
    ("onward", include_str!("templates/onward.html.j2")),
    ("shown_once", include_str!("templates/shown_once.html.j2")),
    ("problem", include_str!("templates/problem.html.j2")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.add_filter("fill", fill);
    environment.add_filter("short", short);
    environment.add_filter("section", section);
    environment.add_filter("of", is_of);
    environment.add_global("style", Value::from_safe_string(style().to_owned()));
    for (name, text) in TEMPLATES {
        // A template that cannot be parsed fails the test that renders all templates.
        if let Err(error) = environment.add_template(name, text) {
            tracing::error!(%error, name, "a template cannot be parsed");
        }
    }
    environment
});

/// The style that every document includes. The style consists of the design tokens of all pages of
/// the service, and the rules of the hosted pages.
pub(crate) fn style() -> &'static str {
    static WHOLE: LazyLock<String> = LazyLock::new(|| format!("{TOKENS}{}", include_str!("style.css")));
    &WHOLE
}

/// Renders a template.
pub(crate) fn render(name: &str, values: Value) -> Result<String, Error> {
    ENVIRONMENT.get_template(name)?.render(values)
}

/// The maximum number of characters of a name that are shown.
const MAX_SHOWN: usize = 120;

/// A name, shortened if it would fill the page.
fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// The section of an action (`sessions` of `sessions.end:…`).
fn section(action: &str) -> String {
    action.split('.').next().unwrap_or_default().to_owned()
}

/// Whether an action concerns the item with this id.
fn is_of(action: &str, id: &str) -> bool {
    action.split_once(':').is_some_and(|(_, of)| of == id)
}

/// Replaces the placeholders of a text (`{name}`) with the values of the keyword arguments.
fn fill(text: &str, values: minijinja::value::Kwargs) -> Result<String, Error> {
    let names: Vec<String> = values.args().map(str::to_owned).collect();
    let pairs = names.iter().map(|name| Ok((name.as_str(), values.get(name)?))).collect::<Result<Vec<(&str, String)>, Error>>()?;
    Ok(filled(text, |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())))
}

/// A text with its placeholders replaced in a single pass, because the values may also contain
/// braces. Unknown placeholders are left unchanged.
pub(crate) fn filled<'a>(text: &str, value: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut parts = text.split('{');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(name, rest)| Some((value(name)?, rest))) {
            Some((value, rest)) => whole.extend([value, rest]),
            None => whole.extend(["{", part]),
        }
    }
    whole
}
