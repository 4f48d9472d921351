//! Authenticator data (Web Authentication Level 3, §6.1): an authenticator's signed statement about
//! the site, the user and the credential. In a registration, the authenticator data is part of an
//! attestation object.

use ciborium::Value;
use ring::digest::{SHA256, digest};

use crate::webauthn::public_key::PublicKey;
use crate::webauthn::{Refusal, cbor};

/// The longest id of a credential, in bytes (§7.1 step 25).
pub const MAX_CREDENTIAL_ID: usize = 1023;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const ATTESTED_CREDENTIAL: u8 = 1 << 6;
const EXTENSIONS: u8 = 1 << 7;

/// Authenticator data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticatorData {
    rp_id_hash: [u8; 32],
    flags: u8,
    /// The signature counter (§6.1.1), which grows with every use; 0 if the authenticator does not
    /// have one.
    pub sign_count: u32,
    /// The new credential; present only in a registration.
    pub credential: Option<Credential>,
}

/// A new credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The model of the authenticator; all zeros if the authenticator does not reveal it.
    pub aaguid: [u8; 16],
    /// The credential's id, chosen by the authenticator.
    pub id: Vec<u8>,
    /// The key that verifies the credential's signatures.
    pub public_key: PublicKey,
}

impl AuthenticatorData {
    /// Parses authenticator data; trailing bytes are refused.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        const MALFORMED: Refusal = Refusal::Malformed("authenticatorData");
        let (rp_id_hash, rest) = bytes.split_first_chunk::<32>().ok_or(MALFORMED)?;
        let (&flags, rest) = rest.split_first().ok_or(MALFORMED)?;
        let (sign_count, mut rest) = rest.split_first_chunk::<4>().ok_or(MALFORMED)?;
        let credential = if flags & ATTESTED_CREDENTIAL == 0 {
            None
        } else {
            let (credential, after) = Credential::read(rest)?;
            rest = after;
            Some(credential)
        };
        if flags & EXTENSIONS != 0 {
            let (extensions, after) = cbor::first(rest).ok_or(MALFORMED)?;
            rest = if extensions.is_map() { after } else { return Err(MALFORMED) };
        }
        if !rest.is_empty() {
            return Err(MALFORMED);
        }
        Ok(Self { rp_id_hash: *rp_id_hash, flags, sign_count: u32::from_be_bytes(*sign_count), credential })
    }

    /// Which of the permitted relying parties the authenticator data was signed for.
    pub fn relying_party<'a>(&self, permitted: &[&'a str]) -> Result<&'a str, Refusal> {
        let is_own = |id: &&str| digest(&SHA256, id.as_bytes()).as_ref() == self.rp_id_hash;
        permitted.iter().copied().find(is_own).ok_or(Refusal::WrongRelyingParty)
    }

    /// Checks the flags (§7.1 steps 15 to 18, §7.2 steps 17 to 19). The user must always be
    /// present.
    pub fn check_flags(&self, requires_user_verification: bool) -> Result<(), Refusal> {
        match () {
            () if self.flags & USER_PRESENT == 0 => Err(Refusal::NoUserPresent),
            () if requires_user_verification && !self.is_user_verified() => Err(Refusal::UserNotVerified),
            () if self.is_backed_up() && !self.is_backup_eligible() => Err(Refusal::BackupFlags),
            () => Ok(()),
        }
    }

    /// Whether the authenticator verified the user, for example with a PIN or a fingerprint.
    pub fn is_user_verified(&self) -> bool {
        self.flags & USER_VERIFIED != 0
    }

    /// Whether the credential can leave the authenticator, for example to be synchronized.
    pub fn is_backup_eligible(&self) -> bool {
        self.flags & BACKUP_ELIGIBLE != 0
    }

    /// Whether the credential is currently backed up.
    pub fn is_backed_up(&self) -> bool {
        self.flags & BACKED_UP != 0
    }
}

impl Credential {
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Refusal> {
        const MALFORMED: Refusal = Refusal::Malformed("the credential in authenticatorData");
        let (aaguid, rest) = bytes.split_first_chunk::<16>().ok_or(MALFORMED)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(MALFORMED)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (id, rest) = rest.split_at_checked(length).filter(|_| (1..=MAX_CREDENTIAL_ID).contains(&length)).ok_or(MALFORMED)?;
        let (_, after) = cbor::first(rest).ok_or(MALFORMED)?;
        let public_key = PublicKey::parse(&rest[..rest.len() - after.len()])?;
        Ok((Self { aaguid: *aaguid, id: id.to_vec(), public_key }, after))
    }
}

/// The authenticator data in the attestation object of a registration (§6.5.4). Attestation
/// statements are not evaluated, but a statement in the format `none` must be empty (§8.7).
pub fn from_attestation_object(bytes: &[u8]) -> Result<AuthenticatorData, Refusal> {
    const MALFORMED: Refusal = Refusal::Malformed("attestationObject");
    let Some(Value::Map(map)) = cbor::only(bytes) else { return Err(MALFORMED) };
    let entry = |key: &str| cbor::entry(&map, &key.into()).ok_or(MALFORMED);
    let (format, statement) = (entry("fmt")?.as_text().ok_or(MALFORMED)?, entry("attStmt")?.as_map().ok_or(MALFORMED)?);
    if format == "none" && !statement.is_empty() {
        return Err(MALFORMED);
    }
    AuthenticatorData::read(entry("authData")?.as_bytes().ok_or(MALFORMED)?)
}

/// Verifies the signature of an assertion, over the authenticator data and the digest of the client
/// data (§7.2 steps 23 and 24).
pub fn verify(key: &PublicKey, authenticator_data: &[u8], client_data: &[u8], signature: &[u8]) -> Result<(), Refusal> {
    key.verify(&[authenticator_data, digest(&SHA256, client_data).as_ref()].concat(), signature)
}
