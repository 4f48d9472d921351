//! Codes of 45 characters, for links in emails and for apps. To sign in with an emailed code,
//! people can type the code's first six characters. The app keeps the remaining characters, the
//! nonce.

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::{ChannelId, UserId};
use wire::typed::typed;

use crate::email::Email;

/// Length of a code in characters.
pub const LENGTH: usize = 45;
/// The longest text that may contain a code, in bytes. The limit exceeds the length of a code,
/// because pasted codes may have separators between any two characters.
const MAX_PASTED: usize = 512;
/// The number of characters that people type, at the start of the code.
pub const TYPED: usize = 6;
/// The maximum number of attempts at a code. Attempts are counted by the nonce and, for an
/// invitation, separately for each caller.
pub const MAX_ATTEMPTS: u32 = 20;

/// The purpose of a code. A code is valid only for its own purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Signing in, signing up or reauthenticating with an email address.
    SignIn,
    /// Verifying an email address.
    VerifyEmail,
    /// To reset a password.
    ResetPassword,
}

impl Purpose {
    /// The name of the purpose in the table's keys.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::VerifyEmail => "verify-email",
            Self::ResetPassword => "reset-password",
        }
    }

    /// How long a code of this purpose is valid.
    pub fn life(self) -> SignedDuration {
        match self {
            Self::SignIn => SignedDuration::from_mins(10),
            Self::ResetPassword => SignedDuration::from_hours(1),
            Self::VerifyEmail => SignedDuration::from_hours(24),
        }
    }
}

/// A code in plain text: 45 characters, whose case does not matter.
#[derive(Clone, ToSchema)]
#[schema(value_type = String, min_length = 45, max_length = 45, example = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc")]
pub struct Code(SecretString);

/// The text does not have the length of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {LENGTH} characters long")]
pub struct CodeTextRefusal;

impl Code {
    /// A code that this service has generated, or derived from another code.
    pub fn new(secret: SecretString) -> Self {
        Self(secret)
    }

    /// Parses a code that people have typed, copied or pasted. The code may contain upper and lower
    /// case, spaces and dashes ([`typed`]), and the letters that Crockford's base32 omits because
    /// they look like digits.
    pub fn parse(text: &str) -> Result<Self, CodeTextRefusal> {
        if text.len() > MAX_PASTED {
            return Err(CodeTextRefusal);
        }
        let digit = |letter| match letter {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        let text: String = typed(text).to_lowercase().chars().map(digit).collect();
        if text.chars().count() == LENGTH { Ok(Self(text.into())) } else { Err(CodeTextRefusal) }
    }

    /// The complete code, including the nonce.
    pub fn text(&self) -> &str {
        self.0.expose_secret()
    }

    /// The complete code as a secret.
    pub(crate) fn secret(&self) -> &SecretString {
        &self.0
    }

    /// The part that people can type instead of opening the link, in upper case.
    pub fn typed(&self) -> String {
        self.text().chars().take(TYPED).collect::<String>().to_uppercase()
    }

    /// The part that the app keeps when it requests the code: the last 39 characters.
    pub fn nonce(&self) -> String {
        self.text().chars().skip(TYPED).collect()
    }

    /// The digest of the complete code. Items stored under the digest of the nonce contain the
    /// complete code's digest for comparison. The items of other codes, such as those in
    /// unsubscribe links, have the code's digest in their keys.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text())
    }

    /// The digest of the nonce. Codes with counted attempts are stored under the nonce's digest, so
    /// that all guesses at the first six characters count together.
    pub fn nonce_digest(&self) -> Digest {
        Digest::of(&self.nonce())
    }
}

wire::deserr_from!(Code, String, |text| Self::parse(&text));

/// A code, as stored in the table.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCode {
    /// The purpose of the code.
    pub purpose: Purpose,
    /// The email address that the code was sent to.
    pub email: Email,
    /// The account for which the code was created; absent for a sign-in that will create an
    /// account.
    pub user_id: Option<UserId>,
    /// The contact channel to verify; absent for all other purposes.
    pub channel_id: Option<ChannelId>,
    /// When the code expires.
    pub expires_at: Timestamp,
    /// Whether the code has been redeemed.
    #[serde(default)]
    pub used: bool,
    /// The account's credential epoch when the code was created, or 0 without an account (see
    /// [`ownership`](crate::user::ownership)).
    #[serde(default)]
    pub epoch: u64,
}

/// Why a code is rejected, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeRefusal {
    /// No code exists for this purpose, or the code no longer applies to its account, invitation or
    /// sign-in.
    #[error("the code does not exist")]
    NotFound,
    /// The code has expired.
    #[error("the code has expired")]
    Expired,
    /// The code has already been used.
    #[error("the code has been used")]
    AlreadyUsed,
    /// The code has been tried more than [`MAX_ATTEMPTS`] times.
    #[error("the code was tried too many times")]
    TooManyAttempts,
}

impl StoredCode {
    /// Returns the code if it is valid; `attempts` includes the current attempt.
    pub fn check(code: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, CodeRefusal> {
        let code = code.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(code.expires_at, code.used, attempts, now).map_or(Ok(code), Err)
    }
}

impl CodeRefusal {
    /// Why an existing code is rejected; `None` if it is valid. `attempts` includes the current
    /// attempt, or is 0 if attempts are not counted.
    pub fn of(expires_at: Timestamp, used: bool, attempts: u32, now: Timestamp) -> Option<Self> {
        match () {
            () if expires_at <= now => Some(Self::Expired),
            () if used => Some(Self::AlreadyUsed),
            () if attempts > MAX_ATTEMPTS => Some(Self::TooManyAttempts),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_typed_part_and_nonce() {
        let code = Code::parse("ABCDEF0123456789abcdefghjkmnpqrstvwxyz0123456").ok();
        assert_eq!(code.as_ref().map(Code::typed).as_deref(), Some("ABCDEF"));
        assert_eq!(code.as_ref().map(|code| code.nonce().len()), Some(39));
        assert!(Code::parse("abc").is_err());
    }

    #[test]
    fn a_code_is_read_in_every_form_in_which_it_is_pasted() {
        let code = "abc0110123456789abcdefghjkmnpqrstvwxyz0123456";
        for text in [
            code.to_owned(),
            code.to_uppercase(),
            format!(" {code}\r\n"),
            format!("ABC 011{}", &code[6..]),
            format!("AbC-01-1\u{a0}{}", &code[6..]),
            // Codes omit the letters that look like digits.
            format!("abcOIl{}", &code[6..]),
            format!("ａｂｃ０１１{}", &code[6..]),
            code.split("").collect::<Vec<_>>().join("\u{200b} "),
        ] {
            assert_eq!(Code::parse(&text).ok().map(|code| code.text().to_owned()).as_deref(), Some(code), "{text}");
        }
        for text in [&code[1..], &format!("{code}0"), &format!("{code}{}", " ".repeat(1_000))] {
            assert!(Code::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_code_is_rejected_for_the_first_reason() {
        let code = StoredCode {
            purpose: Purpose::SignIn,
            email: Email::parse("ada@example.com").expect("an address"),
            user_id: None,
            channel_id: None,
            expires_at: Timestamp::from_second(100).expect("a time"),
            used: false,
            epoch: 0,
        };
        let at = |second| Timestamp::from_second(second).expect("a time");
        let used = StoredCode { used: true, ..code.clone() };
        assert_eq!(StoredCode::check(None, 1, at(0)), Err(CodeRefusal::NotFound));
        assert_eq!(StoredCode::check(Some(used.clone()), 21, at(100)), Err(CodeRefusal::Expired));
        assert_eq!(StoredCode::check(Some(used), 21, at(99)), Err(CodeRefusal::AlreadyUsed));
        assert_eq!(StoredCode::check(Some(code.clone()), 21, at(99)), Err(CodeRefusal::TooManyAttempts));
        assert_eq!(StoredCode::check(Some(code.clone()), 20, at(99)), Ok(code));
    }
}
