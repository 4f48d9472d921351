//! What a caller seems to have confused about keys: the error says so, and never repeats a key.

use std::fmt;

use model::project::KeyKind;

/// A likely mistake with a key, appended to the error that it led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeySlip {
    #[default]
    None,
    /// The header of one kind holds a key of another.
    OtherKind { header: KeyKind, holds: KeyKind },
    /// The key does not begin as keys of its kind do.
    NoPrefix(KeyKind),
    /// The header of the wanted kind is missing, and another one holds such a key.
    OtherHeader { wanted: KeyKind, header: KeyKind },
}

impl KeySlip {
    /// Compares the keys of a request, by the header that each came in, with the kind that its
    /// access type requires.
    pub fn of(wanted: KeyKind, keys: &[(KeyKind, Option<&str>)]) -> Self {
        let sent = |header: KeyKind| keys.iter().find(|(kind, _)| *kind == header).and_then(|(_, key)| *key);
        let Some(key) = sent(wanted) else {
            let header = KeyKind::ALL.into_iter().find(|header| sent(*header).and_then(KeyKind::by_prefix) == Some(wanted));
            return header.map_or(Self::None, |header| Self::OtherHeader { wanted, header });
        };
        match KeyKind::by_prefix(key) {
            Some(holds) if holds != wanted => Self::OtherKind { header: wanted, holds },
            Some(_) => Self::None,
            None => Self::NoPrefix(wanted),
        }
    }
}

/// A header and an access type in which a key of a kind is sent, and what the kind is called.
fn place(kind: KeyKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        KeyKind::PublishableClient => ("X-Service-Publishable-Client-Key", "client", "publishable client key"),
        KeyKind::SecretServer => ("X-Service-Secret-Server-Key", "server", "secret server key"),
        KeyKind::SuperSecretAdmin => ("X-Service-Super-Secret-Admin-Key", "admin", "super secret admin key"),
    }
}

impl fmt::Display for KeySlip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => Ok(()),
            Self::NoPrefix(wanted) => write!(f, ": a {} begins with {}", place(wanted).2, wanted.prefix()),
            Self::OtherHeader { wanted, header } => write!(f, ": {} holds one; send it in {}", place(header).0, place(wanted).0),
            Self::OtherKind { header, holds } => {
                let ((wrong, ..), (right, access, name)) = (place(header), place(holds));
                let prefix = holds.prefix();
                write!(f, ": {wrong} holds a {name} ({prefix}…), which belongs in {right} with the access type {access}")?;
                if header == KeyKind::PublishableClient {
                    f.write_str("; replace it if a browser or an app had it")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slip(wanted: KeyKind, client: Option<&str>, server: Option<&str>) -> String {
        KeySlip::of(wanted, &[(KeyKind::PublishableClient, client), (KeyKind::SecretServer, server)]).to_string()
    }

    #[test]
    fn a_slip_says_where_the_key_belongs() {
        let (client, server) = (KeyKind::PublishableClient, KeyKind::SecretServer);
        assert_eq!(
            slip(client, Some("ssk_abc"), None),
            ": X-Service-Publishable-Client-Key holds a secret server key (ssk_…), which belongs in \
             X-Service-Secret-Server-Key with the access type server; replace it if a browser or an app had it"
        );
        let moved = ": X-Service-Publishable-Client-Key holds one; send it in X-Service-Secret-Server-Key";
        assert_eq!(slip(server, Some("ssk_abc"), None), moved);
        assert_eq!(slip(server, None, Some("abc")), ": a secret server key begins with ssk_");
        assert_eq!(slip(server, Some("pck_abc"), Some("ssk_abc")), "", "a key of the right kind may still be unknown");
        assert_eq!(slip(server, None, None), "");
    }
}
