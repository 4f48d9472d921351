//! Users are found by the beginnings of certain texts, which this module calls words. The words are
//! the email addresses (the primary address and the addresses for signing in), and the display
//! name, starting from each of its first three words. `love` finds Ada Lovelace. An address with a
//! non-ASCII domain is also found by the domain, in either form: `münchen` finds
//! `ada@xn--mnchen-3ya.example`.
//!
//! Words are compared in a folded form, so case and accents are ignored: `nunez` finds Núñez. The
//! order of several words is also ignored: `chen mei` finds Mei Chen.

use std::collections::BTreeSet;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::email::Email;
use crate::text::folded::{MAX_SEARCHED_WORDS, composed, folded};
use crate::user::{Channel, User};

/// The number of words at the start of a display name at which a match can begin.
pub const NAME_WORDS: usize = 3;
/// The maximum length of a word in a key, in bytes; longer words are cut. DynamoDB permits sort
/// keys of 1 KB.
const MAX_BYTES: usize = 128;
/// The form in which earlier versions compared texts and stored words, which includes accents.
fn folded_earlier(text: &str) -> String {
    composed(&ComposingNormalizerBorrowed::new_nfc().normalize(text).to_lowercase())
}

/// A folded text, cut to the maximum length in keys.
pub fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_BYTES)).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// A folded display name, starting from each of its first words: `ada lovelace` and `lovelace`.
fn starts(folded: &str) -> Vec<String> {
    let starts = folded.match_indices(' ').map(|(space, _)| space + 1);
    let starts = [0].into_iter().chain(starts).take(NAME_WORDS);
    starts.filter_map(|start| folded.get(start..)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// For an address with a non-ASCII domain, the folded forms of the address and of the domain in
/// Unicode.
fn international(email: &Email) -> Vec<String> {
    let Some((local, domain)) = email.as_str().rsplit_once('@').filter(|(_, domain)| domain.contains("xn--")) else { return Vec::new() };
    let (domain, result) = idna::domain_to_unicode(domain);
    if result.is_err() { Vec::new() } else { vec![folded(&format!("{local}@{domain}")), folded(&domain)] }
}

/// The beginnings of several words to search for, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    words: Vec<String>,
    beginnings: Vec<String>,
}

impl Search {
    /// Parses a typed text; only the first [`MAX_SEARCHED_WORDS`] words count. `None` if the text
    /// does not contain a word.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> =
            folded(text).split(' ').filter(|word| !word.is_empty()).take(MAX_SEARCHED_WORDS).map(str::to_owned).collect();
        let phrase = words.join(" ");
        let longest = words.iter().take(NAME_WORDS).rev().max_by_key(|word| word.len())?.clone();
        // The longest word matches the fewest users. If that word is not among a name's first
        // words, all words together may still match in the order of the name.
        let beginnings = if phrase.starts_with(&longest) { vec![longest] } else { vec![longest, phrase] };
        Some(Self { words, beginnings })
    }

    /// The beginnings of one or two words to look up in the index.
    pub fn beginnings(&self) -> &[String] {
        &self.beginnings
    }

    /// The words, separated by spaces.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }
}

impl User {
    fn folded_name(&self) -> Option<String> {
        self.display_name.as_deref().map(folded)
    }

    fn name_words(&self) -> Vec<String> {
        self.folded_name().as_deref().map(starts).unwrap_or_default()
    }

    /// The addresses by which the user can be found.
    fn found_by(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().filter(|channel| channel.is_primary || channel.signs_in())
    }

    fn international_words(&self) -> impl Iterator<Item = String> {
        self.found_by().flat_map(|channel| international(&channel.value))
    }

    /// The words that need items in the table, cut as in keys. They are the words of the name and
    /// of international addresses, and the primary address unless the user signs in with it.
    /// Sign-in addresses are found by their claims in the table.
    pub fn unclaimed_words(&self) -> BTreeSet<String> {
        let primary = self.primary().filter(|channel| !channel.signs_in()).map(|channel| folded(channel.value.as_str()));
        let words = self.name_words().into_iter().chain(self.international_words()).chain(primary);
        words.map(|word| cut(&word).to_owned()).collect()
    }

    /// The words of the name as stored by an earlier version, with accents, except words that are
    /// still stored.
    pub fn earlier_words(&self) -> BTreeSet<String> {
        let name = self.display_name.as_deref().filter(|name| !name.is_ascii()).map(folded_earlier);
        let words: BTreeSet<String> = name.as_deref().map(starts).unwrap_or_default().iter().map(|word| cut(word).to_owned()).collect();
        words.difference(&self.unclaimed_words()).cloned().collect()
    }

    /// The user's first word, in key order, that starts with one of the searched beginnings. The
    /// word is cut as in keys. `None` if there is no such word.
    pub fn first_word(&self, search: &Search) -> Option<String> {
        let addresses = self.found_by().map(|channel| folded(channel.value.as_str()));
        let words = self.name_words().into_iter().chain(self.international_words()).chain(addresses);
        let words = words.filter(|word| search.beginnings.iter().any(|beginning| word.starts_with(beginning.as_str())));
        words.map(|word| cut(&word).to_owned()).min()
    }

    /// Whether each word of the search is the beginning of a word of the name or of an address.
    pub fn begins_with(&self, search: &Search) -> bool {
        let name = self.folded_name().unwrap_or_default();
        let addresses: Vec<String> =
            self.found_by().map(|channel| folded(channel.value.as_str())).chain(self.international_words()).collect();
        let begins = |word: &String| {
            name.split(' ').any(|part| part.starts_with(word.as_str()))
                || addresses.iter().any(|address| address.starts_with(word.as_str()))
        };
        search.words.iter().all(begins)
    }

    /// Whether each word of the search is part of the name or of an address.
    pub fn contains(&self, search: &Search) -> bool {
        let name = self.folded_name();
        let addresses = self.channels.iter().flat_map(|channel| {
            let form = [folded(channel.value.as_str())];
            form.into_iter().chain(international(&channel.value))
        });
        let texts: Vec<String> = name.into_iter().chain(addresses).collect();
        search.words.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_each_of_its_first_words() {
        let words_of = |name: &str| starts(&folded(name));
        assert_eq!(words_of("Augusta Ada King Lovelace"), ["augusta ada king lovelace", "ada king lovelace", "king lovelace"]);
        assert_eq!(words_of("Ada"), ["ada"]);
        assert!(words_of(" \u{3000} ").is_empty());
    }

    #[test]
    fn international_addresses_are_found_by_how_people_write_them() {
        let of = |text: &str| international(&Email::parse(text).expect("an address"));
        assert_eq!(of("ada@münchen.example"), ["ada@munchen.example", "munchen.example"]);
        assert_eq!(of("ada@例え.テスト"), ["ada@例え.テスト", "例え.テスト"]);
        assert!(of("ada@example.com").is_empty());
    }

    #[test]
    fn a_search_begins_with_the_word_that_leads_to_the_fewest_users() {
        let beginnings = |text: &str| Search::parse(text).map(|search| search.beginnings);
        assert_eq!(beginnings("Chen Mei"), Some(vec!["chen".to_owned()]));
        assert_eq!(beginnings("Mei Chen"), Some(vec!["chen".to_owned(), "mei chen".to_owned()]));
        assert_eq!(beginnings("a b c Lovelace"), Some(vec!["a".to_owned()]), "a fourth word is not in the index");
        assert_eq!((beginnings(""), beginnings(" \t")), (None, None));
    }

    #[test]
    fn the_first_16_words_of_a_search_count() {
        let many = |count: usize| (0..count).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        assert_eq!(Search::parse(&many(4000)), Search::parse(&many(MAX_SEARCHED_WORDS)));
        assert_ne!(Search::parse(&many(MAX_SEARCHED_WORDS)), Search::parse(&many(MAX_SEARCHED_WORDS - 1)));
        assert_eq!(Search::parse(&"a ".repeat(4000)).map(|search| search.words.len()), Some(MAX_SEARCHED_WORDS));
    }

    #[test]
    fn long_words_are_cut_between_characters() {
        let long = "é".repeat(100);
        assert_eq!(cut(&long).len(), MAX_BYTES);
        assert_eq!(cut(&format!("x{long}")).len(), MAX_BYTES - 1);
        assert_eq!(cut("ada"), "ada");
    }
}
