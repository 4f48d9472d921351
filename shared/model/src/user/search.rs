//! The texts, called words, by whose beginning a user is found: the email addresses (the primary
//! one and those that the user signs in with), and the display name starting at each of its first
//! three words. `love` finds Ada Lovelace.
//!
//! Words are compared in a folded form, so neither case nor the form of accents (composed or
//! combining) matters.

use std::collections::BTreeSet;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::user::{Channel, User};

/// The number of words at the beginning of a display name at which a match can start.
pub const NAME_WORDS: usize = 3;
/// The maximum length of a word in a key, in bytes; longer ones are cut. DynamoDB permits sort keys
/// of 1 KB.
const MOST_BYTES: usize = 128;

/// The form in which texts are compared: canonical composition (NFC, UAX #15), lower case, and one
/// space between words.
pub fn folded(text: &str) -> String {
    let normalizer = ComposingNormalizerBorrowed::new_nfc();
    let lower = normalizer.normalize(text).to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    normalizer.normalize(&words.join(" ")).into_owned()
}

/// A folded text, cut to the length that keys contain.
pub fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(MOST_BYTES)).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// A folded display name, starting at each of its first words: `ada lovelace` and `lovelace`.
fn words_of(name: &str) -> Vec<String> {
    let words = folded(name);
    let starts = words.match_indices(' ').map(|(space, _)| space + 1);
    let starts = [0].into_iter().chain(starts).take(NAME_WORDS);
    starts.filter_map(|start| words.get(start..)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

impl User {
    fn name_words(&self) -> impl Iterator<Item = String> {
        self.display_name.as_deref().map(words_of).into_iter().flatten()
    }

    /// The words for which the table needs items, cut as in keys: those of the name, and the
    /// primary address unless the user signs in with it. An address that the user signs in with is
    /// found by its claim.
    pub fn unclaimed_words(&self) -> BTreeSet<String> {
        let primary = self.primary().filter(|channel| !channel.signs_in()).map(|channel| folded(channel.value.as_str()));
        self.name_words().chain(primary).map(|word| cut(&word).to_owned()).collect()
    }

    /// The first of the user's words, in the order of keys, that begins with a folded text; the
    /// word is cut as in keys. `None` if no word begins with the text.
    pub fn first_word(&self, beginning: &str) -> Option<String> {
        let found = |channel: &&Channel| channel.is_primary || channel.signs_in();
        let addresses = self.channels.iter().filter(found).map(|channel| folded(channel.value.as_str()));
        let words = self.name_words().chain(addresses).filter(|word| word.starts_with(beginning));
        words.map(|word| cut(&word).to_owned()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded() {
        for (text, expected) in [
            ("  Ada \t Lovelace ", "ada lovelace"),
            ("E\u{301}mile", "\u{e9}mile"),
            ("\u{c9}MILE", "\u{e9}mile"),
            ("a\u{a0}b", "a b"),
            ("李小龍", "李小龍"),
            ("", ""),
        ] {
            assert_eq!(folded(text), expected, "{text:?}");
            assert_eq!(folded(&folded(text)), folded(text), "folding twice changes nothing: {text:?}");
        }
    }

    #[test]
    fn a_name_is_found_by_each_of_its_first_words() {
        assert_eq!(words_of("Augusta Ada King Lovelace"), ["augusta ada king lovelace", "ada king lovelace", "king lovelace"]);
        assert_eq!(words_of("Ada"), ["ada"]);
        assert!(words_of(" \u{3000} ").is_empty());
    }

    #[test]
    fn long_words_are_cut_between_characters() {
        let long = "é".repeat(100);
        assert_eq!(cut(&long).len(), MOST_BYTES);
        assert_eq!(cut(&format!("x{long}")).len(), MOST_BYTES - 1);
        assert_eq!(cut("ada"), "ada");
    }
}
