//! Which addresses emails come from: a project without a mail server of its own sends by the deployment's, whose good name is everybody's.

use crate::email::{Email, InvalidEmail};

/// The deployment's own address, and those that its projects may take instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Senders {
    own: String,
    others: Others,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Others {
    Any,
    /// Addresses, and domains without an `@`; a domain stands for itself and not for those below it.
    Listed(Vec<String>),
}

impl Senders {
    /// From a list with commas between, as in `example.com, notes@example.org`; `*` for every address.
    pub fn new(own: String, list: &str) -> Result<Self, InvalidEmail> {
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

    pub fn allow(&self, address: &str) -> bool {
        match (&self.others, address.rsplit_once('@')) {
            (Others::Any, _) => true,
            (Others::Listed(listed), Some((_, domain))) => {
                address == self.own || listed.iter().any(|entry| entry == address || entry == domain)
            }
            (Others::Listed(_), None) => false,
        }
    }

    /// What a project that asks for another address is told.
    pub fn advice(&self) -> String {
        let mut allowed = vec![self.own.clone()];
        if let Others::Listed(listed) = &self.others {
            allowed.extend(listed.iter().map(|entry| if entry.contains('@') { entry.clone() } else { format!("an address at {entry}") }));
        }
        format!("must be {}; any other address needs a mail server of the project's own (`host`)", allowed.join(" or "))
    }
}

/// An address or a domain in the form in which addresses are stored.
fn normalised(entry: &str) -> Result<String, InvalidEmail> {
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
    fn a_deployment_that_lists_none_sends_as_itself() {
        let senders = senders("");
        assert!(senders.allow("noreply@gatelet.example"));
        assert!(!senders.allow("other@gatelet.example") && !senders.allow("noreply@example.com"));
        assert_eq!(
            senders.advice(),
            "must be noreply@gatelet.example; any other address needs a mail server of the project's own (`host`)"
        );
    }

    #[test]
    fn listed_domains_and_addresses_are_allowed_and_nothing_that_only_looks_like_them() {
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
    fn a_star_allows_every_address_and_is_no_part_of_a_list() {
        assert!(senders("*").allow("anybody@example.net"));
        for wrong in ["example.com, *", "example", "@example.com", "a b@example.com"] {
            assert_eq!(Senders::new("noreply@gatelet.example".to_owned(), wrong), Err(InvalidEmail), "{wrong}");
        }
    }
}
