//! Randomness as an argument. Only this module asks the system for randomness, apart from
//! `crypto::jws`, which draws the nonces of signatures.

use std::sync::Arc;

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::SecretString;
use uuid::Uuid;

/// Lower-case Crockford base32. The alphabet does not contain `i`, `l`, `o` and `u`, so a code can
/// be read aloud and typed.
const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The letters of codes that people type from another screen (RFC 8628 §6.1). Digits and vowels are
/// left out; without vowels, a code cannot spell a word.
pub const TYPED_LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// Converts each byte to a character of lower-case Crockford base32, using the lowest five bits of
/// the byte.
pub fn crockford(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(CROCKFORD[usize::from(byte & 31)])).collect()
}

/// The source of an `App`'s random bytes, which are cryptographically secure in production.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

impl Entropy {
    /// The operating system's generator. Panics if the system cannot provide randomness, because
    /// nothing would be secure without it.
    pub fn system() -> Self {
        let system = SystemRandom::new();
        #[expect(clippy::expect_used, reason = "nothing secure can be done without randomness")]
        Self(Arc::new(move |bytes| system.fill(bytes).expect("the system provides randomness")))
    }

    /// A generator that gets its bytes from `fill`, so that tests can make the bytes predictable.
    pub fn new(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.0)(&mut bytes);
        bytes
    }

    /// A version 4 UUID, for ids that must not reveal when they were created.
    pub fn uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.bytes()).into_uuid()
    }

    /// A version 7 UUID (RFC 9562 §5.7), for ids that sort by creation time.
    pub fn ordered_uuid(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes()).into_uuid()
    }

    /// 45 characters of lower-case Crockford base32 (225 random bits), for codes, refresh tokens
    /// and keys.
    pub fn code(&self) -> SecretString {
        crockford(&self.bytes::<45>()).into()
    }

    /// 16 characters of lower-case Crockford base32 (80 random bits), for the id of a request.
    pub fn request_id(&self) -> String {
        crockford(&self.bytes::<16>())
    }

    /// Eight of the [`TYPED_LETTERS`] (nearly 35 random bits), for codes that expire within
    /// minutes.
    pub fn typed_code(&self) -> String {
        let mut code = String::new();
        while code.len() < 8 {
            // If bytes from 240 on were used, the first 16 letters would be more likely than the
            // last four.
            let fair = self.bytes::<16>().into_iter().filter(|byte| *byte < 240);
            code.extend(fair.map(|byte| char::from(TYPED_LETTERS[usize::from(byte % 20)])).take(8 - code.len()));
        }
        code
    }

    /// A number in [0, 1), for random delays.
    pub fn fraction(&self) -> f64 {
        f64::from(u32::from_le_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }
}
