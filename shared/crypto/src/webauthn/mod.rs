//! Verification of the data that authenticators sign (Web Authentication Level 3): pure functions
//! on bytes. The rules of a project, such as its origins, are in the crate `model`.
//!
//! We use our own code, because a crate would add more code than it saves. `webauthn_rp` and
//! `webauthn-rs-core` verify signatures with RustCrypto, a second crypto stack in addition to ring.
//! Most of `webauthn-rs-core` is for attestation, which we do not request. Our code has to support
//! only two formats and three algorithms. Our code adds 70 KB to a zipped function, whereas the
//! crates add 307 and 475 KB. A process's first registration and sign-in take 0.09 ms with our
//! code, and 0.71 and 0.62 ms with the crates (infra/README.md, *How functions are built*;
//! `tests/passkeys/verifiers/run`).
//!
//! Attestation statements are not evaluated: options request the format `none`, so a statement in
//! another format is unsolicited (§6.5.4, §7.1 step 24).

pub mod authenticator_data;
pub mod client_data;
pub mod public_key;

mod cbor;

/// Why the response of an authenticator is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The response or a part of it cannot be parsed.
    #[error("{0} is malformed")]
    Malformed(&'static str),
    /// The response is from a registration instead of a sign-in, or vice versa.
    #[error("the response has the wrong type: expected webauthn.create for a registration, webauthn.get for a sign-in")]
    WrongType,
    /// The response is for another challenge.
    #[error("the response is for another challenge")]
    WrongChallenge,
    /// The page was in a frame of another origin.
    #[error("the page is in a frame of another origin")]
    CrossOrigin,
    /// The response is for another relying party.
    #[error("the passkey belongs to another site")]
    WrongRelyingParty,
    /// The authenticator did not confirm that a user was present.
    #[error("nobody confirmed the use of the passkey")]
    NoUserPresent,
    /// The authenticator did not verify the user.
    #[error("the device did not verify the user, which is required")]
    UserNotVerified,
    /// The backup flags contradict each other.
    #[error("the backup flags of the passkey contradict each other")]
    BackupFlags,
    /// The key is invalid, or its algorithm was not offered.
    #[error("the key of the passkey is not supported")]
    UnsupportedKey,
    /// The signature is wrong.
    #[error("the signature is wrong")]
    WrongSignature,
}
