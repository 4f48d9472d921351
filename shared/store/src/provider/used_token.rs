//! The ID tokens used to sign in, each of which works once.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | used ID token | `C#<P>#id-token#<digest of its signed part>` | `USED` | 2 units to write in the transaction of the sign-in |
//!
//! The item is kept at least as long as the token is accepted. The digest excludes the signature,
//! because with some algorithms, such as ECDSA, anyone can derive another valid signature for the
//! same text.

use crypto::digest::Digest;
use jiff::Timestamp;
use wire::id::ProjectId;

use crate::table::{Error, Key, Label, Write};

/// Marks an ID token in JWS compact serialization (RFC 7515 §7.1) as used until `expires_at`, after
/// which the token is not accepted anyway. Fails the transaction with [`Label::Code`] if the token
/// was used before. Whitespace around a token is ignored.
pub fn use_token(project: &ProjectId, token: &str, expires_at: Timestamp) -> Result<Write, Error> {
    let token = token.trim();
    let signed = token.rsplit_once('.').map_or(token, |(signed, _)| signed);
    let key = Key::new(format!("C#{project}#id-token#{}", Digest::of(signed)), "USED");
    Ok(Write::create(key, &true)?.labelled(Label::Code).expires(expires_at))
}
