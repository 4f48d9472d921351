//! Users. One item holds a user with all its contact channels and provider accounts, so that every rule about them is decided on one
//! state and written by one condition on its version.

pub mod channel;
#[cfg(test)]
mod channel_tests;
pub mod filter;
pub mod input;
pub mod notices;
pub mod ownership;
#[cfg(test)]
mod ownership_tests;
pub mod patch;
pub mod provider_account;
#[cfg(test)]
mod provider_account_tests;
pub mod reference;
pub mod restriction;
pub mod second_factor;
pub mod standing;
pub mod totp;
pub mod values;
pub mod view;

use std::collections::BTreeSet;

use crypto::digest::Digest;
use crypto::password::hash::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::id::{ChannelId, ProviderAccountId, SessionId, TeamId, UserId};

use crate::email::Email;
use crate::email::category::Category;
use crate::metadata::Metadata;
use crate::permission::Grant;
use crate::project::ProjectConfig;
use crate::sign_up::risk::RiskScores;
use crate::user::notices::Notices;
use crate::user::restriction::{RestrictedReason, Restriction};
use crate::user::standing::Standing;
use crate::user::totp::Totp;

/// How many contact channels a user may have: the item stays far below DynamoDB's 400 KB, and a deletion fits one transaction.
pub const MAX_CHANNELS: usize = 50;
/// How many wrong passwords in a row close an account to passwords, whatever time is between them
/// (SP 800-63B-4, §3.2.2).
pub const MAX_WRONG_PASSWORDS: u32 = 100;
/// How many accounts at providers a user may have, for the same reason as channels.
pub const MAX_ACCOUNTS: usize = 20;

/// A user of a project, as the table holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub signed_up_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_image_url: Option<String>,
    /// The digest of the image at that address, if it is kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded_image: Option<Digest>,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Hash>,
    /// When a signed-in user who had none set the password; absent when it came in another way, by which no session went on.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub first_password_at: Option<Timestamp>,
    /// Wrong passwords in a row at sign-in; see [`Self::is_closed_to_passwords`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_passwords: u32,
    /// Wrong old passwords in a row, of somebody who is signed in and wants to change the password.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_old_passwords: u32,
    /// May sign in with a code or a link by mail.
    #[serde(default)]
    pub otp_enabled: bool,
    /// Has switched that off: a code that is redeemed does not switch it on again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub otp_refused: bool,
    /// The second factor of every sign-in, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totp: Option<Totp>,
    #[serde(default)]
    pub provider_accounts: Vec<ProviderAccount>,
    #[serde(default)]
    pub is_anonymous: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restriction: Option<Restriction>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Metadata>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_read_only_metadata: Option<Metadata>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub server_metadata: Option<Metadata>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
    #[serde(default)]
    pub risk_scores: RiskScores,
    /// The kinds of mails that the user does not want.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_categories: Vec<Category>,
    /// The team that the user works with; the user is a member of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_team_id: Option<TeamId>,
    /// What the user may do in the whole project.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub permissions: BTreeSet<Grant>,
    /// Codes of an earlier epoch are good for nothing; see [`ownership`](crate::user::ownership).
    #[serde(default)]
    pub credential_epoch: u64,
    /// Sessions of an earlier epoch are over; see [`Session::is_live`](crate::session::Session::is_live).
    #[serde(default)]
    pub session_epoch: u64,
    /// The one session that outlived the last increment of the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_session: Option<SessionId>,
    /// What the addresses of the account were told, and may undo.
    #[serde(default, skip_serializing_if = "Notices::is_none")]
    pub notices: Notices,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// An e-mail address of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub id: ChannelId,
    pub value: Email,
    pub used_for_auth: bool,
    pub is_verified: bool,
    pub is_primary: bool,
    #[serde(default, skip_serializing_if = "Standing::is_provisional")]
    pub standing: Standing,
}

/// An account at an OAuth provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderAccount {
    pub id: ProviderAccountId,
    pub provider_id: String,
    pub account_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// Whether it signs the user in.
    pub allow_sign_in: bool,
    /// Whether the app gets access tokens for it.
    pub allow_connected_accounts: bool,
}

impl User {
    /// A user with nothing but an id.
    pub fn new(entropy: &Entropy, now: Timestamp) -> Self {
        Self {
            id: UserId::from(entropy.uuid()),
            signed_up_at: now,
            display_name: None,
            profile_image_url: None,
            uploaded_image: None,
            channels: Vec::new(),
            password: None,
            first_password_at: None,
            wrong_passwords: 0,
            wrong_old_passwords: 0,
            otp_enabled: false,
            otp_refused: false,
            totp: None,
            provider_accounts: Vec::new(),
            is_anonymous: false,
            restriction: None,
            client_metadata: None,
            client_read_only_metadata: None,
            server_metadata: None,
            country_code: None,
            risk_scores: RiskScores::default(),
            refused_categories: Vec::new(),
            selected_team_id: None,
            permissions: BTreeSet::new(),
            credential_epoch: 0,
            session_epoch: 0,
            kept_session: None,
            notices: Notices::default(),
        }
    }

    /// Gives the user its first address, for signing in, and makes it primary.
    pub fn add_primary_email(&mut self, entropy: &Entropy, value: Email, is_verified: bool) -> ChannelId {
        let id = ChannelId::from(entropy.uuid());
        for channel in &mut self.channels {
            channel.is_primary = false;
        }
        let standing = Standing::default();
        self.channels.push(Channel { id, value, used_for_auth: true, is_verified, is_primary: true, standing });
        id
    }

    /// An anonymous user becomes an ordinary one, with the same id; the time of its sign-up is now.
    pub fn upgrade(&mut self, now: Timestamp) {
        self.is_anonymous = false;
        self.signed_up_at = now;
    }

    /// Sets a password; sessions other than `kept` are over.
    pub fn set_password(&mut self, hash: Hash, kept: Option<SessionId>) {
        self.password = Some(hash);
        self.forget_wrong_passwords();
        self.end_sessions(kept);
    }

    /// Signed in by a code from an email: that is a way to sign in from now on, unless it was switched off.
    pub fn use_email_codes(&mut self) {
        self.otp_enabled |= !self.otp_refused;
    }

    /// Whether so many wrong passwords were tried that none signs in any more: until the password is
    /// reset, or its owner signs in in another way (SP 800-63B-4, §3.2.2).
    pub fn is_closed_to_passwords(&self) -> bool {
        self.wrong_passwords >= MAX_WRONG_PASSWORDS
    }

    /// Whether so many wrong old passwords were tried that the password is changed by a reset alone.
    pub fn is_closed_to_old_passwords(&self) -> bool {
        self.wrong_old_passwords >= MAX_WRONG_PASSWORDS
    }

    /// The owner is known to be there: wrong passwords are counted anew.
    pub fn forget_wrong_passwords(&mut self) {
        self.wrong_passwords = 0;
        self.wrong_old_passwords = 0;
    }

    /// Switches sign-in by a code or link from an email on or off.
    pub fn set_email_codes(&mut self, enabled: bool) {
        self.otp_enabled = enabled;
        self.otp_refused = !enabled;
    }

    /// Whether the user does not want mails of this kind.
    pub fn refuses(&self, category: Category) -> bool {
        category.can_be_refused() && self.refused_categories.contains(&category)
    }

    pub fn primary(&self) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.is_primary)
    }

    /// All addresses of the user.
    pub fn addresses(&self) -> impl Iterator<Item = &Email> {
        self.channels.iter().map(|channel| &channel.value)
    }

    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.id == id)
    }

    pub fn channel_of(&self, email: &Email) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.value == *email)
    }

    pub fn restricted_reason(&self, config: &ProjectConfig) -> Option<RestrictedReason> {
        let is_verified = self.primary().is_some_and(|channel| channel.is_verified);
        if self.is_anonymous {
            Some(RestrictedReason::Anonymous)
        } else if config.require_email_verification && !is_verified {
            Some(RestrictedReason::EmailNotVerified)
        } else {
            self.restriction.as_ref().map(|_| RestrictedReason::RestrictedByAdministrator)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> User {
        User::new(&Entropy::system(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_new_primary_address_demotes_the_old_one_and_keeps_it() {
        let mut user = user();
        let (old, new) = (Email::parse("a@example.com").expect("valid"), Email::parse("b@example.com").expect("valid"));
        user.add_primary_email(&Entropy::system(), old, true);
        user.add_primary_email(&Entropy::system(), new.clone(), false);
        assert_eq!(user.channels.len(), 2);
        assert_eq!(user.primary().map(|channel| &channel.value), Some(&new));
    }

    #[test]
    fn the_first_reason_of_a_restriction_wins() {
        let mut user = user();
        let config = ProjectConfig { require_email_verification: true, ..ProjectConfig::default() };
        user.restriction = Some(Restriction { reason: None, private_details: None });
        user.is_anonymous = true;
        assert_eq!(user.restricted_reason(&config), Some(RestrictedReason::Anonymous));
        user.upgrade(Timestamp::UNIX_EPOCH);
        assert_eq!(user.restricted_reason(&config), Some(RestrictedReason::EmailNotVerified));
        assert_eq!(user.restricted_reason(&ProjectConfig::default()), Some(RestrictedReason::RestrictedByAdministrator));
        user.restriction = None;
        assert_eq!(user.restricted_reason(&ProjectConfig::default()), None);
    }
}
