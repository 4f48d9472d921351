//! `docs/errors.md`: contains an entry for each error code.

use std::fmt::Write as _;

use errors::KnownError;
use http::StatusCode;
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::openapi::catalog::{self, CodeEntry};

/// The width of the lines of wrapped prose.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Error codes

Written by `cargo run -p infra -- render`. Every error of the product API has a `code`, a message in
`error`, often `details`, a `hint`, and in `documentation_url` the address of its entry at your
service. Codes that published SDKs know are also in the header `X-Service-Known-Error`. Codes do not
change; messages may.

";

/// Renders the document with the codes of the product API, followed by those of the content API,
/// both sorted by name.
pub fn document() -> String {
    let mut document = HEAD.to_owned();
    let (mut product, mut content): (Vec<_>, Vec<_>) =
        catalog::entries().into_iter().partition(|entry| KnownError::CODES.contains(&entry.code));
    for (title, entries) in [("Product API", &mut product), ("Content API", &mut content)] {
        let _ = writeln!(document, "## {title}\n");
        entries.sort_by_key(|entry| entry.code);
        for entry in entries.iter() {
            document.push_str(&section(entry));
        }
    }
    document.truncate(document.trim_end().len());
    document.push('\n');
    document
}

fn section(entry: &CodeEntry) -> String {
    let reason = StatusCode::from_u16(entry.status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
    let details = entry.details.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let details = if details.is_empty() { String::new() } else { format!("\n\nDetails: {details}.") };
    let body = format!("**{} {reason}.** {}\n\nWhat to do: {}{details}", entry.status, entry.text, entry.hint);
    let options =
        Options::new(WIDTH).break_words(false).word_splitter(WordSplitter::NoHyphenation).word_separator(WordSeparator::AsciiSpace);
    format!("### {}\n\n{}\n\n", entry.code, textwrap::fill(&body, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_entry_that_says_what_to_do() {
        let document = document();
        for entry in catalog::entries() {
            let section = document.split_once(&format!("### {}\n", entry.code)).unwrap().1;
            let section = section.split("\n### ").next().unwrap();
            assert!(section.contains(&format!("**{} ", entry.status)) && section.contains("What to do: "), "{section}");
        }
        assert_eq!(document.lines().find(|line| line.chars().count() > WIDTH), None);
    }
}
