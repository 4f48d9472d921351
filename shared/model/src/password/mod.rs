//! Which passwords are acceptable. Lengths are in characters (Unicode code points) after
//! normalization to NFC, not in bytes.

pub mod common;
pub mod length;

use crypto::password::{Password, normalized};
use secrecy::ExposeSecret as _;
use serde::Serialize;

use crate::email::Email;
use crate::password::length::MAX_LENGTH;

/// Why a password is refused; lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordRefusal {
    /// The password is shorter than the project's minimum.
    #[error("the password has fewer than {0} characters")]
    TooShort(usize),
    /// The password is longer than the maximum.
    #[error("the password has more than {0} characters")]
    TooLong(usize),
    /// The password is easy to guess.
    #[error("{0}")]
    Weak(Weakness),
}

/// Why a password is easy to guess.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    /// The password is in the list of common passwords.
    #[default]
    #[error("the password is one of the most common passwords; choose another one")]
    Common,
    /// The password is an email address of the account, or the part of an address before the `@`,
    /// ignoring case.
    #[error("the password must not be an email address of the account, or the part of such an address before the @")]
    Address,
    /// The password is the project's display name, ignoring case and whitespace.
    #[error("the password must not be the name of the project")]
    ProjectName,
    /// The password is one repeated character, or a sequence from the keyboard or alphabet.
    #[error("the password must not be one repeated character, or a sequence from the keyboard or alphabet")]
    Sequence,
}

/// A project's requirements for passwords.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The minimum length, in characters.
    pub min_length: usize,
    /// The project's name, which is refused as a password.
    pub project_name: &'a str,
}

/// Checks a new password for an account with these addresses: at least the project's minimum
/// length, at most 128 characters of any kind, and not easy to guess.
pub fn check<'a>(password: &Password, rules: Rules<'_>, addresses: impl IntoIterator<Item = &'a Email>) -> Result<(), PasswordRefusal> {
    let text = password.secret().expose_secret();
    match text.chars().count() {
        length if length < rules.min_length => Err(PasswordRefusal::TooShort(rules.min_length)),
        length if length > MAX_LENGTH => Err(PasswordRefusal::TooLong(MAX_LENGTH)),
        _ => weakness(text, rules.project_name, addresses).map_or(Ok(()), |weakness| Err(PasswordRefusal::Weak(weakness))),
    }
}

/// Checks a password imported by a server: 1 to 128 characters, even if easy to guess. Users of
/// another service can therefore keep their passwords.
pub fn check_imported(password: &Password) -> Result<(), PasswordRefusal> {
    match password.secret().expose_secret().chars().count() {
        0 => Err(PasswordRefusal::TooShort(1)),
        length if length > MAX_LENGTH => Err(PasswordRefusal::TooLong(MAX_LENGTH)),
        _ => Ok(()),
    }
}

fn weakness<'a>(text: &str, project_name: &str, addresses: impl IntoIterator<Item = &'a Email>) -> Option<Weakness> {
    let lower_case = text.to_lowercase();
    let is_of = |address: &Email| lower_case == address.as_str() || lower_case == address.local_part();
    if is_sequence(&lower_case) {
        Some(Weakness::Sequence)
    } else if addresses.into_iter().any(is_of) {
        Some(Weakness::Address)
    } else if squeezed(&lower_case) == squeezed(&normalized(project_name).to_lowercase()) {
        Some(Weakness::ProjectName)
    } else {
        common::is_common(&lower_case).then_some(Weakness::Common)
    }
}

/// The text without whitespace.
fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Common sequences of keys and characters. Reversed and wrapped-around sequences are recognized
/// too.
const ROWS: [&str; 9] = [
    "1234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop[]",
    "asdfghjkl;'",
    "zxcvbnm,./",
    "qwertzuiop",
    "yxcvbnm,.-",
    "azertyuiop",
    "qsdfghjklm",
];

fn is_sequence(text: &str) -> bool {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return false };
    let backwards: String = text.chars().rev().collect();
    characters.all(|character| character == first) || ROWS.iter().any(|row| runs_along(row, text) || runs_along(row, &backwards))
}

/// Whether each character of the text follows the previous character in the row, which wraps
/// around. Rows are ASCII, so byte positions are also character positions.
fn runs_along(row: &str, text: &str) -> bool {
    let Some(start) = text.chars().next().and_then(|first| row.find(first)) else { return false };
    text.chars().zip(row.chars().cycle().skip(start)).all(|(found, next)| found == next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), PasswordRefusal> {
        let rules = Rules { min_length: 8, project_name: "Analytical Engines" };
        let addresses = ["ada.lovelace@example.com", "countess@example.com"].map(|text| Email::parse(text).expect("an address"));
        super::check(&Password::from(text.to_owned()), rules, &addresses)
    }

    #[test]
    fn length_is_counted_in_composed_characters() {
        let mixed = |length: usize| "e\u{301}\u{e4}".repeat(length / 2) + &"x".repeat(length % 2);
        assert_eq!(check(&mixed(7)), Err(PasswordRefusal::TooShort(8)));
        assert_eq!(check(&mixed(8)), Ok(()));
        assert_eq!(check(&mixed(128)), Ok(()));
        assert_eq!(check(&mixed(129)), Err(PasswordRefusal::TooLong(128)));
    }

    #[test]
    fn easily_guessed_passwords_are_rejected() {
        let cases = [
            (Weakness::Common, ["Password1", "IloveYou!", "football"].as_slice()),
            (Weakness::Address, &["ada.lovelace@example.com", "Ada.Lovelace", "COUNTESS"]),
            (Weakness::ProjectName, &["analytical engines", "AnalyticalEngines"]),
            (
                Weakness::Sequence,
                &["aaaaaaaa", "🦀🦀🦀🦀🦀🦀🦀🦀", "12345678", "67890123", "hgfedcba", "QWERTYUI", "poiuytrewq", "zxcvbnm,"],
            ),
        ];
        for (weakness, passwords) in cases {
            for password in passwords {
                assert_eq!(check(password), Err(PasswordRefusal::Weak(weakness)), "{password}");
            }
        }
        for password in ["aaaaaaab", "1234567a qz", "ada.lovelace!", "analytical engine", " \t\0 \u{202e}   "] {
            assert_eq!(check(password), Ok(()), "{password}");
        }
    }
}
