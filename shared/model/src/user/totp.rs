//! The authenticator app of a user.

use crypto::seal::{Error, Sealed, Sealer};
use crypto::totp::TotpSecret;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::id::{ProjectId, UserId};

/// The second factor of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totp {
    pub secret: Sealed,
    /// The time step of the last code that was accepted: each is accepted once (RFC 6238 §5.2).
    pub last_step: u64,
    /// When it was set; absent on items of older versions: before any session of now.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub set_at: Option<Timestamp>,
}

/// What the secret of a user's app is sealed for.
pub fn owner(project: &ProjectId, user: UserId) -> String {
    format!("totp/{project}/{user}")
}

impl Totp {
    /// The app that is set now.
    pub fn seal(
        sealer: &Sealer,
        entropy: &Entropy,
        project: &ProjectId,
        user: UserId,
        secret: &TotpSecret,
        now: Timestamp,
    ) -> Result<Self, Error> {
        Ok(Self { secret: sealer.seal(entropy, &owner(project, user), secret.text())?, last_step: 0, set_at: Some(now) })
    }

    /// The time step of a code that is right now and was not accepted before.
    pub fn check(&self, sealer: &Sealer, project: &ProjectId, user: UserId, code: &str, now: Timestamp) -> Result<Option<u64>, Error> {
        let text = sealer.open(&owner(project, user), &self.secret)?;
        let secret = TotpSecret::parse(secrecy::ExposeSecret::expose_secret(&text).to_owned()).map_err(|_| Error)?;
        Ok(secret.check(code, now).filter(|step| *step > self.last_step))
    }
}
