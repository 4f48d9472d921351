//! Randomness, as an argument: the only place that asks the machine for it.

use std::sync::Arc;

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::SecretString;
use uuid::Uuid;

/// Lower-case Crockford base32: no `i`, `l`, `o`, `u`, so that a code can be read aloud and typed.
const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Where an [`App`](flows::App) draws random bytes; in production a cryptographically secure generator.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

impl Entropy {
    /// The operating system's generator.
    ///
    /// Panics when the system has no randomness to give: nothing secure can be done then.
    pub fn system() -> Self {
        let system = SystemRandom::new();
        #[expect(clippy::expect_used, reason = "without randomness no answer is safe")]
        Self(Arc::new(move |bytes| system.fill(bytes).expect("the system's random generator answers")))
    }

    /// A generator of a test.
    pub fn new(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.0)(&mut bytes);
        bytes
    }

    /// A version 4 UUID, for ids that must not tell their time.
    pub fn uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.bytes()).into_uuid()
    }

    /// A version 7 UUID (RFC 9562 §5.7), for ids whose order is that of their creation.
    pub fn ordered_uuid(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes()).into_uuid()
    }

    /// 45 characters of lower-case Crockford base32, 225 random bits: codes, refresh tokens and keys.
    pub fn code(&self) -> SecretString {
        let bytes: [u8; 45] = self.bytes();
        let text: String = bytes.iter().map(|byte| char::from(CROCKFORD[usize::from(byte & 31)])).collect();
        text.into()
    }

    /// 16 characters of lower-case Crockford base32: the id of a request.
    pub fn request_id(&self) -> String {
        let bytes: [u8; 16] = self.bytes();
        bytes.iter().map(|byte| char::from(CROCKFORD[usize::from(byte & 31)])).collect()
    }

    /// A number from 0 (included) to 1 (excluded), for jitter.
    pub fn fraction(&self) -> f64 {
        f64::from(u32::from_le_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }
}
