//! The form in which searches compare texts about users and public content. Case and accents are
//! ignored, so `nunez` finds Núñez.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// The maximum number of words in a search. Without a limit, a request could contain thousands of
/// words, each of which is compared with every text.
pub const MAX_SEARCHED_WORDS: usize = 16;

/// Letters without a decomposition, and the letters that people type instead.
const PLAIN: [(char, &str); 12] = [
    ('ς', "σ"),
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ł', "l"),
    ('ŧ', "t"),
    ('þ', "th"),
];

/// The form for comparing texts: lower case, without the accents of Latin, Greek and Cyrillic
/// letters, and with one space between words.
pub fn folded(text: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text.to_lowercase()).into_owned();
    let mut plain = String::with_capacity(decomposed.len());
    // Marks of other scripts are not accents: without the marks, words would have different vowels.
    for letter in decomposed.chars().filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}')) {
        match PLAIN.iter().find(|(special, _)| *special == letter) {
            Some((_, usual)) => plain.push_str(usual),
            None => plain.push(letter),
        }
    }
    composed(&plain)
}

/// A string in canonical composition (NFC, UAX #15), with one space between words.
pub(crate) fn composed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&words.join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded() {
        for (text, expected) in [
            ("  Ada \t Lovelace ", "ada lovelace"),
            ("E\u{301}mile", "emile"),
            ("\u{c9}MILE", "emile"),
            ("Núñez", "nunez"),
            ("Ångström Łódź Søren Straße Æsir", "angstrom lodz soren strasse aesir"),
            ("İstanbul", "istanbul"),
            ("Nguyễn", "nguyen"),
            ("Ελλάδα Νίκος", "ελλαδα νικοσ"),
            ("a\u{a0}b", "a b"),
            ("李小龍", "李小龍"),
            ("ガス", "ガス"),
            ("한국", "한국"),
            ("हिन्दी", "हिन्दी"),
            ("", ""),
        ] {
            assert_eq!(folded(text), expected, "{text:?}");
            assert_eq!(folded(&folded(text)), folded(text), "folding twice changes nothing: {text:?}");
        }
    }
}
