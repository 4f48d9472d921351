//! Passwords as people type them, until they are hashed.

use secrecy::{ExposeSecret, SecretString};
use utoipa::ToSchema;

/// Shortest password that a project may accept, in characters.
pub const MIN_LENGTH: usize = 8;
/// Longest password, in characters.
pub const MAX_LENGTH: usize = 128;

/// A password in clear. It cannot be printed or serialised.
#[derive(Clone, ToSchema)]
#[schema(value_type = String, format = Password, example = "correct horse battery")]
pub struct Password(SecretString);

/// Why a password cannot be chosen; lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unacceptable {
    #[error("the password has fewer than {0} characters")]
    TooShort(usize),
    #[error("the password has more than {0} characters")]
    TooLong(usize),
}

impl Password {
    /// Checks a password that somebody chooses: `min` to 128 characters of any kind (WIRE.md, decision 9).
    pub fn check(&self, min: usize) -> Result<(), Unacceptable> {
        match self.0.expose_secret().chars().count() {
            length if length < min => Err(Unacceptable::TooShort(min)),
            length if length > MAX_LENGTH => Err(Unacceptable::TooLong(MAX_LENGTH)),
            _ => Ok(()),
        }
    }

    pub fn secret(&self) -> &SecretString {
        &self.0
    }
}

impl From<String> for Password {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Password {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        String::deserialize_from_value(value, location).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters() {
        let check = |length| Password::from("ä".repeat(length)).check(MIN_LENGTH);
        assert_eq!(check(7), Err(Unacceptable::TooShort(8)));
        assert_eq!(check(8), Ok(()));
        assert_eq!(check(128), Ok(()));
        assert_eq!(check(129), Err(Unacceptable::TooLong(128)));
    }
}
