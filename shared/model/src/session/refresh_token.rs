//! Refresh tokens of 90 characters: the ids of the user and the session (32 hexadecimal digits
//! each), and 26 characters that prove that the token was issued to the caller.
//!
//! The selector is the random part of the session's id (RFC 9562 §5.7: 74 bits and the variant) in
//! hexadecimal digits. The claim can therefore be found by the token or by the id, without an
//! index. The selector is not secret, because access tokens contain the id. The 26 characters are
//! 130 random bits in Crockford base32. Tokens from earlier versions consist of 45 random
//! characters.

use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::{SessionId, UserId};

use crate::session::Session;

/// The length of an id, in characters.
const ID: usize = 32;
/// The length of the part that proves that the token was issued to the caller, in characters.
const PROOF: usize = 26;
/// The length of the selector in a token from an earlier version, in characters.
const SELECTOR: usize = 19;

/// A new refresh token of a session.
pub fn draw(entropy: &Entropy, session: &Session) -> SecretString {
    let (random, user, id) = (entropy.code(), session.user_id.uuid(), session.id.uuid());
    format!("{}{}{}", user.as_simple(), id.as_simple(), &random.expose_secret()[..PROOF]).into()
}

/// The ids of the user and the session in a refresh token; `None` for a token from an earlier
/// version.
pub fn session_in(token: &SecretString) -> Option<(UserId, SessionId)> {
    let token = token.expose_secret();
    let id = |from: usize| Uuid::try_parse(token.get(from..from + ID).filter(|digits| digits.bytes().all(is_digit))?).ok();
    if token.len() == 2 * ID + PROOF { Some((id(0)?.into(), id(ID)?.into())) } else { None }
}

/// The selector in the refresh token of a session from an earlier version.
pub fn older_selector(session: SessionId) -> String {
    session.uuid().as_simple().to_string().split_off(ID - SELECTOR)
}

/// The selector in a refresh token from an earlier version; `None` if the token does not begin with
/// 19 hexadecimal digits. Tokens from still earlier versions almost never begin with such digits.
pub fn older_selector_in(token: &SecretString) -> Option<&str> {
    token.expose_secret().get(..SELECTOR).filter(|selector| selector.bytes().all(is_digit))
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::SessionSettings;
    use crate::user::User;

    fn session() -> Session {
        let entropy = Entropy::new(|bytes| bytes.fill(17));
        let now = jiff::Timestamp::UNIX_EPOCH;
        let session = Session::start(&User::new(&entropy, now), &SessionSettings::default(), None, &entropy, now);
        let id = SessionId::parse("018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81").expect("an id");
        Session { id, user_id: UserId::parse("3f0e3c1a-9c0b-4a54-8d1c-0b5f6a7e8d90").expect("an id"), ..session }
    }

    #[test]
    fn a_token_names_its_user_and_session() {
        let (session, entropy) = (session(), Entropy::new(|bytes| bytes.fill(17)));
        let token = draw(&entropy, &session);
        assert_eq!(token.expose_secret(), "3f0e3c1a9c0b4a548d1c0b5f6a7e8d90018f0b6c1e2f7b4d8a345b9f0c6d7e81hhhhhhhhhhhhhhhhhhhhhhhhhh");
        assert_eq!(session_in(&token), Some((session.user_id, session.id)));
    }

    #[test]
    fn other_texts_name_no_session() {
        let token = draw(&Entropy::new(|bytes| bytes.fill(17)), &session()).expose_secret().to_owned();
        for other in [String::new(), token.to_uppercase(), token[1..].to_owned(), format!("{token}h"), token.replacen('a', "é", 1)] {
            assert_eq!(session_in(&other.clone().into()), None, "{other}");
        }
    }

    #[test]
    fn a_token_of_an_earlier_version_names_the_random_part_of_its_session() {
        let selector = older_selector(session().id);
        assert_eq!(selector, "b4d8a345b9f0c6d7e81");
        assert_eq!(older_selector_in(&format!("{selector}{}", "h".repeat(26)).into()), Some(selector.as_str()));
        for token in
            ["", "b4d8a345b9f0c6d7e8", "7c2v9xq4hb1mz8tk5wr0ydn3gjp6sfea7c2v9xq4hb1mz", "b4d8a345b9f0c6d7e8é", "B4D8A345B9F0C6D7E81"]
        {
            assert_eq!(older_selector_in(&token.to_owned().into()), None, "{token}");
        }
    }
}
