//! A user's authenticator app.

use crypto::seal::{Error, Sealed, Sealer};
use crypto::totp::TotpSecret;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::id::{ProjectId, UserId};

use crate::user::recovery::RecoveryCodes;

/// A user's second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totp {
    /// The secret, sealed for its user.
    pub secret: Sealed,
    /// The time step of the last accepted code: each code is accepted once (RFC 6238 §5.2).
    pub last_step: u64,
    /// When the app was set up. Absent if an earlier version stored the item; the app was then set
    /// up before every current session began.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub set_at: Option<Timestamp>,
    /// The recovery codes, which replace codes of the app, if the user has made any. They are
    /// removed together with the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryCodes>,
}

/// The owner that the secret of a user's authenticator app is sealed for.
pub fn owner(project: &ProjectId, user: UserId) -> String {
    format!("totp/{project}/{user}")
}

impl Totp {
    /// A second factor that is set up at `now`.
    pub fn seal(sealer: &Sealer, entropy: &Entropy, owner: &str, secret: &TotpSecret, now: Timestamp) -> Result<Self, Error> {
        Ok(Self { secret: sealer.seal(entropy, owner, secret.text())?, last_step: 0, set_at: Some(now), recovery: None })
    }

    /// The time step of a code that is currently valid and unused; `None` for any other code.
    pub fn check(&self, sealer: &Sealer, owner: &str, code: &str, now: Timestamp) -> Result<Option<u64>, Error> {
        let text = sealer.open(owner, &self.secret)?;
        let secret = TotpSecret::parse(secrecy::ExposeSecret::expose_secret(&text).to_owned()).map_err(|_| Error)?;
        Ok(secret.check(code, now).filter(|step| *step > self.last_step))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_app_of_the_previous_version_has_no_codes() {
        let stored = json!({ "secret": "sealed", "last_step": 7, "set_at": 1 });
        let app: Totp = serde_json::from_value(stored.clone()).expect("an app");
        assert_eq!(app.recovery, None);
        assert_eq!(serde_json::to_value(app).expect("an app"), stored);
    }
}
