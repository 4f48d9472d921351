//! Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 30 seconds and 6 digits, the parameters
//! that every app supports.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use totp_rs::{Algorithm, Builder, Secret};
use wire::entropy::Entropy;

/// Permitted lengths of a secret in bytes: from 10 (16 characters of base32), the shortest in
/// common use, to 64, the block size of SHA-1. RFC 4226 §4 recommends 20 bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 10..=64;
/// The length of a new secret in bytes (RFC 4226 §4).
const NEW_LENGTH: usize = 20;
/// The length of a time step in seconds.
const STEP: u64 = 30;

/// A secret shared with an authenticator app, in base64.
#[derive(Clone)]
pub struct TotpSecret(SecretString);

/// The secret is not base64, or its length is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 10 to 64 bytes in base64")]
pub struct SecretRefusal;

impl TotpSecret {
    /// Accepts 10 to 64 bytes in standard base64.
    pub fn parse(text: String) -> Result<Self, SecretRefusal> {
        let length = STANDARD.decode(&text).map_err(|_| SecretRefusal)?.len();
        if LENGTHS.contains(&length) { Ok(Self(text.into())) } else { Err(SecretRefusal) }
    }

    /// A new random secret.
    pub fn draw(entropy: &Entropy) -> Self {
        Self(STANDARD.encode(entropy.bytes::<NEW_LENGTH>()).into())
    }

    /// The secret in base32 without padding, as people type it into an app.
    pub fn base32(&self) -> String {
        Secret::from(self.bytes()).to_base32()
    }

    /// The `otpauth:` URL to show as a QR code, which apps scan. The app shows the secret under the
    /// names `issuer` and `account`.
    pub fn url(&self, issuer: &str, account: &str) -> String {
        // A colon separates the two names in the URL, so the names must not contain a colon.
        let name = |text: &str| text.replace(':', " ");
        let builder = self.builder().with_issuer(Some(name(issuer))).with_account_name(name(account));
        // `to_url` rejects only names that contain a colon, and an empty account.
        builder.build_noncompliant().to_url().unwrap_or_default()
    }

    /// The secret as text, ready to be sealed; [`Self::parse`] reads it back.
    pub fn text(&self) -> &SecretString {
        &self.0
    }

    /// The time step of `code` if the code is valid at `now`. The code of the previous step is not
    /// accepted, so a code is valid for at most 30 seconds.
    pub fn check(&self, code: &str, now: Timestamp) -> Option<u64> {
        self.builder().build_noncompliant().check(code, u64::try_from(now.as_second()).ok()?)
    }

    fn builder(&self) -> Builder {
        Builder::new().with_algorithm(Algorithm::SHA1).with_digits(6).with_step_duration(STEP).with_skew(0).with_secret(self.bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        // The text is base64: Decoding cannot fail, because `parse` has checked the text, or `draw`
        // has created it.
        STANDARD.decode(self.0.expose_secret()).unwrap_or_default()
    }
}

wire::deserr_from!(TotpSecret, String, Self::parse);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totp_codes_match_the_rfc() {
        let secret = TotpSecret::parse(STANDARD.encode("12345678901234567890")).expect("a secret");
        // The codes in appendix B of RFC 6238 have eight digits; these are their last six.
        for (second, code) in [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")] {
            let at = |second: i64| Timestamp::from_second(second).expect("a time");
            let step = u64::try_from(second / 30).expect("positive");
            assert_eq!(secret.check(code, at(second)), Some(step));
            assert_eq!(secret.check(code, at(second / 30 * 30 + 29)), Some(step));
            for other in [second / 30 * 30 - 1, second / 30 * 30 + 30] {
                assert_eq!(secret.check(code, at(other)), None);
            }
        }
        for code in ["", "28708", "2870820", "287081", "+87082", " 287082", "２８７０８２"] {
            assert_eq!(secret.check(code, Timestamp::from_second(59).expect("a time")), None, "{code}");
        }
    }

    #[test]
    fn a_new_secret_is_shown_in_base32_and_as_a_url() {
        let (first, second) = (TotpSecret::draw(&Entropy::system()), TotpSecret::draw(&Entropy::system()));
        assert_ne!(first.base32(), second.base32());
        assert_eq!(first.base32().len(), 32);
        assert!(TotpSecret::parse(first.text().expose_secret().to_owned()).is_ok());
        let known = TotpSecret::parse(STANDARD.encode("12345678901234567890")).expect("a secret");
        assert_eq!(known.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let url = known.url("Acme: tools & more", "ada@example.com");
        let label = "Acme%20%20tools%20%26%20more";
        assert_eq!(url, format!("otpauth://totp/{label}:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer={label}"));
    }

    #[test]
    fn a_secret_has_10_to_64_bytes() {
        for (length, is_secret) in [(0, false), (9, false), (10, true), (64, true), (65, false)] {
            assert_eq!(TotpSecret::parse(STANDARD.encode(vec![7; length])).is_ok(), is_secret, "{length}");
        }
        assert!(TotpSecret::parse("not base64!".to_owned()).is_err());
    }
}
