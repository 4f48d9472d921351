//! Addresses set by servers. Servers import existing users, some of whom have addresses that nobody
//! could sign up with, such as `ada@localhost` or `a@b.c`.

use std::ops::Deref;

use utoipa::ToSchema;

use crate::email::{Email, MAX_LENGTH, is_label, is_local_part, joined};

/// An address whose domain may be any host name, including a single label, or a name below a
/// top-level domain that is not public.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = Email, max_length = 256, example = "ada@example.com")]
pub struct AnyEmail(pub Email);

/// Why a server may not set a string as an address; the messages describe the expected form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    /// There is no `@`.
    #[error("must be an email address: a name, @ and a host name")]
    Form,
    /// The address is too long.
    #[error("must be an email address of at most {MAX_LENGTH} characters: mail servers do not accept longer ones (RFC 5321 §4.5.3.1)")]
    TooLong,
    /// The part before the `@` is not a dot-atom.
    #[error(
        "must be an email address with 1 to 64 letters, digits and !#$%&'*+-/=?^_`{{|}}~ before the @, and only single dots between them: other names need quotes, which many mail servers refuse (RFC 5321 §4.1.2)"
    )]
    Name,
    /// The part after the `@` is not a host name.
    #[error(
        "must be an email address with a host name after the @, not an IP address: emails can be sent only to host names (RFC 5321 §2.3.5)"
    )]
    Host,
}

impl AnyEmail {
    /// Normalizes an address, and checks that it can be the recipient of an email.
    pub fn parse(text: &str) -> Result<Self, AddressRefusal> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(AddressRefusal::Form)?;
        if text.chars().count() > MAX_LENGTH {
            return Err(AddressRefusal::TooLong);
        }
        if !is_local_part(local) {
            return Err(AddressRefusal::Name);
        }
        let domain = idna::domain_to_ascii(domain).ok().filter(|domain| is_host(domain)).ok_or(AddressRefusal::Host)?;
        joined(local, &domain).map(Self).ok_or(AddressRefusal::TooLong)
    }
}

/// Whether a string is a host name. The last label must contain a letter; otherwise, the text is an
/// IP address (URL Standard, "ends in a number").
fn is_host(text: &str) -> bool {
    let top = text.rsplit('.').next().unwrap_or_default();
    text.len() <= super::MAX_DOMAIN && text.split('.').all(is_label) && top.contains(|letter: char| letter.is_ascii_alphabetic())
}

impl Deref for AnyEmail {
    type Target = Email;

    fn deref(&self) -> &Email {
        &self.0
    }
}

wire::deserr_from!(AnyEmail, String, |text| Self::parse(&text));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_that_can_be_emailed_is_accepted() {
        for text in ["a@localhost", "a@b.c", "ada@example.com", "ada@intranet", "ada@mail.corp", "a+b@1and1.x1", " Ada@BÜCHER ", "_@x-y.z"]
        {
            let address = AnyEmail::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(AnyEmail::parse(address.as_str()), Ok(address.clone()), "{text}");
        }
        assert_eq!(AnyEmail::parse(" Ada@Localhost ").map(|address| address.to_string()), Ok("ada@localhost".to_owned()));
        assert!(!AnyEmail::parse("a@b.c").expect("valid").is_public() && AnyEmail::parse("a@b.cd").expect("valid").is_public());
    }

    #[test]
    fn a_refusal_says_what_is_wrong() {
        let long = format!("a@{}", "b.".repeat(130));
        for (texts, refusal) in [
            (&["", "ada", "ada.example.com"][..], AddressRefusal::Form),
            (&["@localhost", "a..b@localhost", ".a@b.c", "a.@b.c", "a b@b.c", "\"a\"@b.c", "ä@b.c"], AddressRefusal::Name),
            (&["a@", "a@.", "a@b..c", "a@-b", "a@b_c", "a@127.0.0.1", "a@[127.0.0.1]", "a@1.2", "a@b c"], AddressRefusal::Host),
            (&[&long], AddressRefusal::TooLong),
        ] {
            for text in texts {
                assert_eq!(AnyEmail::parse(text), Err(refusal), "{text}");
            }
        }
        assert!(AddressRefusal::Name.to_string().contains("{|}~"));
    }
}
