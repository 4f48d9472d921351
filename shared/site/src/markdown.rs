//! Renders the Markdown of posts, either as HTML without scripts, frames or pictures from other
//! hosts, or as part of a longer Markdown text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::code::Block;
use crate::headings::HeadingIds;

/// The extensions of Markdown that all texts may use.
pub const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS).union(Options::ENABLE_FOOTNOTES);

/// The start of the element around a table, which scrolls if the table is wide.
pub const TABLE_START: &str = "<section class=\"scroll\" tabindex=\"0\" aria-label=\"Table\">";
/// The end of the element around a table.
pub const TABLE_END: &str = "</section>";

/// The link from a heading to itself.
pub fn anchor(id: &str) -> String {
    format!("<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this section\">#</a>")
}

/// Renders the text of a post below a heading with its title. HTML in the text is shown as text. A
/// picture on another host becomes a link to the picture, because pages do not load anything from
/// other hosts.
pub fn html(text: &str, title: &str) -> String {
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, OPTIONS) {
        writer.event(event);
    }
    writer.drop_repeated(title);
    level_headings(&mut writer.events);
    let mut rendered = String::new();
    html::push_html(&mut rendered, writer.events.into_iter());
    rendered
}

/// The position of a heading among the events, and its text.
struct Heading {
    start: usize,
    text: String,
}

#[derive(Default)]
struct Writer<'a> {
    events: Vec<Event<'a>>,
    heading: Option<Heading>,
    code: Option<Block>,
    /// The first heading, if nothing precedes it: the range of its events, and its text.
    first: Option<(Range<usize>, String)>,
    ids: HeadingIds,
    /// The kind of each open link or picture.
    open: Vec<OpenTag>,
    /// The number of open links.
    open_links: usize,
}

#[derive(Clone, Copy)]
enum OpenTag {
    Link,
    Picture,
    /// Neither a link nor a picture, because the URL is not allowed or the element is within
    /// another link.
    Nothing,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Html(markup) | Event::InlineHtml(markup) => self.events.push(Event::Text(markup)),
            Event::Start(Tag::Heading { .. }) => {
                self.heading = Some(Heading { start: self.events.len(), text: String::new() });
                self.events.push(event);
            }
            Event::Text(ref part) | Event::Code(ref part) => {
                if let Some(code) = &mut self.code {
                    return code.push(part);
                }
                if let Some(heading) = &mut self.heading {
                    heading.text.push_str(part);
                }
                self.events.push(event);
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(level),
            Event::Start(Tag::Link { dest_url, title, .. }) => self.open_link(dest_url, title),
            Event::Start(Tag::Image { dest_url, title, .. }) => self.open_picture(dest_url, title),
            Event::End(TagEnd::Link | TagEnd::Image) => match self.open.pop() {
                Some(OpenTag::Link) => {
                    self.open_links -= 1;
                    self.events.push(Event::End(TagEnd::Link));
                }
                Some(OpenTag::Picture) => self.events.push(Event::End(TagEnd::Image)),
                Some(OpenTag::Nothing) | None => {}
            },
            Event::Start(Tag::CodeBlock(kind)) => self.code = Some(Block::new(&kind)),
            Event::End(TagEnd::CodeBlock) => {
                let code = self.code.take().unwrap_or_default();
                self.events.push(Event::InlineHtml(code.html("").into()));
            }
            Event::Start(Tag::Table(_)) => self.events.extend([Event::InlineHtml(TABLE_START.into()), event]),
            Event::End(TagEnd::Table) => self.events.extend([event, Event::InlineHtml(TABLE_END.into())]),
            event => self.events.push(event),
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let Some(Heading { start, text }) = self.heading.take() else { return };
        let id = self.ids.next_id(&text);
        self.events[start] = Event::Start(Tag::Heading { level, id: Some(id.clone().into()), classes: Vec::new(), attrs: Vec::new() });
        self.events.extend([Event::InlineHtml(anchor(&id).into()), Event::End(TagEnd::Heading(level))]);
        if start == 0 {
            self.first = Some((0..self.events.len(), text));
        }
    }

    fn open_link(&mut self, url: CowStr<'a>, title: CowStr<'a>) {
        let is_inside = self.open_links > 0;
        if is_inside || !is_allowed(&url) {
            return self.open.push(OpenTag::Nothing);
        }
        self.open.push(OpenTag::Link);
        self.open_links += 1;
        self.events.push(Event::Start(Tag::Link { link_type: pulldown_cmark::LinkType::Inline, dest_url: url, title, id: "".into() }));
    }

    fn open_picture(&mut self, url: CowStr<'a>, title: CowStr<'a>) {
        if !is_local(&url) {
            return self.open_link(url, title);
        }
        self.open.push(OpenTag::Picture);
        self.events.push(Event::Start(Tag::Image { link_type: pulldown_cmark::LinkType::Inline, dest_url: url, title, id: "".into() }));
    }

    /// Drops the first heading if it repeats the title, which the page already shows above the
    /// text.
    fn drop_repeated(&mut self, title: &str) {
        if let Some((range, text)) = self.first.take()
            && text.trim() == title.trim()
        {
            self.events.drain(range);
        }
    }
}

/// Sets the level of each heading to one below the level of the heading that contains it. Screen
/// readers announce levels, so the post's title is the only heading of the first level, and levels
/// are never skipped.
fn level_headings(events: &mut [Event]) {
    let mut above: Vec<HeadingLevel> = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                above.retain(|one| one < level);
                above.push(*level);
                *level = HeadingLevel::try_from(above.len() + 1).unwrap_or(HeadingLevel::H6);
            }
            Event::End(TagEnd::Heading(level)) => *level = HeadingLevel::try_from(above.len() + 1).unwrap_or(HeadingLevel::H6),
            _ => {}
        }
    }
}

fn is_local(url: &str) -> bool {
    url.starts_with('/') && !url.starts_with("//") && !url.contains('\\')
}

/// Whether posts may link to a URL: `http`, `https` and `mailto` URLs, paths of the site, and
/// sections of the post.
fn is_allowed(url: &str) -> bool {
    let is_web = url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
    is_web || is_local(url) || url.starts_with('#')
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// The text of a post as part of a longer Markdown text, below a heading of the second level.
/// Headings are two levels lower, HTML is escaped, and the last code block is closed, so that the
/// text after the post is not affected.
pub fn embedded(text: &str) -> String {
    let text = without_html(text);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut closing = None;
    for (event, range) in Parser::new_ext(&text, OPTIONS).into_offset_iter() {
        let source = &text[range.clone()];
        match event {
            Event::Start(Tag::Heading { level, .. }) if source.starts_with('#') => {
                let lowered = lower(lower(level)) as usize - level as usize;
                changes.push((range.start..range.start, "#".repeat(lowered)));
            }
            // An underlined heading cannot have the third level, so it is rewritten as one with
            // `#`.
            Event::Start(Tag::Heading { level, .. }) => {
                let lines: Vec<&str> = source.trim_end().lines().collect();
                let words = lines[..lines.len().saturating_sub(1)].join(" ");
                changes.push((range, format!("{} {words}\n", "#".repeat(lower(lower(level)) as usize))));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if range.end >= text.trim_end().len() => closing = unclosed(source),
            _ => {}
        }
    }
    let mut result = replaced(&text, changes).trim_end().to_owned();
    if let Some(fence) = closing {
        result.push('\n');
        result.push_str(&fence);
    }
    result
}

/// The maximum number of times that a text is searched for HTML.
const MAX_SEARCHES: usize = 8;

/// Escapes the HTML in the Markdown. While an unclosed element is not escaped, the parser also
/// treats the text after it as HTML, so the text is parsed again until nothing changes. If parsing
/// takes too many attempts, as it can with a malicious text, every `<` is escaped, even in code.
fn without_html(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_SEARCHES {
        let events = Parser::new_ext(&text, OPTIONS).into_offset_iter();
        let markup = events.filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
        let changes: Vec<_> = markup.map(|(_, range)| (range.clone(), text[range].replace('<', "&lt;"))).collect();
        let escaped = replaced(&text, changes);
        if escaped == text {
            return text;
        }
        text = escaped;
    }
    text.replace('<', "&lt;")
}

/// Replaces ranges of the text, which must be in order. A range that overlaps an earlier range is
/// left as it is.
pub(crate) fn replaced(text: &str, changes: impl IntoIterator<Item = (Range<usize>, String)>) -> String {
    let (mut result, mut kept) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in changes {
        let Some(before) = text.get(kept..range.start) else { continue };
        result.push_str(before);
        result.push_str(&replacement);
        kept = range.end;
    }
    result.push_str(&text[kept..]);
    result
}

/// The fence that would close a code block; `None` if the block's last line closes it.
fn unclosed(block: &str) -> Option<String> {
    let mark = block.chars().next()?;
    let fence: String = block.chars().take_while(|character| *character == mark).collect();
    let last = block.trim_end().lines().skip(1).last().unwrap_or_default().trim();
    let is_closed = last.len() >= fence.len() && last.chars().all(|character| character == mark);
    (!is_closed).then_some(fence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_scripts_and_foreign_pictures_of_a_post_are_inert() {
        let text = "a <script>alert(1)</script> [b](javascript:alert(1)) [c](data:text/html,x) [d](//e.example) [f](vbscript:x)\n\n\
            <iframe src=x></iframe>\n\n![g](https://h.example/t.gif) ![i](javascript:x) [![j](https://h.example/u.gif)](https://k.example)\n";
        let html = html(text, "");
        for active in ["<script", "<iframe", "<img", "javascript:", "data:", "vbscript:", "//e.example"] {
            assert!(!html.contains(active), "{active} in {html}");
        }
        assert!(
            html.contains("<a href=\"https://h.example/t.gif\">g</a>") && html.contains("<a href=\"https://k.example\">j</a>"),
            "{html}"
        );
    }

    #[test]
    fn the_headings_of_a_post_follow_its_title_and_have_unique_ids() {
        let html = html("# Hello\n\n# Part\n\n## Part\n\n![p](/pictures/p.svg)\n\n```sh\nls <x>\n```\n", "Hello");
        assert!(!html.contains(">Hello"), "{html}");
        assert!(html.contains("<h2 id=\"part\">Part") && html.contains("<h3 id=\"part-1\">Part"), "{html}");
        assert!(html.contains("<img src=\"/pictures/p.svg\" alt=\"p\"") && html.contains("data-language=\"sh\">ls &lt;x&gt;"), "{html}");
    }

    #[test]
    fn no_level_of_headings_is_skipped() {
        let html = html("# Title\n\n## One\n\n#### Two\n\n### Three\n\n## Four\n\n# Five\n", "Title");
        let levels: Vec<_> = html.match_indices("<h").map(|(at, _)| &html[at + 2..=at + 2]).collect();
        assert_eq!(levels, ["2", "3", "3", "2", "2"], "{html}");
    }

    #[test]
    fn headings_below_the_title_begin_at_the_second_level() {
        for (text, expected) in [
            ("# Hello\n\n## Part\n\n### Detail\n", ["<h2 id=\"part\">Part", "<h3 id=\"detail\">Detail", "</a></h3>"]),
            ("## Part\n\n### Detail\n", ["<h2 id=\"part\">Part", "<h3 id=\"detail\">Detail", "</a></h3>"]),
            ("# Other\n\n## Part\n", ["<h2 id=\"other\">Other", "<h3 id=\"part\">Part", "</a></h3>"]),
        ] {
            let html = html(text, "Hello");
            assert!(expected.iter().all(|part| html.contains(part)) && !html.contains("<h1"), "{html}");
        }
    }

    /// Parsing each part could cost as much as parsing all parts before it. Rendering all of them
    /// takes about a second; the limit is much higher, because other processes may be running.
    #[test]
    fn a_post_that_repeats_itself_takes_bounded_work() {
        for part in ["# a\n", "a\n=\n", "<b>", "![a", "[a](#", "[![a](/x)](/y)\n", "<!--\n\n", "> # a\n\n", "`", "* ", "[a]: x\n", "|-|\n"]
        {
            let (begin, text) = (std::time::Instant::now(), part.repeat(60_000 / part.len()));
            let whole = [html(&text, "a"), embedded(&text)];
            assert!(whole.iter().all(|one| !one.is_empty()) || part == "[a]: x\n", "{part}");
            assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{part:?} takes {:?}", begin.elapsed());
        }
    }

    #[test]
    fn an_embedded_text_does_not_affect_the_text_around_it() {
        let text = "# One\n\nTwo\n===\n\n```\n# no heading\n```\n\n<!-- open\n\n###### Six\n\n~~~~sh\nlast";
        let embedded = embedded(text);
        assert!(embedded.starts_with("### One\n\n### Two\n"), "{embedded}");
        assert!(embedded.contains("\n# no heading\n") && embedded.contains("&lt;!-- open"), "{embedded}");
        assert!(embedded.ends_with("~~~~sh\nlast\n~~~~"), "{embedded}");
    }
}
