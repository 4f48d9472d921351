//! Names that people read: one line, without hidden characters and without characters that change
//! the direction of the surrounding text.
//!
//! A right-to-left override in a name rearranges the surrounding sentence (Unicode TR 36 §2.7), and
//! a line or paragraph separator breaks the sentence. Invisible characters make two different names
//! look the same. Some invisible characters are part of correct spelling: Persian and the scripts
//! of India use joiners, and emoji use both joiners and selectors. Joiners and selectors are
//! permitted only where spelling requires them.

use std::fmt;
use std::ops::RangeInclusive;

/// The maximum length of most names, such as the names of users, teams and projects, in characters.
pub const MAX_NAME: usize = 256;
/// Permitted lengths of a name, in characters.
pub const NAME: RangeInclusive<usize> = 1..=MAX_NAME;
/// Permitted lengths of a name that may be empty, in characters.
pub const OPTIONAL_NAME: RangeInclusive<usize> = 0..=MAX_NAME;

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const BLACK_FLAG: char = '\u{1f3f4}';
const KEYCAP: char = '\u{20e3}';

/// Whether a character may occur in a name between `before` and `after`; `None` means the start or
/// the end of the name.
fn fits(before: Option<char>, character: char, after: Option<char>) -> bool {
    let (follows, precedes) = (|rule: fn(char) -> bool| before.is_some_and(rule), |rule: fn(char) -> bool| after.is_some_and(rule));
    match character {
        ZERO_WIDTH_NON_JOINER => follows(is_joined),
        ZERO_WIDTH_JOINER => follows(is_joined) || (follows(|it| is_emoji(it) || is_selector(it)) && precedes(is_emoji)),
        _ if is_selector(character) => follows(has_variants) || (follows(is_key) && after == Some(KEYCAP)),
        _ if is_tag(character) => follows(|it| it == BLACK_FLAG || is_tag(it)),
        _ => !is_stray(character),
    }
}

/// Whether a character must be removed: control characters, line and paragraph separators,
/// interlinear annotations, direction marks, embeddings, overrides and isolates (`Bidi_Control`),
/// and invisible characters (`Default_Ignorable_Code_Point` of Unicode 16). [`fits`] decides about
/// joiners, selectors and tags.
fn is_stray(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether a character belongs to a script whose spelling uses joiners, even at the end of a word:
/// the scripts from Arabic to Sinhala, Tibetan, Myanmar, Khmer, Mongolian, and related scripts.
fn is_joined(character: char) -> bool {
    matches!(
        character,
        '\u{600}'..='\u{dff}'
            | '\u{f00}'..='\u{109f}'
            | '\u{1700}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}'
            | '\u{a800}'..='\u{aadf}'
            | '\u{abc0}'..='\u{abff}'
            | '\u{10a00}'..='\u{11fff}'
    )
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a character selects a variant of the character before it.
fn is_selector(character: char) -> bool {
    matches!(character, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character can have variants: emoji and other symbols, characters of Chinese and
/// Japanese, and letters of Myanmar, Mongolian and Phags-pa.
fn has_variants(character: char) -> bool {
    is_emoji(character)
        || matches!(
            character,
            '©' | '®'
                | '\u{1000}'..='\u{109f}'
                | '\u{1800}'..='\u{180a}'
                | '\u{1810}'..='\u{18af}'
                | '\u{203c}'
                | '\u{2049}'
                | '\u{2100}'..='\u{218f}'
                | '\u{2e80}'..='\u{3163}'
                | '\u{3165}'..='\u{9fff}'
                | '\u{a840}'..='\u{a877}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{3ffff}'
        )
}

/// Whether a character forms a keycap emoji together with a selector and the combining keycap.
fn is_key(character: char) -> bool {
    matches!(character, '0'..='9' | '#' | '*')
}

/// Whether a character is a tag character, as used in the emoji flags of regions.
fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0020}'..='\u{e007f}')
}

/// The characters of a string, in order, each with a flag that indicates whether it is permitted in
/// a name.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut before, mut characters) = (None, text.chars().peekable());
    std::iter::from_fn(move || {
        let character = characters.next()?;
        let fits = fits(before, character, characters.peek().copied());
        if fits {
            before = Some(character);
        }
        Some((character, fits))
    })
}

/// The characters of a string that are permitted in a name, in order.
fn fitting(text: &str) -> impl Iterator<Item = char> {
    judged(text).filter_map(|(character, fits)| fits.then_some(character))
}

/// Why a string is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct LineRefusal(RangeInclusive<usize>);

impl fmt::Display for LineRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (self.0.start(), self.0.end());
        let count = if *min == 0 { format!("at most {max} characters") } else { format!("{min} to {max} characters, not blank") };
        write!(f, "must be one line of {count}, without hidden characters or direction controls")
    }
}

/// Checks that a string is a valid name of a permitted length. If the minimum length is not 0, the
/// name must not be blank.
pub fn check(text: &str, chars: RangeInclusive<usize>) -> Result<(), LineRefusal> {
    let is_there = *chars.start() == 0 || !text.trim().is_empty();
    let is_line = is_there && chars.contains(&text.chars().count()) && text.chars().eq(fitting(text));
    if is_line { Ok(()) } else { Err(LineRefusal(chars)) }
}

/// An unchecked name, for example from another system or an earlier version, without the forbidden
/// characters.
pub fn stripped(text: &str) -> String {
    fitting(text).collect()
}

/// An unchecked name or message, for example from another system, reduced to a line of at most this
/// many characters that are permitted in a name.
pub fn to_line(text: &str, max_chars: usize) -> String {
    let short: String = fitting(text).take(max_chars).collect();
    // A joiner at the new end may have belonged to a character that was cut off.
    stripped(&short)
}

/// A string for a terminal: one line, with escapes for characters that are not permitted in a name.
/// Terminals interpret some of these characters and hide others.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (character, fits) in judged(text) {
        match character {
            '\n' => plain.push(' '),
            _ if fits => plain.push(character),
            _ => plain.extend(character.escape_unicode()),
        }
    }
    plain
}

/// A name for use in an email, altered so that mail programs do not turn the name into a link. A
/// word joiner, which host names cannot contain (RFC 5892), is inserted after every `@`, `:` and
/// `/`, and after every dot, including East Asian dots. No joiner is needed before a space or at
/// the end of the name.
pub fn unlinked(name: &str) -> String {
    let mut unlinked = String::with_capacity(name.len());
    // Names stored by earlier versions may contain characters that `check` rejects.
    let mut characters = fitting(name).peekable();
    while let Some(character) = characters.next() {
        unlinked.push(character);
        let divides = matches!(character, '.' | '@' | ':' | '/' | '。' | '．' | '｡' | '＠');
        if divides && characters.peek().is_some_and(|next| !next.is_whitespace()) {
            unlinked.push('\u{2060}');
        }
    }
    unlinked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_line(text: &str) -> bool {
        check(text, OPTIONAL_NAME).is_ok()
    }

    #[test]
    fn a_name_cannot_reverse_surrounding_text_or_end_its_line() {
        for stray in ["\u{202e}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{200f}", "\u{61c}", "\u{206a}", "\n", "\0", "\u{85}"] {
            let name = format!("Ada{stray}moc.live");
            assert!(!is_line(&name), "{name:?}");
            assert_eq!(to_line(&name, 256), "Adamoc.live", "{name:?}");
        }
    }

    #[test]
    fn a_name_has_no_hidden_characters() {
        let hidden = "\u{200b}\u{200c}\u{200d}\u{2060}\u{2062}\u{feff}\u{ad}\u{34f}\u{3164}\u{ffa0}\u{115f}\u{fe0f}\u{e0100}\
                      \u{180e}\u{e0041}\u{e0001}\u{1d173}\u{fffa}";
        for hidden in hidden.chars() {
            for (before, after) in [("Ad", "a"), ("", "Ada"), ("Ada", ""), ("Ad 1", "a"), ("Ада", "м"), ("Zoé", "é"), ("李", "小龙")]
            {
                let is_variant = before == "李" && matches!(hidden, '\u{fe0f}' | '\u{e0100}');
                let name = format!("{before}{hidden}{after}");
                assert_eq!(is_line(&name), is_variant, "{name:?}");
                assert!(is_variant || stripped(&name) == format!("{before}{after}"), "{name:?}");
            }
        }
        for name in ["👩\u{200d}", "\u{200d}👩", "👩\u{200d}\u{200d}🔬", "🏴\u{e0067}a\u{e0062}", "می\u{200c}\u{200c}خواهم", "1\u{fe0f}"]
        {
            assert!(!is_line(name), "{name:?}");
        }
    }

    #[test]
    fn names_in_all_scripts_and_with_emoji_are_unchanged() {
        for name in [
            "Ada Lovelace",
            "Zoë O'Hara-Smith, 3rd",
            "عدا Lovelace",
            "می\u{200c}خواهم",
            "מרים",
            "क\u{94d}\u{200d}ष",
            "മോഹന\u{d4d}\u{200d}ലാല\u{d4d}\u{200d}",
            "ශ\u{dca}\u{200d}රී",
            "李小龙 葛\u{e0100}城",
            "👩\u{200d}🔬 👩🏽\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 🏳\u{fe0f}\u{200d}🌈 🏴\u{200d}☠\u{fe0f} 🙂\u{200d}↔\u{fe0f}",
            "1\u{fe0f}\u{20e3} ©\u{fe0f} ™\u{fe0f} 🇳🇱",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        ] {
            assert!(is_line(name), "{name:?}");
            assert_eq!(to_line(name, 256), name);
        }
    }

    #[test]
    fn a_stripped_name_is_valid_wherever_it_is_cut() {
        let pieces = ['a', '1', 'م', '👩', '🏴', '\u{200c}', '\u{200d}', '\u{fe0f}', '\u{20e3}', '\u{e0067}', '\u{202e}'];
        let count = pieces.len();
        for number in 0..count.pow(4) {
            let text: String = (0..4).map(|place| pieces[number / count.pow(place) % count]).collect();
            for max in 0..=4 {
                let line = to_line(&text, max);
                assert!(check(&line, 0..=max).is_ok(), "{text:?} at {max}: {line:?}");
            }
        }
    }

    #[test]
    fn the_length_of_a_name_is_limited() {
        assert!(is_line(&"é".repeat(256)) && !is_line(&"é".repeat(257)));
        assert!(check("", 0..=9).is_ok() && check("", 1..=9).is_err() && check(" \u{3000}", 1..=9).is_err());
        let error = |chars| check("\n", chars).expect_err("no line").to_string();
        assert_eq!(error(1..=9), "must be one line of 1 to 9 characters, not blank, without hidden characters or direction controls");
        assert_eq!(error(0..=9), "must be one line of at most 9 characters, without hidden characters or direction controls");
    }

    #[test]
    fn addresses_and_urls_in_names_are_defused() {
        for (name, expected) in [
            ("evil.example", "evil.\u{2060}example"),
            ("https://evil.example/x", "https:\u{2060}/\u{2060}/\u{2060}evil.\u{2060}example/\u{2060}x"),
            ("ada@evil.example", "ada@\u{2060}evil.\u{2060}example"),
            ("evil。example", "evil。\u{2060}example"),
            ("Analytical Engines Ltd. and Sons", "Analytical Engines Ltd. and Sons"),
            ("Engines\u{202e}elpmaxe", "Engineselpmaxe"),
        ] {
            assert_eq!(unlinked(name), expected);
        }
    }

    #[test]
    fn a_text_cannot_command_a_terminal_and_keeps_its_spelling() {
        assert_eq!(plain("\u{1b}[2JAda\r\nO'Neil \u{202e}\u{9b}"), "\\u{1b}[2JAda\\u{d} O'Neil \\u{202e}\\u{9b}");
        for name in ["Zoe\u{308}", "हिन्दी", "می\u{200c}خواهم", "👩\u{200d}💻"] {
            assert_eq!(plain(name), name);
        }
    }
}
