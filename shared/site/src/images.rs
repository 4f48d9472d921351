//! The images in the Markdown of posts, and in the HTML rendered from it.

use std::fmt::Write as _;
use std::ops::Range;

use model::content::image::{ImageName, PATH};
use pulldown_cmark::{Event, LinkType, OffsetIter, Parser, Tag, TagEnd};

use crate::markdown::{OPTIONS, replaced};

/// A picture or a link in Markdown, and the range of its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The destination, without the escapes of Markdown.
    pub destination: String,
    /// The range of the destination: in the picture or link itself, or in the definition that it
    /// refers to.
    pub range: Range<usize>,
    /// The start of the picture or the link.
    pub start: usize,
    /// The first 200 characters of a picture's description; `None` for a link.
    pub alt: Option<String>,
}

/// The number of characters kept of a description. The limit is necessary because pictures can be
/// nested, and each description contains the descriptions of the pictures within it.
const MAX_ALT: usize = 200;

/// An open picture or link.
struct Open {
    reference: Reference,
    /// Whether the destination is inline, not in a reference definition.
    is_inline: bool,
    /// The end of the content parsed so far.
    inner: usize,
    /// The text of the content parsed so far.
    words: String,
}

/// The pictures and links of a Markdown text, in order, without automatic links.
pub fn references(text: &str) -> Vec<Reference> {
    let (mut found, mut open): (Vec<Reference>, Vec<Open>) = (Vec::new(), Vec::new());
    let mut events = Parser::new_ext(text, OPTIONS).into_offset_iter();
    while let Some((event, range)) = events.next() {
        match event {
            Event::Start(tag @ (Tag::Image { .. } | Tag::Link { .. })) => {
                open.extend(Open::of(&tag, range.start, |id| defined(text, &events, id)));
            }
            Event::End(TagEnd::Image | TagEnd::Link) => {
                let ended = open.pop();
                within(&mut open, range.end, ended.as_ref().map_or("", |ended| ended.words.as_str()));
                found.extend(ended.and_then(|ended| ended.end(text, range.end)));
            }
            Event::Text(ref part) | Event::Code(ref part) => within(&mut open, range.end, part),
            _ => within(&mut open, range.end, ""),
        }
    }
    found.sort_by_key(|reference| reference.start);
    found
}

/// Extends the content of the innermost open picture or link to `end`, and appends `part` to its
/// text.
fn within(open: &mut [Open], end: usize, part: &str) {
    if let Some(last) = open.last_mut() {
        last.inner = last.inner.max(end);
        let left = MAX_ALT.saturating_sub(last.words.chars().count());
        last.words.extend(part.chars().take(left));
    }
}

/// The range of the destination in the definition with this id.
fn defined(text: &str, events: &OffsetIter<'_>, id: &str) -> Option<Range<usize>> {
    let span = events.reference_definitions().get(id)?.span.clone();
    let end = span.start + text[span].find("]:")? + "]:".len();
    destination_after(text, end)
}

impl Open {
    /// A picture or a link that begins at `start`; `defined` finds the destination in the
    /// definition with the given id.
    fn of(tag: &Tag<'_>, start: usize, defined: impl Fn(&str) -> Option<Range<usize>>) -> Option<Self> {
        let (Tag::Image { link_type, dest_url, id, .. } | Tag::Link { link_type, dest_url, id, .. }) = tag else { return None };
        let is_inline = *link_type == LinkType::Inline;
        let range = if is_inline { None } else { defined(id) };
        let alt = matches!(tag, Tag::Image { .. }).then(String::new);
        let reference = Reference { destination: dest_url.to_string(), range: range.unwrap_or_default(), start, alt };
        Some(Self { reference, is_inline, inner: start + 1, words: String::new() })
    }

    /// The reference; `None` if its destination has no range, as in an automatic link.
    fn end(mut self, text: &str, end: usize) -> Option<Reference> {
        if self.is_inline {
            let after = self.inner + text.get(self.inner..end)?.find("](")? + "](".len();
            self.reference.range = destination_after(text, after)?;
        }
        self.reference.alt = self.reference.alt.map(|_| self.words);
        Some(self.reference).filter(|reference| !reference.range.is_empty())
    }
}

/// The range of the destination after the byte offset `place`. A destination in angle brackets
/// includes both brackets; any other destination ends before white space, an unmatched closing
/// parenthesis or the end of the text.
fn destination_after(text: &str, place: usize) -> Option<Range<usize>> {
    let start = place + text.get(place..)?.find(|character: char| !character.is_whitespace())?;
    let rest = &text[start..];
    let (is_bracketed, mut depth, mut is_escaped) = (rest.starts_with('<'), 0_usize, false);
    for (at, character) in rest.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '>' if is_bracketed => return Some(start..start + at + 1),
            _ if is_bracketed => {}
            '(' => depth += 1,
            ')' if depth == 0 => return Some(start..start + at),
            ')' => depth -= 1,
            character if character.is_whitespace() => return Some(start..start + at),
            _ => {}
        }
    }
    Some(start..text.len()).filter(|_| !is_bracketed)
}

/// Replaces the destinations in these ranges. A range may occur twice, because several references
/// can share a definition.
pub fn redirected(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    changes.dedup_by_key(|(range, _)| range.start);
    replaced(text, changes)
}

/// The Markdown with absolute URLs for the site's own images, for readers outside the site's pages.
pub fn absolute(text: &str, site_url: &str) -> String {
    if !text.contains(PATH) {
        return text.to_owned();
    }
    let own = references(text).into_iter().filter(|reference| ImageName::from_path(&reference.destination).is_some());
    redirected(text, own.map(|reference| (reference.range, format!("{site_url}{}", reference.destination))).collect())
}

/// The HTML of a post, with sizes added to the site's own images, so that nothing moves while they
/// load, and with image paths below `root`, the path of the site.
pub(crate) fn placed(html: &str, root: &str) -> String {
    let mut parts = html.split("=\"/images/");
    let mut placed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split_once('"').and_then(|(name, _)| name.parse::<ImageName>().ok());
        // In markup that is shown as text, `<` is escaped, so only real elements match.
        match name {
            Some(ImageName { width, height, .. }) if placed.ends_with("<img src") => {
                placed.truncate(placed.len() - "src".len());
                let _ = write!(placed, "width=\"{width}\" height=\"{height}\" loading=\"lazy\" decoding=\"async\" src=\"{root}{PATH}");
            }
            Some(_) if placed.ends_with("<a href") => {
                let _ = write!(placed, "=\"{root}{PATH}");
            }
            _ => placed.push_str("=\"/images/"),
        }
        placed.push_str(part);
    }
    placed
}

#[cfg(test)]
mod tests {
    use crypto::digest::Digest;

    use super::*;

    fn path() -> String {
        format!("/images/{}-30x20.png", Digest::of("x"))
    }

    #[test]
    fn pictures_and_links_are_found_where_their_destinations_are_written() {
        let text = "# A\n\n![a *b* (c)](one.png \"title\") and [![x](two(1).png)](<big one.png>)\n\n![d][ref] ![d] [ref]\n\n\
            [d]: four.png\n[ref]:\n  five.png 'x'\n\n<https://example.com> `![e](no.png)`\n\n    ![e](no.png)\n\n![](a\\)b.png)\n";
        let found = references(text);
        let written: Vec<_> = found.iter().map(|one| (&text[one.range.clone()], one.alt.as_deref())).collect();
        let expected = [
            ("one.png", Some("a b (c)")),
            ("<big one.png>", None),
            ("two(1).png", Some("x")),
            ("five.png", Some("d")),
            ("four.png", Some("d")),
            ("five.png", None),
            ("a\\)b.png", Some("")),
        ];
        assert_eq!(written, expected);
        assert_eq!(found[1].destination, "big one.png");
        assert_eq!(found.last().unwrap().destination, "a)b.png");
        let other = redirected(text, found.into_iter().map(|one| (one.range, "/x".to_owned())).collect());
        assert!(references(&other).iter().all(|one| one.destination == "/x"), "{other}");
        assert_eq!(other.matches("/x").count(), 6, "{other}");
    }

    #[test]
    fn nested_pictures_take_bounded_work() {
        let many = 20_000;
        let text = format!("{}{}", "![a".repeat(many), "](x)".repeat(many));
        let found = references(&text);
        assert_eq!(found.len(), many);
        assert!(found.iter().all(|one| one.alt.as_ref().is_some_and(|alt| (1..=MAX_ALT).contains(&alt.len()))));
        assert_eq!(redirected(&text, found.into_iter().map(|one| (one.range, "/y".to_owned())).collect()).matches("/y").count(), many);
    }

    #[test]
    fn own_images_get_absolute_urls() {
        let text = format!("![a]({0}) ![b](/other.png) `{0}` ![c][c]\n\n[c]: {0}\n", path());
        let url = format!("https://example.com/base{}", path());
        let expected = format!("![a]({url}) ![b](/other.png) `{0}` ![c][c]\n\n[c]: {url}\n", path());
        assert_eq!(absolute(&text, "https://example.com/base"), expected);
    }

    #[test]
    fn own_images_get_their_sizes_and_a_path_below_the_sites() {
        let html = crate::markdown::html(&format!("[![a]({0})]({0}) x=\"{0}\" ![b](/b.png)", path()), "");
        let placed = placed(&html, "/base");
        let image =
            format!("<a href=\"/base{0}\"><img width=\"30\" height=\"20\" loading=\"lazy\" decoding=\"async\" src=\"/base{0}\"", path());
        assert!(placed.contains(&image), "{placed}");
        assert!(placed.contains("<img src=\"/b.png\"") && placed.matches("/base").count() == 2, "{placed}");
    }
}
