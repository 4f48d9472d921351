//! One-time codes: 45 characters, of which people type the first six and the app keeps the rest, the nonce.

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::{ChannelId, UserId};

use crate::email::Email;
use crate::user::User;

/// Length of a code in characters.
pub const LENGTH: usize = 45;
/// How many of them a person types.
pub const TYPED: usize = 6;
/// How often the codes of one nonce may be tried.
pub const MAX_ATTEMPTS: u32 = 20;

/// What a code is good for; a code of another purpose does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    SignIn,
    VerifyEmail,
    ResetPassword,
}

impl Purpose {
    pub fn name(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::VerifyEmail => "verify-email",
            Self::ResetPassword => "reset-password",
        }
    }

    pub fn life(self) -> SignedDuration {
        match self {
            Self::SignIn => SignedDuration::from_mins(10),
            Self::ResetPassword => SignedDuration::from_hours(1),
            Self::VerifyEmail => SignedDuration::from_hours(24),
        }
    }
}

/// A code in clear, as made or as a client gave it: exactly 45 characters, in lower case.
#[derive(Clone, ToSchema)]
#[schema(value_type = String, min_length = 45, max_length = 45, example = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc")]
pub struct Code(SecretString);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have {LENGTH} characters")]
pub struct NotACode;

impl Code {
    pub fn new(secret: SecretString) -> Self {
        Self(secret)
    }

    pub fn parse(text: &str) -> Result<Self, NotACode> {
        if text.chars().count() != LENGTH {
            return Err(NotACode);
        }
        Ok(Self(text.to_lowercase().into()))
    }

    pub fn text(&self) -> &str {
        self.0.expose_secret()
    }

    /// What the recipient may type instead of following the link, in upper case.
    pub fn typed(&self) -> String {
        self.text().chars().take(TYPED).collect::<String>().to_uppercase()
    }

    /// What the app that asked for the code keeps: the last 39 characters.
    pub fn nonce(&self) -> String {
        self.text().chars().skip(TYPED).collect()
    }

    pub fn digest(&self) -> Digest {
        Digest::of(self.text())
    }

    pub fn nonce_digest(&self) -> Digest {
        Digest::of(&self.nonce())
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Code {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|error| wire::problem::rejected(&error, location))
    }
}

/// A code as the table holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCode {
    pub purpose: Purpose,
    pub email: Email,
    /// The account that the code is for; absent for a sign-in that will create one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<ChannelId>,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    #[serde(default)]
    pub used: bool,
    /// The account's credential epoch when the code was made; see [`ownership`](crate::user::ownership).
    #[serde(default)]
    pub epoch: u64,
}

/// Why a code is not accepted, in the order in which it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("there is no such code")]
    NotFound,
    #[error("the code has expired")]
    Expired,
    #[error("the code has been used")]
    AlreadyUsed,
    #[error("the code was tried too often")]
    TooManyAttempts,
}

impl StoredCode {
    /// Whether the account is still in the epoch that the code was made in.
    pub fn is_of_epoch(&self, user: &User) -> bool {
        self.epoch == user.credential_epoch
    }

    /// Decides on a code; `attempts` counts this one.
    pub fn check(code: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, Rejected> {
        let code = code.ok_or(Rejected::NotFound)?;
        Rejected::of(code.expires_at, code.used, attempts, now).map_or(Ok(code), Err)
    }
}

impl Rejected {
    /// Why a code that exists is not accepted, if it is not; `attempts` counts this one.
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
    fn a_code_is_refused_for_the_first_reason() {
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
        assert_eq!(StoredCode::check(None, 1, at(0)), Err(Rejected::NotFound));
        assert_eq!(StoredCode::check(Some(used.clone()), 21, at(100)), Err(Rejected::Expired));
        assert_eq!(StoredCode::check(Some(used), 21, at(99)), Err(Rejected::AlreadyUsed));
        assert_eq!(StoredCode::check(Some(code.clone()), 21, at(99)), Err(Rejected::TooManyAttempts));
        assert_eq!(StoredCode::check(Some(code.clone()), 20, at(99)), Ok(code));
    }
}
