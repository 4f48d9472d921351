//! Code blocks with syntax highlighting. The highlighting is markup that the stylesheet colors, so
//! pages do not need a script.
//!
//! The project does not use a crate for highlighting, because pages are rendered for each request
//! by functions that must be small and start quickly: `infra/README.md` ("How functions are built")
//! has the figures for `syntect`. A scanner for comments, strings, numbers, keywords and names is
//! enough to make code readable. A mistake by the scanner changes only a color, never the text.

mod html;
mod languages;
mod markup;
mod scanner;

use pulldown_cmark::CodeBlockKind;

use crate::code::html::Html;
use crate::escape;

/// The maximum length of the markup, as a multiple of the code's length, plus a KB. Only code
/// written to inflate a page exceeds this limit; such code is not colored.
const MAX_GROWTH: usize = 8;

/// The code as HTML. If the language is unknown or the markup would be too long, the code is
/// escaped but not highlighted.
pub fn highlighted(language: &str, code: &str) -> String {
    let mut html = Html::default();
    match language {
        "diff" | "patch" => markup::difference(code, &mut html),
        "html" | "svg" | "xml" => markup::elements(code, &mut html),
        _ => match languages::find(language) {
            Some(language) => scanner::scan(language, code, &mut html),
            None => html.push(None, code),
        },
    }
    if html.0.len() <= MAX_GROWTH * code.len() + 1024 { html.0 } else { escape::markup(code) }
}

/// A code block whose text is being read.
#[derive(Debug, Default)]
pub struct Block {
    /// The first word after the fence.
    language: String,
    code: String,
}

impl Block {
    /// An empty block.
    pub fn new(kind: &CodeBlockKind<'_>) -> Self {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        Self { language: language.to_owned(), code: String::new() }
    }

    /// Adds a part of the code.
    pub fn push(&mut self, part: &str) {
        self.code.push_str(part);
    }

    /// The block's HTML element; `tools` is markup to add after the code.
    pub fn html(&self, tools: &str) -> String {
        // Some writers add options to the language, as in `rust,ignore`.
        let language = self.language.split(',').next().unwrap_or_default().to_ascii_lowercase();
        format!(
            "<div class=\"code\"><pre tabindex=\"0\"><code data-language=\"{}\">{}</code></pre>{tools}</div>\n",
            escape::markup(&self.language),
            highlighted(&language, &self.code)
        )
    }
}

#[cfg(test)]
mod tests;
