//! Renders the templates of files. Blocks leave no empty lines, missing values are errors, and the
//! file's name determines whether HTML is escaped.

use anyhow::Context as _;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, HtmlEscape, UndefinedBehavior, Value};
use serde::Serialize;

/// The name and the text of a template.
pub(crate) type Source = (&'static str, &'static str);

/// Renders the template of a file. The template may import the templates in `imports`.
pub(crate) fn render_with((name, source): Source, imports: &[Source], context: impl Serialize) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax()?);
    environment.add_filter("prose", prose);
    for (name, source) in imports.iter().copied().chain([(name, source)]) {
        environment.add_template(name, source).with_context(|| format!("cannot parse the template {name}"))?;
    }
    let rendered = environment.get_template(name)?.render(Value::from(Serde(context)));
    rendered.with_context(|| format!("cannot render {name}"))
}

/// A syntax that removes lines that contain only a block.
pub(crate) fn syntax() -> Result<SyntaxConfig, minijinja::Error> {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()
}

/// Prose as escaped HTML, in which text between backticks becomes code.
pub(crate) fn prose(text: &str) -> Value {
    let parts = text.split('`').enumerate().map(|(position, part)| match position % 2 {
        1 => format!("<code>{}</code>", HtmlEscape(part)),
        _ => HtmlEscape(part).to_string(),
    });
    Value::from_safe_string(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_may_contain_code_but_no_html() {
        assert_eq!(prose("`null` for <b>").to_string(), "<code>null</code> for &lt;b&gt;");
    }
}
