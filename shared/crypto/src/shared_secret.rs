//! HMAC (RFC 2104) with a shared secret, namely the client secret at an OAuth provider.

use ring::hmac::{self, Algorithm, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512};
use secrecy::{ExposeSecret as _, SecretString};

/// The HMAC-SHA256 of a text in hexadecimal digits.
pub fn hmac_sha256_hex(secret: &SecretString, text: &str) -> String {
    base16ct::lower::encode_string(hmac::sign(&key(HMAC_SHA256, secret), text.as_bytes()).as_ref())
}

/// Whether `signature` is the signature of a JWS with one of the HMAC algorithms (RFC 7518 §3.2);
/// `None` for any other algorithm. The caller must know that the issuer uses this algorithm;
/// otherwise, an attacker could choose the algorithm.
pub fn verify_hmac(algorithm: &str, secret: &SecretString, message: &[u8], signature: &[u8]) -> Option<bool> {
    let algorithm = match algorithm {
        "HS256" => HMAC_SHA256,
        "HS384" => HMAC_SHA384,
        "HS512" => HMAC_SHA512,
        _ => return None,
    };
    Some(hmac::verify(&key(algorithm, secret), message, signature).is_ok())
}

fn key(algorithm: Algorithm, secret: &SecretString) -> hmac::Key {
    hmac::Key::new(algorithm, secret.expose_secret().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231 §4.3.
    #[test]
    fn the_hmac_is_that_of_rfc_4231() {
        let secret = SecretString::from("Jefe".to_owned());
        let text = "what do ya want for nothing?";
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hmac_sha256_hex(&secret, text), expected);
        let signature = hmac::sign(&key(HMAC_SHA512, &secret), text.as_bytes());
        assert_eq!(verify_hmac("HS512", &secret, text.as_bytes(), signature.as_ref()), Some(true));
        assert_eq!(verify_hmac("HS256", &secret, text.as_bytes(), signature.as_ref()), Some(false));
        assert_eq!(verify_hmac("none", &secret, text.as_bytes(), signature.as_ref()), None);
        assert_eq!(verify_hmac("RS256", &secret, text.as_bytes(), signature.as_ref()), None);
    }
}
