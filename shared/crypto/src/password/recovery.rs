//! Recovery codes, each of which can replace a code from the authenticator app once.
//!
//! A recovery code has as many characters as a code from the app, because the pages of published
//! SDKs show one box per character. The letter in a recovery code distinguishes it from a code from
//! the app. A recovery code has only 29 bits, so it is hashed like a password, and guesses are
//! limited (SP 800-63B-4, §3.1.2.2). All codes of a set share a salt, so one hash is enough to
//! compare a typed code with all of them.

use argon2::password_hash::Error;
use argon2::password_hash::phc::Output;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use wire::entropy::Entropy;

use crate::password::hash::{Hasher, output};

/// The number of codes in a set.
pub const COUNT: usize = 10;
/// The number of characters in a code.
const LENGTH: usize = 6;
/// Digits and letters without `0`, `1`, `I`, `L` and `O`, which look alike.
const ALPHABET: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
/// The length of a hash in bytes, more than enough for a code of 29 bits.
const HASH: usize = 16;
/// The longest text that may contain a code, in bytes.
const MAX_PASTED: usize = 256;
/// The length of a salt in bytes.
const SALT: usize = 16;

/// A recovery code, in capitals.
#[derive(Clone)]
pub struct RecoveryCode(SecretString);

impl RecoveryCode {
    /// A typed code, in any case, with any spaces and hyphens; `None` for text that cannot be a
    /// recovery code, such as a code from an authenticator app.
    pub fn parse(typed: &str) -> Option<Self> {
        if typed.len() > MAX_PASTED {
            return None;
        }
        let text = wire::typed::typed(typed).to_ascii_uppercase();
        let is_code = text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte));
        (is_code && text.bytes().any(|byte| byte.is_ascii_uppercase())).then(|| Self(text.into()))
    }

    /// The codes of a new set, all different.
    pub fn draw(entropy: &Entropy) -> Vec<Self> {
        let mut codes: Vec<Self> = Vec::with_capacity(COUNT);
        while codes.len() < COUNT {
            let bytes: [u8; 2 * LENGTH] = entropy.bytes();
            // Five bits have 32 values, but the alphabet has only 31 characters, so one value is
            // skipped.
            let characters = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 31)));
            let text: String = characters.take(LENGTH).map(|byte| char::from(*byte)).collect();
            codes.extend(Self::parse(&text).filter(|new| codes.iter().all(|code| code.text() != new.text())));
        }
        codes
    }

    /// The text to show to the user.
    pub fn text(&self) -> &str {
        self.0.expose_secret()
    }
}

/// The hashes of a set of codes (argon2id), with their parameters and salt.
#[derive(Clone)]
pub struct HashedCodes {
    params: Params,
    salt: [u8; SALT],
    hashes: Vec<Output>,
}

/// A code that a user has entered, hashed like the codes of a set.
#[derive(Clone)]
pub struct HashedCode(Output);

impl HashedCodes {
    /// The number of unused codes.
    pub fn count(&self) -> usize {
        self.hashes.len()
    }

    /// The set after this code has been used; `None` if the code is not in the set.
    pub fn without(&self, code: &HashedCode) -> Option<Self> {
        // Every hash is compared, each in constant time.
        let others: Vec<Output> = self.hashes.iter().filter(|hash| **hash != code.0).copied().collect();
        (others.len() < self.hashes.len()).then(|| Self { hashes: others, ..self.clone() })
    }

    /// The set as text, ready to be sealed; [`Self::parse`] reads it back.
    pub fn text(&self) -> SecretString {
        let mut text = format!("{},{}${}", self.params.m_cost(), self.params.t_cost(), STANDARD_NO_PAD.encode(self.salt));
        for hash in &self.hashes {
            text.push('$');
            text.push_str(&STANDARD_NO_PAD.encode(hash));
        }
        text.into()
    }

    /// Parses the text that [`Self::text`] returns; `None` for any other text.
    pub fn parse(text: &SecretString) -> Option<Self> {
        let mut parts = text.expose_secret().split('$');
        let (memory, passes) = parts.next()?.split_once(',')?;
        let params = params(memory.parse().ok()?, passes.parse().ok()?)?;
        let salt = STANDARD_NO_PAD.decode(parts.next()?).ok()?.try_into().ok()?;
        let hash = |part| Output::new(&STANDARD_NO_PAD.decode(part).ok()?).ok();
        Some(Self { params, salt, hashes: parts.map(hash).collect::<Option<_>>()? })
    }
}

/// The parameters of a set: the same as for passwords, but with shorter hashes.
fn params(memory: u32, passes: u32) -> Option<Params> {
    Params::new(memory, passes, 1, Some(HASH)).ok()
}

fn hash(params: &Params, salt: &[u8], code: &RecoveryCode) -> Result<Output, Error> {
    output(&Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone()), code.text(), salt)
}

impl Hasher {
    /// Hashes the codes of a new set one after the other, on a single thread.
    #[expect(clippy::expect_used, reason = "the parameters are those of passwords, which are valid")]
    pub async fn hash_codes(&self, entropy: &Entropy, codes: &[RecoveryCode]) -> HashedCodes {
        let (salt, codes) = (entropy.bytes(), codes.to_vec());
        let params = params(self.params().m_cost(), self.params().t_cost()).expect("valid parameters");
        self.run(move || {
            let hashes = codes.iter().map(|code| hash(&params, &salt, code).expect("valid parameters")).collect();
            HashedCodes { params, salt, hashes }
        })
        .await
    }

    /// Hashes a code with the salt and the parameters of a set. Without a set, uses a fixed salt
    /// and the current parameters, so that hashing takes as long as for a newly created set.
    #[expect(clippy::expect_used, reason = "the parameters of a set were checked when it was made or read")]
    pub async fn hash_code(&self, set: Option<&HashedCodes>, code: &RecoveryCode) -> HashedCode {
        let (code, salt) = (code.clone(), set.map_or([0; SALT], |set| set.salt));
        let params = set.map_or_else(|| params(self.params().m_cost(), self.params().t_cost()), |set| Some(set.params.clone()));
        let params = params.expect("valid parameters");
        self.run(move || HashedCode(hash(&params, &salt, &code).expect("valid parameters"))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> RecoveryCode {
        RecoveryCode::parse(text).unwrap_or_else(|| panic!("{text} is not a code"))
    }

    #[test]
    fn a_code_is_read_in_any_case_with_spaces_and_hyphens() {
        for typed in ["AB2C9Z", "ab2c9z", " ab2-c9z ", "Ab 2c\u{a0}9Z\n", "a-b-2-c-9-z", "ＡＢ2C9Z", "AB2\u{2013}C9Z\u{200b}"] {
            assert_eq!(code(typed).text(), "AB2C9Z", "{typed}");
        }
    }

    #[test]
    fn other_text_is_not_a_code() {
        let others =
            ["", "-", "AB2C9", "AB2C9ZZ", "234567", "082995", "AB2C90", "AB2C91", "AB2C9O", "AB2C9I", "AB2C9L", "AB2C9ß", "AB2C9_"];
        for typed in others {
            assert!(RecoveryCode::parse(typed).is_none(), "{typed}");
        }
        assert!(RecoveryCode::parse(&"A".repeat(1_000_000)).is_none());
    }

    #[test]
    fn a_set_has_ten_different_codes_of_all_characters() {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let codes = RecoveryCode::draw(&Entropy::system());
            let distinct: std::collections::BTreeSet<&str> = codes.iter().map(RecoveryCode::text).collect();
            assert_eq!((codes.len(), distinct.len()), (COUNT, COUNT));
            assert!(codes.iter().all(|code| code.text().bytes().any(|byte| byte.is_ascii_alphabetic())));
            seen.extend(codes.iter().flat_map(|code| code.text().bytes()).collect::<Vec<_>>());
        }
        assert!(ALPHABET.iter().all(|byte| seen.contains(byte)) && seen.len() == ALPHABET.len());
    }

    #[tokio::test]
    async fn a_set_knows_its_codes_until_they_are_used() {
        let (hasher, entropy) = (Hasher::new(64, 1), Entropy::system());
        let codes = RecoveryCode::draw(&entropy);
        let set = hasher.hash_codes(&entropy, &codes).await;
        // The code is hashed with the set's parameters, not with those of `later`.
        let later = Hasher::new(128, 2);
        let set = HashedCodes::parse(&set.text()).expect("the text of a set");
        let first = later.hash_code(Some(&set), &codes[0]).await;
        let left = set.without(&first).expect("the set has it");
        assert_eq!((set.count(), left.count()), (10, 9));
        assert!(left.without(&first).is_none());
        for code in &codes[1..] {
            assert!(left.without(&later.hash_code(Some(&left), code).await).is_some());
        }
        let other = RecoveryCode::draw(&entropy).remove(0);
        assert!(set.without(&later.hash_code(Some(&set), &other).await).is_none());
        assert!(set.without(&later.hash_code(None, &codes[0]).await).is_none(), "another salt");
        let second = hasher.hash_codes(&entropy, &codes).await;
        assert!(second.without(&first).is_none(), "another set of the same codes");
    }

    #[test]
    fn malformed_text_is_not_a_set() {
        let salt = STANDARD_NO_PAD.encode([7; SALT]);
        assert!(HashedCodes::parse(&format!("64,1${salt}").into()).is_some_and(|set| set.count() == 0), "every code was used");
        for text in
            [String::new(), "64,1".to_owned(), format!("64${salt}"), format!("1,1${salt}"), format!("64,1${salt}$?"), "64,1$AAAA".into()]
        {
            assert!(HashedCodes::parse(&text.clone().into()).is_none(), "{text}");
        }
    }
}
