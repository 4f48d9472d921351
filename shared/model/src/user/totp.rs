//! A user's authenticator apps.

use crypto::seal::{Error, SealedText, Sealer};
use crypto::totp::TotpSecret;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::{AuthenticatorId, ProjectId, UserId};

use crate::quota::Quota;
use crate::user::recovery::RecoveryCodes;

/// The maximum number of authenticator apps of a user.
pub const MAX_AUTHENTICATORS: usize = Quota::Authenticators.max();

/// A user's second factor: at least one authenticator app, and recovery codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totp {
    /// The first app. The fields of the app are flattened, because earlier versions, which
    /// permitted only one app, stored the fields directly in this object.
    #[serde(flatten)]
    pub first: Authenticator,
    /// The other apps. The name of the field is not one of DynamoDB's reserved words, so
    /// expressions can contain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Authenticator>,
    /// The recovery codes, if there are any; each can replace a code from the apps. Recovery codes
    /// are removed when the last app is removed or all apps are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryCodes>,
}

/// An authenticator app.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authenticator {
    /// The id of the app; the nil UUID if the app was set up by an earlier version that permitted
    /// only one app.
    #[serde(default = "nil", skip_serializing_if = "is_nil")]
    pub id: AuthenticatorId,
    /// The name that the user gave the app; absent if the user did not name it.
    pub name: Option<String>,
    /// The secret, sealed for the user.
    pub secret: SealedText,
    /// The time step of the last accepted code: each code is accepted once (RFC 6238 §5.2).
    pub last_step: u64,
    /// When the app was set up. Absent if the app was set up by an earlier version that did not
    /// record the time. An app without this time counts as set up before every session began.
    pub set_at: Option<Timestamp>,
    /// When a code from the app was last accepted; absent if no use has been recorded.
    pub last_used_at: Option<Timestamp>,
}

fn nil() -> AuthenticatorId {
    AuthenticatorId::from(Uuid::nil())
}

fn is_nil(id: &AuthenticatorId) -> bool {
    id.uuid().is_nil()
}

/// The owner under which the secrets of a user's authenticator apps are sealed.
pub fn owner(project: &ProjectId, user: UserId) -> String {
    format!("totp/{project}/{user}")
}

impl Authenticator {
    /// An app that is set up at `now`.
    pub fn seal(sealer: &Sealer, entropy: &Entropy, owner: &str, secret: &TotpSecret, now: Timestamp) -> Result<Self, Error> {
        Ok(Self {
            id: AuthenticatorId::from(entropy.uuid()),
            name: None,
            secret: sealer.seal(entropy, owner, secret.text())?,
            last_step: 0,
            set_at: Some(now),
            last_used_at: None,
        })
    }

    /// The time step of a code that is currently valid and has not been used; `None` for any other
    /// code.
    pub fn check(&self, sealer: &Sealer, owner: &str, code: &str, now: Timestamp) -> Result<Option<u64>, Error> {
        let secret = TotpSecret::parse(sealer.open(owner, &self.secret)?.expose_secret().to_owned()).map_err(|_| Error)?;
        Ok(secret.check(code, now).filter(|step| *step > self.last_step))
    }
}

/// An authenticator app in responses to its user.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuthenticatorView {
    /// The id.
    pub id: AuthenticatorId,
    /// The name that the user gave the app; `null` if the user did not name it.
    pub name: Option<String>,
    /// When the app was set up, in milliseconds since the Unix epoch; `null` if unknown.
    pub created_at_millis: Option<i64>,
    /// When a code from the app was last accepted, in milliseconds since the Unix epoch; `null` if
    /// no use has been recorded.
    pub last_used_at_millis: Option<i64>,
}

impl From<&Authenticator> for AuthenticatorView {
    fn from(app: &Authenticator) -> Self {
        Self {
            id: app.id,
            name: app.name.clone(),
            created_at_millis: app.set_at.map(Timestamp::as_millisecond),
            last_used_at_millis: app.last_used_at.map(Timestamp::as_millisecond),
        }
    }
}

impl From<Authenticator> for Totp {
    fn from(app: Authenticator) -> Self {
        Self { first: app, more: Vec::new(), recovery: None }
    }
}

impl Totp {
    /// All apps, oldest first.
    pub fn apps(&self) -> impl Iterator<Item = &Authenticator> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// Mutable references to all apps, oldest first.
    pub fn apps_mut(&mut self) -> impl Iterator<Item = &mut Authenticator> {
        std::iter::once(&mut self.first).chain(&mut self.more)
    }

    /// The app with this id.
    pub fn app(&self, id: AuthenticatorId) -> Option<&Authenticator> {
        self.apps().find(|app| app.id == id)
    }

    /// Adds an app; `false` if the user already has [`MAX_AUTHENTICATORS`] apps.
    pub fn add(&mut self, app: Authenticator) -> bool {
        let has_room = self.apps().count() < MAX_AUTHENTICATORS;
        if has_room {
            self.more.push(app);
        }
        has_room
    }

    /// The app that currently shows this code, with the time step of the code; `None` if the code
    /// is wrong or has been used. The code is compared with all apps, so the time taken does not
    /// reveal which app shows it.
    pub fn check(&self, sealer: &Sealer, owner: &str, code: &str, now: Timestamp) -> Result<Option<(&Authenticator, u64)>, Error> {
        let mut right = None;
        for app in self.apps() {
            let step = app.check(sealer, owner, code, now)?;
            right = right.or(step.map(|step| (app, step)));
        }
        Ok(right)
    }

    /// The second factor without the app with this id; `None` if that was the only app.
    pub fn without(self, id: AuthenticatorId) -> Option<Self> {
        let Self { first, more, recovery } = self;
        let mut left = std::iter::once(first).chain(more).filter(|app| app.id != id);
        let first = left.next()?;
        Some(Self { first, more: left.collect(), recovery })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn app(number: u128, last_step: u64) -> Authenticator {
        let id = AuthenticatorId::from(Uuid::from_u128(number));
        Authenticator { id, name: None, secret: SealedText::from_text("sealed".to_owned()), last_step, set_at: None, last_used_at: None }
    }

    #[test]
    fn the_only_app_that_an_earlier_version_stored_is_read() {
        let stored = json!({ "secret": "sealed", "last_step": 7, "set_at": 1 });
        let totp: Totp = serde_json::from_value(stored.clone()).expect("a second factor");
        assert!(totp.recovery.is_none() && totp.more.is_empty());
        assert_eq!((totp.first.last_step, totp.first.id), (7, nil()));
        assert_eq!(serde_json::to_value(&totp).expect("a second factor"), stored);
        assert_eq!(totp.clone().app(nil()), Some(&totp.first));
        assert_eq!(totp.without(nil()), None);
    }

    #[test]
    fn the_others_stay_when_an_app_is_removed() {
        let totp = Totp { more: vec![app(2, 20), app(3, 30)], ..Totp::from(app(1, 10)) };
        let steps = |totp: &Totp| totp.apps().map(|app| app.last_step).collect::<Vec<_>>();
        let stored = serde_json::to_value(&totp).expect("a second factor");
        assert_eq!(serde_json::from_value::<Totp>(stored).expect("a second factor"), totp);
        for (number, left) in [(1, [20, 30]), (2, [10, 30]), (3, [10, 20])] {
            let id = AuthenticatorId::from(Uuid::from_u128(number));
            assert_eq!(totp.clone().without(id).map(|totp| steps(&totp)), Some(left.to_vec()));
        }
        assert_eq!(totp.clone().without(AuthenticatorId::from(Uuid::from_u128(9))), Some(totp));
    }
}
