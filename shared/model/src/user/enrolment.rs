//! An authenticator app that is being set up: its secret has been shown, and a code from the app
//! will prove that the app has the secret.

use crypto::seal::{Error, SealedText, Sealer};
use crypto::totp::TotpSecret;
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use utoipa::ToSchema;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::UserId;

use crate::code::CodeRefusal;
use crate::text::line;
use crate::user::User;

/// How long a user may take to scan the secret and type a code from the app.
const LIFE: SignedDuration = SignedDuration::from_mins(10);
/// Permitted lengths of an app's name, in characters.
const NAME: RangeInclusive<usize> = 1..=64;

/// An authenticator app that is being set up, stored under the digest of the code that identifies
/// the setup. The user also sends a code from the app itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The user who sets up the app.
    pub user_id: UserId,
    /// The secret, sealed for this user.
    pub secret: SealedText,
    /// The user's `session_epoch` when the secret was created.
    pub session_epoch: u64,
    /// The user's `credential_epoch` when the secret was created.
    pub credential_epoch: u64,
    /// When the setup expires.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// Whether the app has been set up.
    pub used: bool,
}

/// The name of an authenticator app: one line of 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 64)]
pub struct AuthenticatorName(pub String);

wire::deserr_from!(AuthenticatorName, String, |text| line::check(&text, NAME).map(|()| Self(text)));

impl Enrolment {
    /// The setup of an app with this secret, which begins at `now`.
    pub fn seal(
        sealer: &Sealer,
        entropy: &Entropy,
        owner: &str,
        secret: &TotpSecret,
        (user, now): (&User, Timestamp),
    ) -> Result<Self, Error> {
        Ok(Self {
            user_id: user.id,
            secret: sealer.seal(entropy, owner, secret.text())?,
            session_epoch: user.session_epoch,
            credential_epoch: user.credential_epoch,
            expires_at: after(now, LIFE),
            used: false,
        })
    }

    /// The secret.
    pub fn open(&self, sealer: &Sealer, owner: &str) -> Result<TotpSecret, Error> {
        TotpSecret::parse(sealer.open(owner, &self.secret)?.expose_secret().to_owned()).map_err(|_| Error)
    }

    /// Whether `user` is setting up this app, and the user's epochs have not changed since the
    /// start.
    pub fn is_of(&self, user: &User) -> bool {
        self.user_id == user.id && (self.session_epoch, self.credential_epoch) == (user.session_epoch, user.credential_epoch)
    }

    /// Returns the setup if it exists, has not expired, has not been used, and was not tried too
    /// often. `attempts` is the number of codes from an app that were tried, including the current
    /// one.
    pub fn check(enrolment: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, CodeRefusal> {
        let enrolment = enrolment.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(enrolment.expires_at, enrolment.used, attempts, now).map_or(Ok(enrolment), Err)
    }
}
