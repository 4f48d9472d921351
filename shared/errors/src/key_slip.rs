//! Likely mistakes with API keys: the error describes the mistake without repeating the key.

use std::fmt;

use model::project::KeyKind;

/// A likely mistake with a key. The description of the mistake is appended to the message of the
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeySlip {
    /// No known mistake.
    #[default]
    None,
    /// A header contains a key of another kind.
    OtherKind {
        /// The kind of key that the header is for.
        header: KeyKind,
        /// The kind of the key in the header.
        holds: KeyKind,
    },
    /// The key does not have the prefix of its kind.
    NoPrefix(KeyKind),
    /// A token was sent as the secret server key, as machines do, but is invalid or has expired.
    Token,
    /// The header for the required kind of key is missing, but another header contains a key of
    /// this kind.
    OtherHeader {
        /// The required kind.
        wanted: KeyKind,
        /// The kind of key that the header is for.
        header: KeyKind,
    },
}

impl KeySlip {
    /// Finds the likely mistake in a request. `wanted` is the kind of key for the request's access
    /// level; `keys` are the keys in the headers, each with the kind of key that its header is for.
    pub fn of(wanted: KeyKind, keys: &[(KeyKind, Option<&str>)]) -> Self {
        let sent = |header: KeyKind| keys.iter().find(|(kind, _)| *kind == header).and_then(|(_, key)| *key);
        let Some(key) = sent(wanted) else {
            let header = KeyKind::ALL.into_iter().find(|header| sent(*header).and_then(KeyKind::by_prefix) == Some(wanted));
            return header.map_or(Self::None, |header| Self::OtherHeader { wanted, header });
        };
        match KeyKind::by_prefix(key) {
            Some(holds) if holds != wanted => Self::OtherKind { header: wanted, holds },
            Some(_) => Self::None,
            // A JWT begins with `{"` in base64.
            None if wanted == KeyKind::SecretServer && key.starts_with("eyJ") => Self::Token,
            None => Self::NoPrefix(wanted),
        }
    }
}

/// The header for a kind of key, the access level that the key proves, and the name of the kind.
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
            Self::Token => f.write_str(": the access token has expired or does not belong to a server of this project; get a new token"),
            Self::OtherHeader { wanted, header } => {
                write!(f, ": {} contains a key of this kind; send the key in {}", place(header).0, place(wanted).0)
            }
            Self::OtherKind { header, holds } => {
                let ((wrong, ..), (right, access, name)) = (place(header), place(holds));
                let prefix = holds.prefix();
                write!(f, ": {wrong} contains a {name} ({prefix}…), which belongs in {right} with the access level {access}")?;
                if header == KeyKind::PublishableClient {
                    f.write_str("; replace the key if it was ever in a browser or an app")?;
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
    fn a_misplaced_key_is_reported_with_the_header_where_it_belongs() {
        let (client, server) = (KeyKind::PublishableClient, KeyKind::SecretServer);
        assert_eq!(
            slip(client, Some("ssk_abc"), None),
            ": X-Service-Publishable-Client-Key contains a secret server key (ssk_…), which belongs in \
             X-Service-Secret-Server-Key with the access level server; replace the key if it was ever in a browser or an app"
        );
        let moved = ": X-Service-Publishable-Client-Key contains a key of this kind; send the key in X-Service-Secret-Server-Key";
        assert_eq!(slip(server, Some("ssk_abc"), None), moved);
        assert_eq!(slip(server, None, Some("abc")), ": a secret server key begins with ssk_");
        assert!(slip(server, None, Some("eyJhbGciOiJFUzI1NiJ9.e30.c")).starts_with(": the access token has expired"));
        assert_eq!(slip(client, Some("eyJhbGciOiJFUzI1NiJ9.e30.c"), None), ": a publishable client key begins with pck_");
        assert_eq!(slip(server, Some("pck_abc"), Some("ssk_abc")), "", "a key of the right kind may still be unknown");
        assert_eq!(slip(server, None, None), "");
    }
}
