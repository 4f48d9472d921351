//! Highlights code with `syntect`, which reads its syntaxes when it is first used. The syntaxes of
//! `syntect` do not include TypeScript.

use std::sync::LazyLock;

use syntect::html::{ClassStyle, ClassedHTMLGenerator};
use syntect::parsing::SyntaxSet;
use syntect::util::LinesWithEndings;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

fn highlighted(language: &str, code: &str) -> String {
    let syntax = SYNTAXES.find_syntax_by_token(if language == "ts" { "js" } else { language }).unwrap();
    let mut html = ClassedHTMLGenerator::new_with_class_style(syntax, &SYNTAXES, ClassStyle::Spaced);
    for line in LinesWithEndings::from(code) {
        html.parse_html_for_line_which_includes_newline(line).unwrap();
    }
    html.finalize()
}

fn main() {
    highlight::measure(highlighted);
}
