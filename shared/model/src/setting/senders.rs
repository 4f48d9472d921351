//! The permitted sender addresses. Projects without their own mail server send emails through the
//! deployment's server and share its reputation.

use crate::email::{Email, EmailRefusal};

/// The deployment's sender address, and the addresses that projects can use instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Senders {
    own: String,
    others: Others,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Others {
    Any,
    /// Addresses, and domains without an `@`. A domain does not include its subdomains.
    Listed(Vec<String>),
}

impl Senders {
    /// Parses a comma-separated list such as `example.com, notes@example.org`; a single `*` permits
    /// all addresses. Fails if an entry is neither an email address nor a domain.
    pub fn new(own: String, list: &str) -> Result<Self, EmailRefusal> {
        let mut entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let others = match list.trim() {
            "*" => Others::Any,
            _ => Others::Listed(entries.try_fold(Vec::new(), |mut listed, entry| {
                listed.push(normalised(entry)?);
                Ok(listed)
            })?),
        };
        Ok(Self { own, others })
    }

    /// The deployment's own address.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Whether projects can send from this address.
    pub fn allow(&self, address: &str) -> bool {
        match (&self.others, address.rsplit_once('@')) {
            (Others::Any, _) => true,
            (Others::Listed(listed), Some((_, domain))) => {
                address == self.own || listed.iter().any(|entry| entry == address || entry == domain)
            }
            (Others::Listed(_), None) => false,
        }
    }

    /// The error message for a project that sets an address that is not permitted.
    pub fn advice(&self) -> String {
        let mut allowed = vec![self.own.clone()];
        if let Others::Listed(listed) = &self.others {
            allowed.extend(listed.iter().map(|entry| if entry.contains('@') { entry.clone() } else { format!("an address at {entry}") }));
        }
        format!("must be {}; any other address requires the project's own mail server (`host`)", allowed.join(" or "))
    }
}

/// An address or domain in its normal form.
fn normalised(entry: &str) -> Result<String, EmailRefusal> {
    if entry.contains('@') {
        return Email::parse(entry).map(|email| email.to_string());
    }
    Email::parse(&format!("x@{entry}")).map(|email| email.as_str().trim_start_matches("x@").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senders(list: &str) -> Senders {
        Senders::new("noreply@gatelet.example".to_owned(), list).expect("a list")
    }

    #[test]
    fn a_deployment_without_a_list_uses_its_own_sender() {
        let senders = senders("");
        assert!(senders.allow("noreply@gatelet.example"));
        assert!(!senders.allow("other@gatelet.example") && !senders.allow("noreply@example.com"));
        assert_eq!(senders.advice(), "must be noreply@gatelet.example; any other address requires the project's own mail server (`host`)");
    }

    #[test]
    fn only_listed_domains_and_addresses_are_allowed() {
        let senders = senders(" Example.com, notes@bücher.example ,");
        for allowed in ["a@example.com", "notes@xn--bcher-kva.example", "noreply@gatelet.example"] {
            assert!(senders.allow(allowed), "{allowed}");
        }
        for refused in ["a@mail.example.com", "a@notexample.com", "a@example.com.evil.example", "b@xn--bcher-kva.example", "example.com"] {
            assert!(!senders.allow(refused), "{refused}");
        }
        assert!(senders.advice().contains("an address at example.com or notes@xn--bcher-kva.example"), "{}", senders.advice());
    }

    #[test]
    fn a_star_allows_every_address_and_stands_alone() {
        assert!(senders("*").allow("anybody@example.net"));
        for wrong in ["example.com, *", "example", "@example.com", "a b@example.com"] {
            assert_eq!(Senders::new("noreply@gatelet.example".to_owned(), wrong), Err(EmailRefusal), "{wrong}");
        }
    }
}
