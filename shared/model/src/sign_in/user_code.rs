//! Authorization codes: 64 hexadecimal digits. The first half is the user's id, so that the code
//! and the user are read in one round trip. The second half is random.

use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::UserId;

/// A new code for a user.
pub fn draw(entropy: &Entropy, user: UserId) -> SecretString {
    let random = Uuid::from_bytes(entropy.bytes());
    format!("{}{}", user.uuid().as_simple(), random.as_simple()).into()
}

/// The user to whom a code belongs; `None` if the code is malformed.
pub fn user_of(code: &SecretString) -> Option<UserId> {
    let code = code.expose_secret();
    let is_code = code.len() == 64 && code.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let user = code.get(..32).filter(|_| is_code)?;
    UserId::parse(&Uuid::try_parse(user).ok()?.to_string()).ok()
}
