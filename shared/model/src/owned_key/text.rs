//! The format of the API keys of users and teams. Only the digest and the last four characters of a
//! key are stored.
//!
//! | part | characters | value |
//! |---|---|---|
//! | prefix | 3 | `sk_`, or `pk_` for a public key |
//! | secret | 45 | random, 225 bits |
//! | project | 32 | the UUID of the project in hexadecimal; zeros for the project `internal` |
//! | owner | 32 | the UUID of the user or team in hexadecimal |
//! | type | 4 | `user` or `team` |
//! | flags | 1 | bit 0: issued by a self-hosted deployment (always set), bit 1: public |
//! | marker | 9 | [`MARKER`], for secret scanners |
//! | checksum | 8 | CRC-32 (ISO-HDLC) of all of the above, in hexadecimal |
//!
//! The key contains the id of its owner, so a check reads the owner's item without an index. The
//! checksum rejects mistyped keys and most other strings before the table is read.

use crypto::digest::Digest;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::{ProjectId, TeamId, UserId};

use crate::owned_key::owner::Owner;

/// The marker in every key.
pub const MARKER: &str = "g4t3l3tk3";
/// Length of a key in characters.
pub const LENGTH: usize = 134;
const SECRET: usize = 45;
const ID: usize = 32;
const SELF_HOSTED: u8 = 1;
const PUBLIC: u8 = 2;

/// The text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not an API key of a user or team")]
pub struct KeyRefusal;

/// The plaintext of a key, and the data that the plaintext contains. A key with this text need not
/// exist.
pub struct KeyText {
    /// The project in the key.
    pub project: ProjectId,
    /// The owner in the key.
    pub owner: Owner,
    /// Whether the key may be published.
    pub is_public: bool,
    text: SecretString,
}

impl KeyText {
    /// A new random key.
    pub fn random(project: &ProjectId, owner: Owner, is_public: bool, entropy: &Entropy) -> Self {
        let prefix = if is_public { "pk" } else { "sk" };
        let project_uuid = Uuid::try_parse(project.as_str()).unwrap_or_default();
        let flags = SELF_HOSTED | if is_public { PUBLIC } else { 0 };
        let secret = entropy.code();
        let secret = secret.expose_secret();
        let (kind, owner_uuid) = (owner.kind().name(), owner.uuid().simple());
        let body = format!("{prefix}_{secret}{}{owner_uuid}{kind}{flags}{MARKER}", project_uuid.simple());
        let text = format!("{body}{}", checksum(&body)).into();
        Self { project: project.clone(), owner, is_public, text }
    }

    /// Parses a key.
    pub fn parse(text: &str) -> Result<Self, KeyRefusal> {
        Self::read(text).ok_or(KeyRefusal)
    }

    fn read(text: &str) -> Option<Self> {
        let (body, sum) = text.split_at_checked(LENGTH - 8)?;
        if text.len() != LENGTH || checksum(body) != sum {
            return None;
        }
        let (prefix, rest) = body.split_at_checked("sk_".len())?;
        let (_secret, rest) = rest.split_at_checked(SECRET)?;
        let (project, rest) = rest.split_at_checked(ID)?;
        let (owner, rest) = rest.split_at_checked(ID)?;
        let (kind, rest) = rest.split_at_checked("user".len())?;
        let flags: u8 = rest.strip_suffix(MARKER)?.parse().ok()?;
        let is_public = flags & PUBLIC != 0;
        if prefix != if is_public { "pk_" } else { "sk_" } {
            return None;
        }
        let project = Uuid::try_parse(project).ok()?;
        let project = if project.is_nil() { ProjectId::internal() } else { ProjectId::from(project) };
        let owner = Uuid::try_parse(owner).ok()?;
        let owner = match kind {
            "user" => Owner::User(UserId::from(owner)),
            "team" => Owner::Team(TeamId::from(owner)),
            _ => return None,
        };
        Some(Self { project, owner, is_public, text: text.to_owned().into() })
    }

    /// The plaintext.
    pub fn text(&self) -> &str {
        self.text.expose_secret()
    }

    /// The digest of the key, which is stored in place of the key.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text())
    }

    /// The plaintext as a secret; rate limits count uses of the key by its digest.
    pub fn secret(&self) -> &SecretString {
        &self.text
    }

    /// The last four characters, which help people recognize a key.
    pub fn last_four(&self) -> &str {
        self.text().get(LENGTH - 4..).unwrap_or_default()
    }
}

fn checksum(body: &str) -> String {
    format!("{:08x}", crc32fast::hash(body.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(is_public: bool) -> KeyText {
        let entropy = Entropy::system();
        KeyText::random(&ProjectId::from(entropy.uuid()), Owner::Team(TeamId::from(entropy.uuid())), is_public, &entropy)
    }

    #[test]
    fn a_key_contains_its_project_owner_and_flags() {
        for is_public in [false, true] {
            let key = key(is_public);
            assert_eq!(key.text().len(), LENGTH);
            let read = KeyText::parse(key.text()).expect("a key");
            assert_eq!((&read.project, read.owner, read.is_public), (&key.project, key.owner, is_public));
            assert_eq!(read.digest(), key.digest());
            assert!(key.text().ends_with(key.last_four()));
        }
    }

    #[test]
    fn a_key_of_the_internal_project_names_it() {
        let entropy = Entropy::system();
        let key = KeyText::random(&ProjectId::internal(), Owner::User(UserId::from(entropy.uuid())), false, &entropy);
        assert!(KeyText::parse(key.text()).expect("a key").project.is_internal());
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let key = key(false);
        let text = key.text();
        for at in 0..text.len() {
            for other in ["0", "1", "a", "z", "_"] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                assert_eq!(KeyText::parse(&changed).is_ok(), changed == text, "{at}");
            }
        }
        for text in ["", "sk_", &text[1..], &format!("{text}0"), &"é".repeat(LENGTH / 2)] {
            assert!(KeyText::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_has_one_spelling() {
        let key = key(false);
        let upper = key.text().to_uppercase();
        assert!(KeyText::parse(&upper).is_err());
        // A wrong flag, type or prefix is refused even if the checksum is right.
        for (from, to) in [("team1", "team3"), ("team1", "them1"), ("sk_", "xx_")] {
            let body = key.text()[..LENGTH - 8].replacen(from, to, 1);
            assert!(KeyText::parse(&format!("{body}{}", checksum(&body))).is_err(), "{to}");
        }
    }
}
