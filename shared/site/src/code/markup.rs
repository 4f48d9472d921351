//! Highlights markup (HTML, XML) and diffs.

use super::html::{Html, Kind};

/// Colors the lines of a diff: headings, additions and removals.
pub(super) fn difference(code: &str, html: &mut Html) {
    for line in code.split_inclusive('\n') {
        let is = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        let kind = if is(&["@@"]) {
            Some(Kind::Name)
        } else if is(&["+++", "---", "diff ", "index ", "new file", "deleted file", "rename ", "similarity "]) {
            Some(Kind::Comment)
        } else if is(&["+"]) {
            Some(Kind::Added)
        } else if is(&["-"]) {
            Some(Kind::Removed)
        } else {
            None
        };
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        html.push(kind, text);
        html.push(None, end);
    }
}

/// Colors elements, their attributes and comments.
pub(super) fn elements(code: &str, html: &mut Html) {
    let mut rest = code;
    while let Some(start) = rest.find('<') {
        let (text, markup) = rest.split_at(start);
        html.push(None, text);
        rest = if markup.starts_with("<!--") {
            let end = markup.find("-->").map_or(markup.len(), |end| end + 3);
            html.push(Some(Kind::Comment), &markup[..end]);
            &markup[end..]
        } else {
            tag(markup, html)
        };
    }
    html.push(None, rest);
}

/// Colors the tag at the beginning of this code. Returns the rest of the code, including the tag's
/// `>`.
fn tag<'a>(code: &'a str, html: &mut Html) -> &'a str {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '.');
    let run = |text: &str| text.find(|character| !is_name(character)).unwrap_or(text.len());
    let open = code.find(|character| !matches!(character, '<' | '/' | '!' | '?')).unwrap_or(code.len());
    let (open, mut rest) = code.split_at(open);
    html.push(None, open);
    let (name, after) = rest.split_at(run(rest));
    html.push(Some(Kind::Keyword), name);
    if name.is_empty() {
        return rest;
    }
    rest = after;
    while let Some(first) = rest.chars().next().filter(|first| !matches!(first, '>' | '<')) {
        let (kind, length) = match first {
            '"' | '\'' => (Some(Kind::Value), rest[1..].find(first).map_or(rest.len(), |end| end + 2)),
            _ if is_name(first) => (Some(Kind::Name), run(rest)),
            _ => (None, first.len_utf8()),
        };
        let (part, after) = rest.split_at(length);
        html.push(kind, part);
        rest = after;
    }
    rest
}
