//! Applies changes to a user without access to the table. If the stored user has changed since it
//! was read, the caller reads it again and applies the change to the new state.

use crypto::password::hash::Hash;
use jiff::Timestamp;
use wire::change::Change;
use wire::entropy::Entropy;
use wire::id::ChannelId;

use crate::email::Email;
use crate::profile_image::NewImage;
use crate::user::input::UserInput;
use crate::user::ownership::Author;
use crate::user::restriction::Restriction;
use crate::user::totp::Totp;
use crate::user::values::Note;
use crate::user::{Channel, MAX_CHANNELS, User};

/// A change, with its secrets hashed or sealed.
pub struct UserPatch {
    /// The fields of the request.
    pub input: UserInput,
    /// The hash of the new or imported password.
    pub password: Change<Hash>,
    /// The sealed second factor.
    pub totp: Change<Totp>,
    /// The change to the picture.
    pub image: NewImage,
    /// Who changes the user.
    pub author: Author,
}

/// Why a change is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The change verifies the primary address or enables it for signing in, but the user does not
    /// have a primary address.
    #[error("the user has no primary address: set primary_email")]
    NoPrimaryEmail,
    /// The new primary address would exceed the maximum number of channels.
    #[error("a user can have at most {MAX_CHANNELS} contact channels")]
    TooManyChannels,
}

impl UserPatch {
    /// Applies the change. If the change is refused, `user` may be partly changed.
    pub fn apply(&self, user: &mut User, entropy: &Entropy, now: Timestamp) -> Result<(), Refusal> {
        let (input, before) = (&self.input, user.clone());
        input.display_name.clone().map(|name| name.0).apply_flat(&mut user.display_name);
        input.client_metadata.clone().apply(&mut user.client_metadata);
        input.client_read_only_metadata.clone().apply(&mut user.client_read_only_metadata);
        input.server_metadata.clone().apply(&mut user.server_metadata);
        input.country_code.clone().map(|code| code.0).apply(&mut user.country_code);
        if let Some(enabled) = input.otp_auth_enabled {
            user.set_email_codes(enabled);
        }
        if input.passkey_auth_enabled.is_some() {
            user.remove_passkeys();
        }
        user.risk_scores = input.risk_scores.unwrap_or(user.risk_scores);
        self.totp.clone().apply(&mut user.totp);
        self.image.apply(&mut user.profile_image_url, &mut user.uploaded_image);
        input.selected_team_id.clone().apply(&mut user.selected_team_id);
        if !self.password.is_keep() {
            self.password.clone().apply(&mut user.password);
            user.forget_wrong_passwords();
            user.end_sessions(None);
        }
        if input.is_anonymous == Some(false) && user.is_anonymous {
            user.upgrade(now);
        }
        if let Some(accounts) = &input.oauth_providers {
            user.provider_accounts = accounts.iter().map(|account| account.account(entropy.uuid().into())).collect();
        }
        self.apply_restriction(user);
        self.apply_primary_email(user, entropy)?;
        user.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    fn apply_restriction(&self, user: &mut User) {
        match self.input.restricted_by_admin {
            None => {}
            Some(false) => user.restriction = None,
            Some(true) => {
                let restriction = user.restriction.get_or_insert(Restriction { reason: None, private_details: None });
                let text = |note: &Change<Note>| note.clone().map(|note| note.0);
                text(&self.input.restricted_by_admin_reason).apply(&mut restriction.reason);
                text(&self.input.restricted_by_admin_private_details).apply(&mut restriction.private_details);
            }
        }
    }

    fn apply_primary_email(&self, user: &mut User, entropy: &Entropy) -> Result<(), Refusal> {
        match &self.input.primary_email {
            Change::Keep => {}
            Change::Clear => user.demote(),
            Change::Set(email) => user.make_primary(email, self.author, entropy)?,
        }
        let (verified, signs_in) = (self.input.primary_email_verified, self.input.primary_email_auth_enabled);
        match user.channels.iter_mut().find(|channel| channel.is_primary) {
            Some(primary) => {
                primary.is_unproved &= verified.is_none();
                primary.is_elsewhere &= verified.is_none();
                primary.is_verified = verified.unwrap_or(primary.is_verified);
                primary.used_for_auth = signs_in.unwrap_or(primary.used_for_auth);
                if verified.is_some() || signs_in.is_some() {
                    primary.standing = self.author.standing();
                }
                Ok(())
            }
            None if verified == Some(true) || signs_in == Some(true) => Err(Refusal::NoPrimaryEmail),
            None => Ok(()),
        }
    }
}

impl User {
    /// Makes all channels non-primary.
    pub(crate) fn demote(&mut self) {
        for channel in &mut self.channels {
            channel.is_primary = false;
        }
    }

    /// Makes an address primary. Other fields of an existing channel remain unchanged. A new
    /// channel is unverified, and the user can sign in with it only if the user could sign in with
    /// the previous primary address.
    fn make_primary(&mut self, email: &Email, author: Author, entropy: &Entropy) -> Result<(), Refusal> {
        let used_for_auth = self.primary().is_some_and(|primary| primary.used_for_auth);
        if self.channel_of(email).is_none() {
            if self.channels.len() >= MAX_CHANNELS {
                return Err(Refusal::TooManyChannels);
            }
            let channel = Channel::new(ChannelId::from(entropy.uuid()), email.clone(), author.standing());
            self.channels.push(Channel { used_for_auth, ..channel });
        }
        for channel in &mut self.channels {
            channel.is_primary = channel.value == *email;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::user::input::{AnyFields, UserBody};
    use wire::problem::Problems;

    fn patch(body: Value) -> UserPatch {
        let input = deserr::deserialize::<UserBody<AnyFields>, _, Problems>(body).expect("a patch").0;
        UserPatch { input, password: Change::Keep, totp: Change::Keep, image: NewImage::default(), author: Author::Server }
    }

    fn changed(user: &User, body: Value) -> Result<User, Refusal> {
        let mut user = user.clone();
        patch(body).apply(&mut user, &Entropy::system(), Timestamp::UNIX_EPOCH).map(|()| user)
    }

    fn user() -> User {
        User::new(&Entropy::system(), Timestamp::UNIX_EPOCH)
    }

    fn ada() -> User {
        let mut user = user();
        user.add_primary_email(&Entropy::system(), Email::parse("ada@example.com").expect("an address"), true);
        user
    }

    fn channels(user: &User) -> Vec<(&str, bool, bool, bool)> {
        user.channels.iter().map(|c| (c.value.as_str(), c.is_primary, c.is_verified, c.used_for_auth)).collect()
    }

    #[test]
    fn a_new_primary_address_is_not_verified_and_the_old_one_stays() {
        let user = changed(&ada(), json!({ "primary_email": "new@example.com" })).expect("changed");
        assert_eq!(channels(&user), [("ada@example.com", false, true, true), ("new@example.com", true, false, true)]);
        let back = changed(&user, json!({ "primary_email": "ada@example.com" })).expect("changed");
        assert_eq!(channels(&back), [("ada@example.com", true, true, true), ("new@example.com", false, false, true)]);
        let none = changed(&back, json!({ "primary_email": null })).expect("changed");
        assert_eq!(channels(&none), [("ada@example.com", false, true, true), ("new@example.com", false, false, true)]);
    }

    #[test]
    fn a_new_address_inherits_sign_in_unless_stated() {
        let off = changed(&ada(), json!({ "primary_email_auth_enabled": false })).expect("changed");
        let new = changed(&off, json!({ "primary_email": "new@example.com" })).expect("changed");
        assert_eq!(channels(&new)[1], ("new@example.com", true, false, false));
        let body = json!({ "primary_email": "x@example.com", "primary_email_auth_enabled": true, "primary_email_verified": true });
        assert_eq!(channels(&changed(&new, body).expect("changed"))[2], ("x@example.com", true, true, true));
    }

    #[test]
    fn fields_of_the_primary_address_require_a_primary_address() {
        for body in [json!({ "primary_email_verified": true }), json!({ "primary_email_auth_enabled": true })] {
            assert_eq!(changed(&user(), body.clone()), Err(Refusal::NoPrimaryEmail));
            let mut body = body;
            body["primary_email"] = Value::Null;
            assert_eq!(changed(&ada(), body), Err(Refusal::NoPrimaryEmail));
        }
        assert!(changed(&user(), json!({ "primary_email_verified": false })).is_ok());
    }

    #[test]
    fn a_user_has_at_most_fifty_channels() {
        let mut user = ada();
        for index in 1..MAX_CHANNELS {
            user = changed(&user, json!({ "primary_email": format!("a{index}@example.com") })).expect("changed");
        }
        assert_eq!(changed(&user, json!({ "primary_email": "more@example.com" })), Err(Refusal::TooManyChannels));
        assert!(changed(&user, json!({ "primary_email": "ada@example.com" })).is_ok());
    }

    #[test]
    fn a_restriction_keeps_unmentioned_fields() {
        let body = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "spam", "restricted_by_admin_private_details": "7" });
        let user = changed(&user(), body).expect("changed");
        let again = changed(&user, json!({ "restricted_by_admin": true, "restricted_by_admin_private_details": null })).expect("changed");
        assert_eq!(again.restriction, Some(Restriction { reason: Some("spam".to_owned()), private_details: None }));
        assert_eq!(changed(&again, json!({ "restricted_by_admin": false })).expect("changed").restriction, None);
    }
}
