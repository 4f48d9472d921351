//! Refresh tokens of 45 characters: the first 19 select the claim of the session's token, the other
//! 26 prove that the caller was given the token.
//!
//! The selector is the random part of the session's id (RFC 9562 §5.7: 74 bits and the variant) in
//! hexadecimal digits, so the claim can be found by the token or the id, without an index. It is
//! not secret: access tokens contain the id. The 26 characters are Crockford base32 and have 130
//! random bits. Tokens from earlier versions are 45 random characters.

use secrecy::{ExposeSecret as _, SecretString};
use wire::entropy::Entropy;
use wire::id::SessionId;

/// The length of a selector.
const SELECTOR: usize = 19;

/// A new refresh token of a session.
pub fn draw(entropy: &Entropy, session: SessionId) -> SecretString {
    let random = entropy.code();
    format!("{}{}", selector(session), &random.expose_secret()[SELECTOR..]).into()
}

/// The selector of a session's refresh token.
pub fn selector(session: SessionId) -> String {
    session.uuid().as_simple().to_string().split_off(32 - SELECTOR)
}

/// The selector in a refresh token; `None` if the token does not begin with 19 hexadecimal digits,
/// like nearly all tokens from earlier versions.
pub fn selector_in(token: &SecretString) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    token.expose_secret().get(..SELECTOR).filter(|selector| selector.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81").expect("an id")
    }

    #[test]
    fn a_token_names_the_random_part_of_its_session() {
        let entropy = Entropy::new(|bytes| bytes.fill(17));
        let token = draw(&entropy, session());
        assert_eq!(token.expose_secret(), "b4d8a345b9f0c6d7e81hhhhhhhhhhhhhhhhhhhhhhhhhh");
        assert_eq!(selector_in(&token), Some(selector(session()).as_str()));
    }

    #[test]
    fn other_tokens_have_no_selector() {
        for token in
            ["", "b4d8a345b9f0c6d7e8", "7c2v9xq4hb1mz8tk5wr0ydn3gjp6sfea7c2v9xq4hb1mz", "b4d8a345b9f0c6d7e8é", "B4D8A345B9F0C6D7E81"]
        {
            assert_eq!(selector_in(&token.to_owned().into()), None, "{token}");
        }
    }
}
