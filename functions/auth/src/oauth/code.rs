//! Authorization codes, which contain their user's id.

use flows::App;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;
use wire::id::UserId;

/// A new code for a user.
pub(crate) fn new(app: &App, user: UserId) -> SecretString {
    let random = Uuid::from_bytes(app.entropy.bytes());
    format!("{}{}", user.uuid().as_simple(), random.as_simple()).into()
}

/// The user of a code; `None` if it is malformed.
pub(crate) fn user_of(code: &SecretString) -> Option<UserId> {
    let code = code.expose_secret();
    let is_code = code.len() == 64 && code.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let user = code.get(..32).filter(|_| is_code)?;
    UserId::parse(&Uuid::try_parse(user).ok()?.to_string()).ok()
}
