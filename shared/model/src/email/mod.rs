//! Email addresses: which addresses are accepted, and their normal form for storage and comparison.

pub mod any;
pub mod category;
mod mailbox;
pub mod notice;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A normalized address: trimmed, in lower case, with the domain in its ASCII form (RFC 5890). At
/// most 256 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = Email, max_length = 256, example = "ada@example.com")]
pub struct Email(String);

/// The text is not an email address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an email address")]
pub struct EmailRefusal;

/// The maximum length of an address, in characters, both as written and in its normal form.
const MAX_LENGTH: usize = 256;
/// The longest host name, in characters: 255 octets in the encoding of RFC 1035 §2.3.4.
const MAX_DOMAIN: usize = 253;

impl Email {
    /// Normalizes and validates an address.
    pub fn parse(text: &str) -> Result<Self, EmailRefusal> {
        let text = text.trim();
        if text.chars().count() > MAX_LENGTH {
            return Err(EmailRefusal);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(EmailRefusal)?;
        let domain = idna::domain_to_ascii(domain).map_err(|_| EmailRefusal)?;
        if !is_local_part(local) || !is_domain(&domain) {
            return Err(EmailRefusal);
        }
        joined(local, &domain).ok_or(EmailRefusal)
    }

    /// Whether the domain can exist on the public internet. Only servers can set an address whose
    /// domain cannot ([`AnyEmail`](any::AnyEmail)).
    pub fn is_public(&self) -> bool {
        self.0.rsplit_once('@').is_some_and(|(_, domain)| is_domain(domain))
    }

    /// The normalized address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address as counted by the limits on emails to one recipient: without the parts that mail
    /// providers ignore. These parts are the tag (`+…`), which most providers support, and the dots
    /// at Gmail. Domains that share their mailboxes count as one.
    pub fn mailbox(&self) -> String {
        let (local, domain) = self.parts();
        mailbox::name(local, domain)
    }

    /// The domain without subdomains, as counted by the limits on emails to one domain. `None` for
    /// mail providers open to everyone.
    pub fn organisation(&self) -> Option<String> {
        mailbox::organisation(self.parts().1)
    }

    fn parts(&self) -> (&str, &str) {
        self.0.rsplit_once('@').unwrap_or((&self.0, ""))
    }

    /// The part before the `@`.
    pub fn local_part(&self) -> &str {
        self.parts().0
    }
}

/// Whether the text is a dot-atom (RFC 5322 §3.2.3) of at most 64 characters: no quotes, and no
/// leading, trailing or double dots.
fn is_local_part(text: &str) -> bool {
    let is_atext = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    text.len() <= 64 && text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atext))
}

/// The address made of a name and a domain in ASCII form, which may be longer than the domain as
/// written; `None` if the address is too long.
fn joined(local: &str, domain: &str) -> Option<Email> {
    let fits = local.len() + 1 + domain.len() <= MAX_LENGTH;
    fits.then(|| Email(format!("{}@{domain}", local.to_ascii_lowercase())))
}

/// Whether the text is one label of a host name.
fn is_label(text: &str) -> bool {
    let is_end = |edge: Option<char>| edge.is_some_and(|c| c != '-');
    (1..=63).contains(&text.len())
        && is_end(text.chars().next())
        && is_end(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Whether the text is a host name of at most [`MAX_DOMAIN`] characters with two or more labels.
/// The last label consists of two or more letters, or begins with `xn--`.
fn is_domain(text: &str) -> bool {
    let Some((_, top)) = text.rsplit_once('.') else { return false };
    let top_is_name = top.len() >= 2 && (top.starts_with("xn--") || top.chars().all(|c| c.is_ascii_alphabetic()));
    top_is_name && text.len() <= MAX_DOMAIN && text.split('.').all(is_label)
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

wire::deserr_from!(Email, String, |text| Self::parse(&text));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_a_mailbox_have_one_name() {
        let mailbox = |text: &str| Email::parse(text).expect("an address").mailbox();
        assert_eq!(mailbox("a.d.a+1@gmail.com"), "ada@gmail.com");
        assert_eq!(mailbox("Ada+2@googlemail.com"), "ada@gmail.com");
        assert_eq!(mailbox("a.da+x+y@example.com"), "a.da@example.com");
        for (address, mailbox_of) in [
            ("ada-shop@yahoo.com", "ada@yahoo.com"),
            ("ada-shop@example.com", "ada-shop@example.com"),
            ("a.d_a-x+y@pm.me", "adax@proton.me"),
            ("ada+1@me.com", "ada@icloud.com"),
            ("ada.l@ya.ru", "adal@yandex.com"),
            ("ada-l@yandex.ru", "adal@yandex.com"),
            ("news+1@ada.fastmail.com", "ada@fastmail.com"),
            ("ada+1@fastmail.com", "ada@fastmail.com"),
            ("news@ada.fastmail.co.uk", "ada@fastmail.co.uk"),
            ("a.da+1@hotmail.com", "a.da@hotmail.com"),
            ("ada-shop@yahoo.com.mx", "ada@yahoo.com.mx"),
            ("ada+1@live.nl", "ada@live.nl"),
            ("4f-2b@duck.com", "4f-2b@duck.com"),
        ] {
            assert_eq!(mailbox(address), mailbox_of, "{address}");
        }
        // Without its tag, a local part that begins with `+` would be empty.
        assert_ne!(mailbox("+a@example.com"), mailbox("b@example.com"));
    }

    #[test]
    fn an_organisation_has_subdomains_and_a_mail_provider_is_none() {
        let organisation = |text: &str| Email::parse(text).expect("an address").organisation();
        for address in ["ada@example.com", "ada@mail.example.com", "ada@a.b.example.com"] {
            assert_eq!(organisation(address).as_deref(), Some("example.com"));
        }
        for (address, registered) in [
            ("ada@shop.example.co.uk", "example.co.uk"),
            ("ada@west.example.school.nz", "example.school.nz"),
            // A short subdomain does not have a special meaning.
            ("ada@any.abc.de", "abc.de"),
            ("ada@any.ibm.com", "ibm.com"),
            ("ada@mail.bücher.de", "xn--bcher-kva.de"),
            // Nobody owns a public suffix, and nobody can register a domain under an unknown
            // suffix.
            ("ada@co.uk", "co.uk"),
            ("ada@mail.corp.internal", "corp.internal"),
        ] {
            assert_eq!(organisation(address).as_deref(), Some(registered), "{address}");
        }
        for address in [
            "ada@gmail.com",
            "ada@t-online.de",
            "news@ada.fastmail.com",
            "ada@outlook.es",
            "a1b2@duck.com",
            "a1b2@privaterelay.appleid.com",
        ] {
            assert_eq!(organisation(address), None);
        }
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
        // The address has 87 characters; in the ASCII form, the domain alone has 319.
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
            assert_eq!(Email::parse(text), Err(EmailRefusal), "{text}");
        }
    }
}
