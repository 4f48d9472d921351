//! Remembered devices, in projects that permit them: after the user proves a second factor, the
//! device can get a token that replaces the second factor in later sign-ins.
//!
//! A device is forgotten when someone else may have gained access to the account. An account's
//! devices are forgotten whenever an epoch of the account is raised
//! ([`ownership`](crate::user::ownership) lists the reasons, such as a changed password), and
//! whenever the authenticator apps change. A remembered device replaces only the second factor.
//! After a sign-in with a remembered device, the session counts as authenticated at the time when
//! the second factor was proved on the device.

use crypto::digest::Digest;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{AuthenticatorId, DeviceId, UserId};

use crate::place::Place;
use crate::project::second_factor::SecondFactorSettings;
use crate::user::User;

/// The length of an id in a token, in characters: a UUID without hyphens.
const ID: usize = 32;
/// The length of the secret in a token, in characters.
const SECRET: usize = 45;

/// A device on which the user does not have to prove the second factor again for some time.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The id.
    pub id: DeviceId,
    /// The user who proved the second factor.
    pub user_id: UserId,
    /// The digest of the token's secret.
    pub digest: Digest,
    /// When the second factor was proved.
    pub created_at: Timestamp,
    /// When the device was last used to sign in or, if it was never used, when it was remembered.
    pub last_used_at: Timestamp,
    /// When the device is forgotten, unless it is forgotten earlier ([`Self::is_remembered`]).
    pub expires_at: Timestamp,
    /// Where the device was last used; absent if unknown.
    pub place: Option<Place>,
    /// The user's `session_epoch` when the device was remembered.
    pub session_epoch: u64,
    /// The user's `credential_epoch` when the device was remembered.
    pub credential_epoch: u64,
    /// The user's authenticator apps when the device was remembered.
    pub authenticators: Vec<AuthenticatorId>,
}

/// The token of a device, as stored by clients.
#[derive(Clone)]
pub struct DeviceToken {
    /// The id of the device.
    pub id: DeviceId,
    secret: SecretString,
}

impl DeviceToken {
    /// A new token.
    pub fn draw(entropy: &Entropy, now: Timestamp) -> Self {
        Self { id: DeviceId::from(entropy.ordered_uuid(now)), secret: entropy.code() }
    }

    /// Parses a token; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_at_checked(ID)?;
        let id = DeviceId::from(Uuid::try_parse(id).ok()?);
        (secret.len() == SECRET).then(|| Self { id, secret: secret.to_owned().into() })
    }

    /// The text that the client stores.
    pub fn text(&self) -> String {
        format!("{}{}", self.id.uuid().simple(), self.secret.expose_secret())
    }

    fn digest(&self) -> Digest {
        Digest::of(self.secret.expose_secret())
    }
}

fn authenticators(user: &User) -> Vec<AuthenticatorId> {
    user.apps().map(|app| app.id).collect()
}

impl Device {
    /// Remembers the device on which `user` proves the second factor at `now`; `None` if the
    /// project does not permit remembered devices.
    pub fn remember(user: &User, token: &DeviceToken, settings: &SecondFactorSettings, place: &Place, now: Timestamp) -> Option<Self> {
        Some(Self {
            id: token.id,
            user_id: user.id,
            digest: token.digest(),
            created_at: now,
            last_used_at: now,
            expires_at: after(now, settings.memory()?),
            place: Some(place.clone()),
            session_epoch: user.session_epoch,
            credential_epoch: user.credential_epoch,
            authenticators: authenticators(user),
        })
    }

    /// Whether the device replaces the second factor of `user` at `now`. If the project shortens
    /// the time, devices that are already remembered are forgotten earlier as well.
    pub fn is_remembered(&self, user: &User, settings: &SecondFactorSettings, now: Timestamp) -> bool {
        let is_in_time = settings.memory().is_some_and(|memory| now < self.expires_at && now < after(self.created_at, memory));
        let epochs = (self.session_epoch, self.credential_epoch) == (user.session_epoch, user.credential_epoch);
        is_in_time && epochs && self.user_id == user.id && self.authenticators == authenticators(user)
    }

    /// Whether the token belongs to this device.
    pub fn has(&self, token: &DeviceToken) -> bool {
        self.id == token.id && self.digest.as_str().as_bytes().ct_eq(token.digest().as_str().as_bytes()).into()
    }
}

/// A remembered device in responses to its user.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeviceView {
    /// The id.
    pub id: DeviceId,
    /// When the second factor was proved on the device, in milliseconds since the Unix epoch.
    pub created_at_millis: i64,
    /// When the device was last used to sign in, in milliseconds since the Unix epoch.
    pub last_used_at_millis: i64,
    /// When the device is forgotten, in milliseconds since the Unix epoch.
    pub expires_at_millis: i64,
    /// Whether the request contains this device's token.
    pub is_current_device: bool,
    /// Where the device was last used; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at_end_user_ip_info: Option<Place>,
}

impl DeviceView {
    /// A device, as shown in the response to a request with this token.
    pub fn of(device: Device, token: Option<&DeviceToken>) -> Self {
        Self {
            id: device.id,
            created_at_millis: device.created_at.as_millisecond(),
            last_used_at_millis: device.last_used_at.as_millisecond(),
            expires_at_millis: device.expires_at.as_millisecond(),
            is_current_device: token.is_some_and(|token| device.has(token)),
            last_used_at_end_user_ip_info: device.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::user::totp::Authenticator;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn a_token_is_read_as_it_was_written_and_belongs_to_one_device() {
        let (entropy, settings) = (Entropy::system(), SecondFactorSettings { remember_device_days: 30, ..SecondFactorSettings::default() });
        let (user, place) = (User::new(&entropy, at(0)), Place::of(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let (token, other) = (DeviceToken::draw(&entropy, at(0)), DeviceToken::draw(&entropy, at(0)));
        let device = Device::remember(&user, &token, &settings, &place, at(0)).expect("a device");
        let again = DeviceToken::parse(&token.text()).expect("a token");
        assert!(device.has(&again) && !device.has(&other));
        assert!(!device.has(&DeviceToken { id: token.id, ..other }));
        for text in ["", "x", &token.text()[1..], &format!("{}0", token.text()), &"é".repeat(40)] {
            assert!(DeviceToken::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_device_is_forgotten_after_its_time_or_a_change_of_epoch_app_or_setting() {
        let (entropy, days) =
            (Entropy::system(), |days| SecondFactorSettings { remember_device_days: days, ..SecondFactorSettings::default() });
        let mut user = User::new(&entropy, at(0));
        let app = serde_json::json!({ "secret": "app", "last_step": 7 });
        let app: Authenticator = serde_json::from_value(app).expect("an app");
        user.totp = Some(app.clone().into());
        let place = Place::of(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let token = DeviceToken::draw(&entropy, at(0));
        assert!(Device::remember(&user, &token, &days(0), &place, at(0)).is_none());
        let device = Device::remember(&user, &token, &days(2), &place, at(0)).expect("a device");
        let day = 86_400;
        for (settings, second, is_remembered) in
            [(2, 0, true), (2, 2 * day - 1, true), (2, 2 * day, false), (90, 2 * day, false), (1, day, false), (0, 1, false)]
        {
            assert_eq!(device.is_remembered(&user, &days(settings), at(second)), is_remembered, "{settings} {second}");
        }
        let changes: [fn(&mut User); 5] = [
            |user| user.end_sessions(None),
            User::raise_epoch,
            |user| user.totp = None,
            |user| {
                let more = serde_json::json!({ "id": "5b8e0c6a-3d1f-4e2b-9a7c-6f0d1e2b3c4d", "secret": "more", "last_step": 0 });
                user.totp.as_mut().expect("an app").add(serde_json::from_value(more).expect("an app"));
            },
            |user| user.id = UserId::from(Uuid::nil()),
        ];
        for change in changes {
            let mut changed = user.clone();
            change(&mut changed);
            assert!(!device.is_remembered(&changed, &days(2), at(1)));
        }
    }
}
