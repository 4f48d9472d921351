//! Passwords as people type them, before they are hashed. The submodules hash passwords and
//! recovery codes.
//!
//! A password is normalized to NFC (SP 800-63B-4, §3.1.1.2), so the same characters match on every
//! keyboard.

pub mod cost;
pub mod hash;
pub mod recovery;

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use secrecy::SecretString;
use utoipa::ToSchema;

/// A plaintext password. A password cannot be printed or serialized.
#[derive(Clone, ToSchema)]
#[schema(value_type = String, format = Password, example = "correct horse battery")]
pub struct Password(Forms);

#[derive(Clone)]
struct Forms {
    normalized: SecretString,
    /// The text as typed, if it differs from its NFC form.
    typed: Option<SecretString>,
}

impl Password {
    /// The form to hash.
    pub fn secret(&self) -> &SecretString {
        &self.0.normalized
    }

    /// The forms that a stored hash may match: earlier versions did not normalize passwords and
    /// hashed the typed form.
    pub fn forms(&self) -> impl Iterator<Item = &SecretString> {
        [&self.0.normalized].into_iter().chain(&self.0.typed)
    }
}

/// The text in NFC.
pub fn normalized(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
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
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn composed_and_decomposed_unicode_passwords_are_equal() {
        let [composed, decomposed] = ["caf\u{e9} au lait", "cafe\u{301} au lait"].map(|text| Password::from(text.to_owned()));
        assert_eq!(composed.secret().expose_secret(), decomposed.secret().expose_secret());
        assert_eq!((composed.forms().count(), decomposed.forms().count()), (1, 2));
    }
}
