//! Signatures of webhooks according to Standard Webhooks: HMAC-SHA-256 over the id, the time and
//! the body of a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};
use wire::entropy::Entropy;

/// The prefix of every secret; the rest is the key in base64.
pub const PREFIX: &str = "whsec_";
/// The length of a key, in bytes.
const KEY_LEN: usize = 32;

/// The text is not a signing secret.
#[derive(Debug, thiserror::Error)]
#[error("the signing secret of a webhook is malformed")]
pub struct SecretError;

/// A random signing secret.
pub fn new_secret(entropy: &Entropy) -> SecretString {
    let key: [u8; KEY_LEN] = entropy.bytes();
    format!("{PREFIX}{}", STANDARD.encode(key)).into()
}

/// The signature of a message, in the form `v1,<base64>`.
pub fn sign(secret: &SecretString, id: &str, at: Timestamp, body: &str) -> Result<String, SecretError> {
    let key = secret.expose_secret().strip_prefix(PREFIX).and_then(|key| STANDARD.decode(key).ok()).ok_or(SecretError)?;
    let text = format!("{id}.{}.{body}", at.as_second());
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), text.as_bytes());
    Ok(format!("v1,{}", STANDARD.encode(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the reference libraries of the specification.
    #[test]
    fn a_signature_matches_the_specification() {
        let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        let at = Timestamp::from_second(1_614_265_330).expect("a time");
        let signature = sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, r#"{"test": 2432232314}"#).expect("a secret");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_malformed_secret_signs_nothing() {
        for text in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_***"] {
            assert!(sign(&text.to_owned().into(), "msg", Timestamp::UNIX_EPOCH, "{}").is_err(), "{text}");
        }
    }
}
