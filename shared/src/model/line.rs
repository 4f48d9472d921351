//! Names that people see: one line, which cannot change the direction of the text around it.
//!
//! A right-to-left override in a name rewrites the sentence that contains it (Unicode TR 36 §2.7),
//! and a line or paragraph separator ends it.

/// Whether a character has no place in a name: controls, line and paragraph separators, and marks,
/// embeddings, overrides and isolates of direction (Unicode TR 9 §2). Joiners stay, as Persian and
/// emoji are spelled with them.
fn is_stray(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether a text is one line of at most so many characters.
pub fn is_line(text: &str, max_chars: usize) -> bool {
    text.chars().count() <= max_chars && !text.chars().any(is_stray)
}

/// A text of somewhere else as one line of at most so many characters.
pub fn to_line(text: &str, max_chars: usize) -> String {
    text.chars().filter(|character| !is_stray(*character)).take(max_chars).collect()
}

/// A name in an email, which programs that read it make no link of: a word joiner, which no host
/// name may have (RFC 5892), follows what could be part of an address or a URL.
pub fn unlinked(name: &str) -> String {
    let mut unlinked = String::with_capacity(name.len());
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        unlinked.push(character);
        if matches!(character, '.' | '@' | ':' | '/') && characters.peek().is_some_and(|next| !next.is_whitespace()) {
            unlinked.push('\u{2060}');
        }
    }
    unlinked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_turn_the_text_around_it_or_end_its_line() {
        for stray in ["\u{202e}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{200f}", "\u{61c}", "\u{206a}", "\n", "\0", "\u{85}"] {
            let name = format!("Ada{stray}moc.live");
            assert!(!is_line(&name, 256), "{name:?}");
            assert_eq!(to_line(&name, 256), "Adamoc.live", "{name:?}");
        }
        for name in ["Ada Lovelace", "عدا", "عدا Lovelace", "می\u{200c}خواهم", "👩\u{200d}🔬", "Zoë O'Hara-Smith, 3rd"] {
            assert!(is_line(name, 256), "{name:?}");
        }
        assert!(is_line(&"é".repeat(256), 256) && !is_line(&"é".repeat(257), 256));
    }

    #[test]
    fn what_looks_like_an_address_or_a_url_is_not_one_any_more() {
        for (name, expected) in [
            ("evil.example", "evil.\u{2060}example"),
            ("https://evil.example/x", "https:\u{2060}/\u{2060}/\u{2060}evil.\u{2060}example/\u{2060}x"),
            ("ada@evil.example", "ada@\u{2060}evil.\u{2060}example"),
            ("Analytical Engines Ltd. and Sons", "Analytical Engines Ltd. and Sons"),
        ] {
            assert_eq!(unlinked(name), expected);
        }
    }
}
