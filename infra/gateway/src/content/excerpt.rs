//! The excerpt of a post: the beginning of its paragraphs, lists and quotes as plain text. Skips
//! headings, because the first one repeats the title. Also skips code blocks, HTML, images, tables
//! and footnotes, which make no sense as plain text.

use pulldown_cmark::{Event, Options, Parser, TagEnd};

use super::source::collapsed;

/// The maximum length of an excerpt in characters, including the ellipsis.
pub(super) const MAX_CHARACTERS: usize = 200;

pub(super) fn from_markdown(markdown: &str) -> String {
    shortened(&collapsed(&plain_text(markdown)))
}

fn plain_text(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut text, mut skipped) = (String::new(), 0_usize);
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(tag) => {
                let tag = tag.to_end();
                skipped += usize::from(is_left_out(tag));
                separate(&mut text, tag);
            }
            Event::End(tag) => {
                skipped = skipped.saturating_sub(usize::from(is_left_out(tag)));
                separate(&mut text, tag);
            }
            Event::Text(part) | Event::Code(part) if skipped == 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::Rule => text.push(' '),
            _ => {}
        }
        // Skip the rest of a long post, which would not fit in the excerpt. The factor of 64 allows
        // for white space, which is collapsed later.
        if text.len() > 64 * MAX_CHARACTERS {
            break;
        }
    }
    text
}

fn is_left_out(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Image | TagEnd::Table | TagEnd::FootnoteDefinition)
}

/// Adds a space at the edges of blocks. Blocks separate words, unlike emphasis, links and images.
fn separate(text: &mut String, tag: TagEnd) {
    if !matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image) {
        text.push(' ');
    }
}

/// The text if it fits, and otherwise as many of its first words as fit, with an ellipsis. If even
/// the first word is too long, it is cut.
fn shortened(text: &str) -> String {
    if text.chars().nth(MAX_CHARACTERS).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(MAX_CHARACTERS - 1).map_or(text.len(), |(index, _)| index);
    let (kept, rest) = text.split_at(end);
    let whole = if rest.starts_with(' ') { kept } else { kept.rsplit_once(' ').map_or(kept, |(words, _)| words) };
    format!("{}…", whole.trim_end_matches([' ', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_plain_text() {
        for (markdown, text) in [
            ("# Title\n\nSome *very* **good** `code` and a [link](https://example.com).", "Some very good code and a link."),
            ("One\ntwo  \nthree\n\nfour", "One two three four"),
            ("Before\n\n```rust\nfn main() {}\n```\n\nafter", "Before after"),
            ("Before\n\n    indented code\n\nafter", "Before after"),
            ("<div>gone</div>\n\nkept <b>bold</b> &amp; more", "kept bold & more"),
            ("See ![a *picture*](x.png) here", "See here"),
            ("- one\n- two\n  - three", "one two three"),
            ("> quoted\n\n---\n\nnot", "quoted not"),
            ("| a | b |\n|---|---|\n| c | d |\n\nText[^1]\n\n[^1]: a note", "Text"),
            ("em*pha*sis ~~no~~", "emphasis no"),
            ("", ""),
            ("# Only a heading", ""),
        ] {
            assert_eq!(from_markdown(markdown), text, "{markdown}");
        }
    }

    #[test]
    fn an_excerpt_is_cut_at_a_word() {
        let words = "word ".repeat(60);
        let excerpt = from_markdown(&words);
        assert!(excerpt.chars().count() <= MAX_CHARACTERS);
        assert!(excerpt.ends_with("word…"), "{excerpt}");
    }

    #[test]
    fn a_text_is_cut_only_above_the_limit() {
        let fits = format!("{} {}", "a".repeat(99), "ü".repeat(100));
        assert_eq!(from_markdown(&fits), fits);
        assert_eq!(from_markdown(&format!("{fits}x")), format!("{}…", "a".repeat(99)));
    }

    #[test]
    fn a_word_longer_than_the_limit_is_cut_between_characters() {
        let excerpt = from_markdown(&"語".repeat(300));
        assert_eq!(excerpt, format!("{}…", "語".repeat(199)));
    }
}
