//! Finds comments, strings, numbers, keywords and names in code. Each step consumes at least one
//! character. Only a few steps re-examine code that was not consumed (blanks after a word, or the
//! code after a quote that does not begin a literal), so the total time is linear.

use super::html::{Html, Kind};
use super::languages::{Feature, Language, Quote};

/// The remaining code, and the character before it.
struct Scanner<'a> {
    language: &'static Language,
    rest: &'a str,
    before: char,
}

pub(super) fn scan(language: &'static Language, code: &str, html: &mut Html) {
    let mut scanner = Scanner { language, rest: code, before: '\n' };
    // Consecutive parts without a color are merged.
    let mut plain = 0;
    let mut start = code;
    while let Some(first) = scanner.rest.chars().next() {
        let (kind, length) = scanner.next(first);
        let (part, rest) = scanner.rest.split_at(length);
        scanner.before = part.chars().next_back().unwrap_or('\n');
        scanner.rest = rest;
        match kind {
            None => plain += length,
            Some(kind) => {
                html.push(None, &start[..plain]);
                html.push(Some(kind), part);
                (start, plain) = (rest, 0);
            }
        }
    }
    html.push(None, start);
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of the longest prefix of a text that consists only of characters accepted by
/// `is_part`.
fn run(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|character| !is_part(character)).unwrap_or(text.len())
}

impl Scanner<'_> {
    /// The kind and the length of the next part, which begins with `first`; the kind is `None` if
    /// the part is not colored.
    fn next(&self, first: char) -> (Option<Kind>, usize) {
        if let Some(length) = self.comment() {
            return (Some(Kind::Comment), length);
        }
        if let Some(length) = self.text(first) {
            let is_key = self.is_key(length);
            return (Some(if is_key { Kind::Name } else { Kind::Value }), length);
        }
        if first.is_ascii_digit() || (first == '#' && self.language.has(Feature::Colours)) {
            return self.number(first);
        }
        if self.language.sigils.contains(&first)
            && !is_word(self.before)
            && let Some(length) = self.sigil(first)
        {
            return (Some(Kind::Name), length);
        }
        if is_word(first) { self.word() } else { (None, first.len_utf8()) }
    }

    /// Whether a keyword, a comment of one line or a string may begin here.
    fn is_free(&self) -> bool {
        !self.language.has(Feature::BareWords) || self.before.is_whitespace() || "([{,=:;|&".contains(self.before)
    }

    /// The length of the comment that begins here, if there is one.
    fn comment(&self) -> Option<usize> {
        if self.is_free() && self.language.comment.iter().any(|mark| self.rest.starts_with(mark)) {
            return Some(run(self.rest, |character| character != '\n'));
        }
        let (open, close) = self.language.comments.filter(|(open, _)| self.rest.starts_with(open))?;
        Some(self.rest[open.len()..].find(close).map_or(self.rest.len(), |end| open.len() + end + close.len()))
    }

    /// The length of the string or character literal that begins here, if there is one.
    fn text(&self, first: char) -> Option<usize> {
        if self.language.has(Feature::Lifetimes) && (first == '\'' || (first == 'r' && !is_word(self.before))) {
            return if first == '\'' { self.rust_character() } else { self.rust_raw_text() };
        }
        let quote = self.language.quotes.iter().find(|quote| self.rest.starts_with(quote.open))?;
        self.is_free().then(|| quote.length(self.rest))
    }

    /// The length of a character literal of Rust; `None` for a lifetime.
    fn rust_character(&self) -> Option<usize> {
        let mut characters = self.rest.char_indices().skip(1);
        let (_, first) = characters.next()?;
        if first == '\\' {
            let end = self.rest.get(3..)?.find(['\'', '\n'])?;
            return Some(3 + end + 1).filter(|length| self.rest[..*length].ends_with('\''));
        }
        characters.next().filter(|(_, last)| *last == '\'').map(|(end, _)| end + 1)
    }

    /// The length of a raw string of Rust, such as `r#"a"#`; `None` if the word is not a raw
    /// string.
    fn rust_raw_text(&self) -> Option<usize> {
        let hashes = run(&self.rest[1..], |character| character == '#');
        let text = self.rest[1 + hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        Some(text.find(&close).map_or(self.rest.len(), |end| 1 + hashes + 1 + end + close.len()))
    }

    fn number(&self, first: char) -> (Option<Kind>, usize) {
        let rest = &self.rest[first.len_utf8()..];
        let mut length = first.len_utf8() + run(rest, |character| is_word(character) || character == '%');
        // Accepts a decimal point, but not the range `0..9` or a method of a number.
        let after = &self.rest[length..];
        if after.starts_with('.') && after[1..].starts_with(|character: char| character.is_ascii_digit()) {
            length += 1 + run(&after[1..], |character| is_word(character) || character == '%');
        }
        (Some(Kind::Value).filter(|_| length > first.len_utf8() || first != '#'), length)
    }

    /// The length of a name that begins with a character such as `$`; `None` if no name follows.
    fn sigil(&self, first: char) -> Option<usize> {
        let rest = &self.rest[first.len_utf8()..];
        let length = if rest.starts_with('{') {
            let end = run(rest, |character| !matches!(character, '}' | '\n'));
            end + usize::from(rest[end..].starts_with('}'))
        } else if first == '$' && rest.starts_with(['?', '#', '@', '*', '!', '$']) {
            1
        } else {
            run(rest, |character| is_word(character) || (first == '@' && character == '-'))
        };
        (length > 0).then_some(first.len_utf8() + length)
    }

    fn word(&self) -> (Option<Kind>, usize) {
        let language = self.language;
        let has_hyphens = language.after_key.is_some() || language.has(Feature::BareWords);
        let length = run(self.rest, |character| is_word(character) || (has_hyphens && matches!(character, '-' | '.')));
        let word = &self.rest[..length];
        if self.is_key(length) {
            return (Some(Kind::Name), length);
        }
        let is_keyword = |word: &str| language.keywords.split(' ').any(|keyword| keyword == word);
        let is_keyword = if language.has(Feature::AnyCase) { is_keyword(&word.to_ascii_lowercase()) } else { is_keyword(word) };
        if is_keyword && self.is_free() && self.before != '.' {
            return (Some(Kind::Keyword), length);
        }
        let is_type = language.has(Feature::Types) && word.starts_with(char::is_uppercase);
        (is_type.then_some(Kind::Name), length)
    }

    /// Whether the next `length` bytes are a key.
    fn is_key(&self, length: usize) -> bool {
        let Some(mark) = self.language.after_key else { return false };
        let rest = self.rest[length..].trim_start_matches([' ', '\t']);
        let Some(value) = rest.strip_prefix(mark) else { return false };
        // A colon within a word, as in `https://` and `12:30`, does not mark a key.
        let is_separate =
            mark != ':' || self.rest[..length].ends_with(['"', '\'']) || value.is_empty() || value.starts_with(char::is_whitespace);
        is_separate && !is_word(self.before)
    }
}

impl Quote {
    /// The length of the string at the start of `text`, including the opening quote.
    fn length(&self, text: &str) -> usize {
        let mut length = self.open.len();
        while let Some(character) = text[length..].chars().next() {
            if text[length..].starts_with(self.close) {
                return length + self.close.len();
            }
            if character == '\n' && !self.is_long {
                return length;
            }
            length += character.len_utf8();
            if character == '\\' && self.escapes {
                length += text[length..].chars().next().filter(|next| *next != '\n' || self.is_long).map_or(0, char::len_utf8);
            }
        }
        length
    }
}
