//! Code blocks with their syntax highlighted: markup whose colours come from the stylesheet, so
//! pages need no script.
//!
//! No crate does this, because pages are rendered for each request, by functions that must be small
//! and start quickly: `infra/README.md` ("How functions are built") has the figures of `syntect`. A
//! scanner that knows comments, strings, numbers, keywords and names is enough to make code
//! readable; where it errs, a colour is wrong, but never the text.

mod html;
mod languages;
mod markup;
mod scanner;

use pulldown_cmark::CodeBlockKind;

use crate::code::html::Html;
use crate::escape;

/// The maximum length of the markup, as a multiple of the length of the code; a KB more is allowed.
/// Only code that is written to inflate a page exceeds this; it stays without colours.
const MOST_GROWTH: usize = 8;

/// The code as HTML. Code of an unknown language, or whose markup would be too long, is only
/// escaped.
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
    if html.0.len() <= MOST_GROWTH * code.len() + 1024 { html.0 } else { escape::markup(code) }
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

    /// The element of the block; `tools` is markup that follows the code.
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
