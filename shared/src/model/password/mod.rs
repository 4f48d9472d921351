//! Passwords as people type them, until they are hashed.
//!
//! A password is normalised to NFC (SP 800-63B-4, §3.1.1.2): what looks the same is the same,
//! whichever keyboard it comes from. Lengths are counted after that, in characters (Unicode code
//! points), never in bytes.

pub mod common;

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

use super::email::Email;
use super::project::Project;

/// Shortest password that a project may accept, in characters.
pub const MIN_LENGTH: usize = 8;
/// Longest password, in characters.
pub const MAX_LENGTH: usize = 128;

/// A password in clear. It cannot be printed or serialised.
#[derive(Clone, ToSchema)]
#[schema(value_type = String, format = Password, example = "correct horse battery")]
pub struct Password(Forms);

#[derive(Clone)]
struct Forms {
    normalized: SecretString,
    /// As it was typed, if that differs.
    typed: Option<SecretString>,
}

/// Why a password cannot be chosen; lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unacceptable {
    #[error("the password has fewer than {0} characters")]
    TooShort(usize),
    #[error("the password has more than {0} characters")]
    TooLong(usize),
    #[error("{0}")]
    Weak(Weakness),
}

/// Why a password is easy to guess.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    #[default]
    #[error("the password is one of the most common ones: choose another")]
    Common,
    #[error("the password must not be an email address of the account, or its part before the @")]
    Address,
    #[error("the password must not be the name of the project")]
    ProjectName,
    #[error("the password must not be one character again and again, or a row of the keyboard or alphabet")]
    Sequence,
}

impl Password {
    /// Checks a password that somebody chooses for an account with these addresses: as many
    /// characters of any kind as the project asks for, 128 at most, and not easy to guess.
    pub fn check<'a>(&self, project: &Project, addresses: impl IntoIterator<Item = &'a Email>) -> Result<(), Unacceptable> {
        let text = self.0.normalized.expose_secret();
        match text.chars().count() {
            length if length < project.config.password_min_length => Err(Unacceptable::TooShort(project.config.password_min_length)),
            length if length > MAX_LENGTH => Err(Unacceptable::TooLong(MAX_LENGTH)),
            _ => weakness(text, project, addresses).map_or(Ok(()), |weakness| Err(Unacceptable::Weak(weakness))),
        }
    }

    /// The form that is hashed.
    pub fn secret(&self) -> &SecretString {
        &self.0.normalized
    }

    /// The forms that a stored hash may be of: before passwords were normalised it was the typed one.
    pub fn forms(&self) -> impl Iterator<Item = &SecretString> {
        [&self.0.normalized].into_iter().chain(&self.0.typed)
    }
}

fn normalized(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

fn weakness<'a>(text: &str, project: &Project, addresses: impl IntoIterator<Item = &'a Email>) -> Option<Weakness> {
    let lower_case = text.to_lowercase();
    let is_of = |address: &Email| lower_case == address.as_str() || lower_case == address.local_part();
    if is_sequence(&lower_case) {
        Some(Weakness::Sequence)
    } else if addresses.into_iter().any(is_of) {
        Some(Weakness::Address)
    } else if squeezed(&lower_case) == squeezed(&normalized(&project.display_name).to_lowercase()) {
        Some(Weakness::ProjectName)
    } else {
        common::is_common(&lower_case).then_some(Weakness::Common)
    }
}

/// The text without its spaces.
fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Rows that fingers and memory run along, each also backwards and round the end.
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

/// Whether each character of the text follows the one before in the row, which begins again after
/// its end. Rows are ASCII, so positions of bytes are those of characters.
fn runs_along(row: &str, text: &str) -> bool {
    let Some(start) = text.chars().next().and_then(|first| row.find(first)) else { return false };
    text.chars().zip(row.chars().cycle().skip(start)).all(|(found, next)| found == next)
}

impl From<String> for Password {
    fn from(typed: String) -> Self {
        Self(match normalized(&typed) {
            Cow::Borrowed(_) => Forms { normalized: typed.into(), typed: None },
            Cow::Owned(normalized) => Forms { normalized: normalized.into(), typed: Some(typed.into()) },
        })
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Password {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        String::deserialize_from_value(value, location).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::id::ProjectId;

    fn check(text: &str) -> Result<(), Unacceptable> {
        let project = Project::new(ProjectId::internal(), "Analytical Engines", Timestamp::UNIX_EPOCH);
        let addresses = ["ada.lovelace@example.com", "countess@example.com"].map(|text| Email::parse(text).expect("an address"));
        Password::from(text.to_owned()).check(&project, &addresses)
    }

    #[test]
    fn length_is_counted_in_characters_of_the_composed_form() {
        let mixed = |length: usize| "e\u{301}\u{e4}".repeat(length / 2) + &"x".repeat(length % 2);
        assert_eq!(check(&mixed(7)), Err(Unacceptable::TooShort(8)));
        assert_eq!(check(&mixed(8)), Ok(()));
        assert_eq!(check(&mixed(128)), Ok(()));
        assert_eq!(check(&mixed(129)), Err(Unacceptable::TooLong(128)));
    }

    #[test]
    fn what_is_easy_to_guess_cannot_be_chosen() {
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
                assert_eq!(check(password), Err(Unacceptable::Weak(weakness)), "{password}");
            }
        }
        for password in ["aaaaaaab", "1234567a qz", "ada.lovelace!", "analytical engine", " \t\0 \u{202e}   "] {
            assert_eq!(check(password), Ok(()), "{password}");
        }
    }

    #[test]
    fn composed_and_decomposed_forms_are_one_password() {
        let [composed, decomposed] = ["caf\u{e9} au lait", "cafe\u{301} au lait"].map(|text| Password::from(text.to_owned()));
        assert_eq!(composed.secret().expose_secret(), decomposed.secret().expose_secret());
        assert_eq!((composed.forms().count(), decomposed.forms().count()), (1, 2));
    }
}
