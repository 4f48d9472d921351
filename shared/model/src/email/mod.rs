//! Email addresses: what is accepted, and the normal form in which they are stored and compared.

pub mod category;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A normalised address: trimmed, in lower case, with the domain in its ASCII form (RFC 5890). At
/// most 256 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = Email, max_length = 256, example = "ada@example.com")]
pub struct Email(String);

/// The text is not an email address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an email address")]
pub struct InvalidEmail;

/// The longest accepted address, in characters: as it is written, and in its normal form.
const MAX_LENGTH: usize = 256;
/// The longest host name, in characters: 255 octets in the encoding of RFC 1035 §2.3.4.
const MAX_DOMAIN: usize = 253;

impl Email {
    /// Normalises and validates an address.
    pub fn parse(text: &str) -> Result<Self, InvalidEmail> {
        let text = text.trim();
        if text.chars().count() > MAX_LENGTH {
            return Err(InvalidEmail);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(InvalidEmail)?;
        let domain = idna::domain_to_ascii(domain).map_err(|_| InvalidEmail)?;
        if !is_local_part(local) || !is_domain(&domain) {
            return Err(InvalidEmail);
        }
        // The ASCII form of a domain may be longer than what was written.
        if local.len() + 1 + domain.len() > MAX_LENGTH {
            return Err(InvalidEmail);
        }
        Ok(Self(format!("{}@{domain}", local.to_ascii_lowercase())))
    }

    /// The normalised address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address as the limits of emails to one recipient count it, without the parts that mail
    /// providers ignore: the tag (`+…`), which most providers support, and, at Gmail, the dots.
    /// Gmail's two domains count as one.
    pub fn mailbox(&self) -> String {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((&self.0, ""));
        let local = local.split_once('+').map_or(local, |(name, _)| name);
        match domain {
            "gmail.com" | "googlemail.com" => format!("{}@gmail.com", local.replace('.', "")),
            _ => format!("{local}@{domain}"),
        }
    }

    /// The part before the `@`.
    pub fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(&self.0, |(local, _)| local)
    }
}

/// Whether the text is a dot-atom (RFC 5322 §3.2.3) of at most 64 characters: no quotes, and no
/// leading, trailing or double dots.
fn is_local_part(text: &str) -> bool {
    let is_atext = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    text.len() <= 64 && text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atext))
}

/// Whether the text is a host name of at most [`MAX_DOMAIN`] characters with at least two labels.
/// The last label consists of two or more letters, or begins with `xn--`.
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let Some((_, top)) = text.rsplit_once('.') else { return false };
    let top_is_name = top.len() >= 2 && (top.starts_with("xn--") || top.chars().all(|c| c.is_ascii_alphabetic()));
    top_is_name && text.len() <= MAX_DOMAIN && text.split('.').all(is_label)
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Email {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|error| wire::problem::rejected(&error, location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_a_mailbox_have_one_name() {
        let mailbox = |text: &str| Email::parse(text).expect("an address").mailbox();
        assert_eq!(mailbox("a.d.a+1@gmail.com"), "ada@gmail.com");
        assert_eq!(mailbox("Ada+2@googlemail.com"), "ada@gmail.com");
        assert_eq!(mailbox("a.da+x+y@example.com"), "a.da@example.com");
        // If the local part begins with `+`, nothing remains before the `@`.
        assert_ne!(mailbox("+a@example.com"), mailbox("b@example.com"));
    }

    #[test]
    fn an_address_is_normalised() {
        let forms = [" Ada@Example.COM ", "ada@example.com"];
        for form in forms {
            assert_eq!(Email::parse(form).map(|email| email.to_string()), Ok("ada@example.com".to_owned()));
        }
        assert_eq!(Email::parse("ada@bücher.example").map(|e| e.to_string()), Ok("ada@xn--bcher-kva.example".to_owned()));
    }

    #[test]
    fn an_invalid_address_is_rejected() {
        let long = format!("{}@example.com", "a".repeat(250));
        // 87 characters; the domain alone has 319 in its ASCII form.
        let long_in_ascii = format!("a@{}example", "ü.".repeat(39));
        let wrong = [
            "",
            "ada",
            "ada@",
            "@example.com",
            "ada@example",
            "ada@example.c",
            "ada@.com",
            ".ada@example.com",
            "a..da@example.com",
            "a da@example.com",
            "ada@exa_mple.com",
            "ada@-example.com",
            "ada@127.0.0.1",
            "\"a\"@example.com",
            &long,
            &long_in_ascii,
        ];
        for text in wrong {
            assert_eq!(Email::parse(text), Err(InvalidEmail), "{text}");
        }
    }
}
