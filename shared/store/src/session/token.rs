//! Refresh tokens, which name their session: the ids of the user and of the session, 32 characters
//! each, and a secret of 45. So the session is found without an item that leads from the token to
//! it. Whoever holds the token knows both ids from its access tokens anyway.
//!
//! Tokens of earlier versions are only a secret; the item at the key [`key`] names their session.

use crypto::digest::Digest;
use model::session::Session;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::{ProjectId, SessionId, UserId};

use crate::error::Error;
use crate::item::{Item, Key, entity};
use crate::session::session_key;
use crate::session::uses::Uses;

/// The attribute of a session with the digest of its refresh token.
pub(super) const DIGEST: &str = "token";
/// The length of an id in a token.
const ID: usize = 32;
/// The length of the secret in a token.
const SECRET: usize = 45;

/// The session that a refresh token belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenClaim {
    /// The user.
    pub user_id: UserId,
    /// The session.
    pub session_id: SessionId,
    /// The uses of the token; absent for a token of an earlier version.
    #[serde(skip)]
    pub uses: Option<Uses>,
}

impl TokenClaim {
    /// The session that a token names, whether or not the token is genuine; `None` for a token of
    /// an earlier version and for other texts.
    fn named(token: &SecretString) -> Option<Self> {
        let (user, rest) = token.expose_secret().split_at_checked(ID)?;
        let (session, secret) = rest.split_at_checked(ID)?;
        let id = |text: &str| Uuid::try_parse(text).ok();
        let named = Self { user_id: id(user)?.into(), session_id: id(session)?.into(), uses: None };
        (secret.len() == SECRET).then_some(named)
    }
}

/// A new refresh token of a session.
pub fn draw(session: &Session, entropy: &Entropy) -> SecretString {
    let (user, id) = (session.user_id.uuid(), session.id.uuid());
    format!("{}{}{}", user.simple(), id.simple(), entropy.code().expose_secret()).into()
}

pub(super) fn digest(token: &SecretString) -> String {
    Digest::of(token.expose_secret()).as_str().to_owned()
}

/// The key of the item by which [`claim`] decides: the session that the token names, or the claim
/// of a token of an earlier version.
pub fn key(project: &ProjectId, token: &SecretString) -> Key {
    match TokenClaim::named(token) {
        Some(named) => session_key(project, named.user_id, named.session_id),
        None => Key::new(format!("R#{project}#{}", digest(token)), "CLAIM"),
    }
}

/// The session of a refresh token, from the item at the token's [`key`]; `None` if the session has
/// another token.
pub fn claim(item: Item, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
    let Some(named) = TokenClaim::named(token) else { return entity(item).map(Some) };
    let stored = item.get(DIGEST).and_then(|value| value.as_s().ok()).map_or("", String::as_str);
    let is_genuine: bool = stored.as_bytes().ct_eq(digest(token).as_bytes()).into();
    if !is_genuine {
        return Ok(None);
    }
    Ok(Some(TokenClaim { uses: Some(Uses::of(item)?), ..named }))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use model::project::SessionSettings;
    use model::user::User;

    use super::*;
    use crate::item::string;

    #[test]
    fn a_token_opens_only_the_session_that_was_written_with_it() {
        let (entropy, now) = (Entropy::system(), Timestamp::UNIX_EPOCH);
        let user = User::new(&entropy, now);
        let session = Session::start(&user, &SessionSettings::default(), None, &entropy, now);
        let (token, other) = (draw(&session, &entropy), draw(&session, &entropy));
        let entity = || serde_dynamo::to_attribute_value(&session).expect("serialisable");
        let item = |token: &SecretString| Item::from([(DIGEST.to_owned(), string(digest(token))), ("d".to_owned(), entity())]);
        let own = claim(item(&token), &token).expect("readable").expect("genuine");
        assert_eq!((own.user_id, own.session_id), (user.id, session.id));
        assert_eq!(claim(item(&other), &token).expect("readable"), None);
        assert_eq!(claim(Item::new(), &token).expect("readable"), None, "sessions of earlier versions have no digest");
        assert_eq!(key(&ProjectId::internal(), &token), key(&ProjectId::internal(), &other));
    }

    #[test]
    fn other_texts_name_no_session() {
        for text in [String::new(), "0".repeat(45), "0".repeat(108), "g".repeat(109), "é".repeat(60)] {
            let token = SecretString::from(text);
            assert!(TokenClaim::named(&token).is_none());
            assert!(key(&ProjectId::internal(), &token).pk.starts_with("R#"));
        }
    }
}
