//! Users. A user is stored as a single item, with all contact channels and provider accounts. The
//! item is written under a version condition, so every rule is checked against a consistent state.

pub mod channel;
#[cfg(test)]
mod channel_tests;
pub mod device;
pub mod enrolment;
pub mod filter;
pub mod input;
pub mod notices;
pub mod ownership;
#[cfg(test)]
mod ownership_tests;
pub mod passkey;
pub mod passkeys;
pub mod patch;
pub mod provider_accounts;
#[cfg(test)]
mod provider_accounts_tests;
pub mod recovery;
pub mod reference;
pub mod restriction;
pub mod search;
pub mod second_factor;
mod sign_up;
pub mod standing;
#[cfg(test)]
mod tests;
pub mod totp;
pub mod values;

use std::collections::BTreeSet;

use crypto::digest::Digest;
use crypto::password::hash::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::id::{ChannelId, SessionId, TeamId, UserId};

use crate::email::Email;
use crate::email::category::Category;
use crate::metadata::Metadata;
use crate::owned_key::OwnedKeys;
use crate::permission::Grant;
use crate::provider::account::ProviderAccount;
use crate::quota::Quota;
use crate::sign_up::risk::RiskScores;
use crate::user::notices::Notices;
use crate::user::passkey::Passkey;
use crate::user::restriction::Restriction;
use crate::user::standing::Standing;
use crate::user::totp::Totp;

/// The maximum number of contact channels of a user. The limit keeps the item far below DynamoDB's
/// maximum of 400 KB, and lets the claims of all addresses fit into one transaction.
pub const MAX_CHANNELS: usize = Quota::ContactChannels.max();
/// The number of consecutive wrong passwords, over any period, after which the account no longer
/// accepts passwords (SP 800-63B-4, §3.2.2).
pub const MAX_WRONG_PASSWORDS: u32 = 100;
/// The maximum number of provider accounts of a user, limited for the same reasons as channels.
pub const MAX_ACCOUNTS: usize = Quota::ProviderAccounts.max();

/// A user of a project, as stored in the table.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// The id of the user.
    pub id: UserId,
    /// When the user signed up.
    pub signed_up_at: Timestamp,
    /// The name, in at most 256 characters.
    pub display_name: Option<String>,
    /// The picture.
    pub profile_image_url: Option<String>,
    /// The digest of the picture, if this service stores it.
    pub uploaded_image: Option<Digest>,
    /// The addresses.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// The hash of the password.
    pub password: Option<Hash>,
    /// When a signed-in user last set a password for an account without one; absent if this never
    /// happened. All other ways to set a password, except the sign-up of an anonymous user, end the
    /// user's other sessions.
    pub first_password_at: Option<Timestamp>,
    /// The number of consecutive wrong passwords at sign-in (see [`Self::is_closed_to_passwords`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_passwords: u32,
    /// The number of consecutive wrong passwords that a signed-in user sent, to change the password
    /// or to reauthenticate (see [`Self::is_closed_to_old_passwords`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_old_passwords: u32,
    /// Whether the user may sign in with an emailed code or link.
    #[serde(default)]
    pub otp_enabled: bool,
    /// Whether the user or a server disabled emailed codes and links. If `true`, redeeming a code
    /// does not enable codes and links again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub otp_refused: bool,
    /// The second factor, if any. Sign-ins require the second factor unless a remembered device
    /// replaces it or a passkey counts as both factors.
    pub totp: Option<Totp>,
    /// The accounts at providers.
    #[serde(default)]
    pub provider_accounts: Vec<ProviderAccount>,
    /// The API keys.
    #[serde(default, skip_serializing_if = "OwnedKeys::is_empty")]
    pub api_keys: OwnedKeys,
    /// The passkeys, in order of registration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passkeys: Vec<Passkey>,
    /// Whether the user has not signed up yet.
    #[serde(default)]
    pub is_anonymous: bool,
    /// The restriction set by an administrator, a server or a sign-up rule.
    pub restriction: Option<Restriction>,
    /// Metadata that the user's client reads and writes.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Metadata>,
    /// Metadata that the user's client reads and servers write.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_read_only_metadata: Option<Metadata>,
    /// Metadata that only servers read and write.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub server_metadata: Option<Metadata>,
    /// The country, ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    /// The scores set by a server.
    #[serde(default)]
    pub risk_scores: RiskScores,
    /// The categories of emails that the user has unsubscribed from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_categories: Vec<Category>,
    /// The selected team, which is one of the user's teams.
    pub selected_team_id: Option<TeamId>,
    /// The user's permissions in the entire project.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub permissions: BTreeSet<Grant>,
    /// The credential epoch: codes from an earlier epoch are invalid (see [`ownership`]).
    #[serde(default)]
    pub credential_epoch: u64,
    /// The earliest credential epoch since which no way to sign in has been lost: the epoch at the
    /// sign-up, or when a mistyped address was last corrected. A new password does not count as a
    /// loss, so it raises this epoch together with the credential epoch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub began_epoch: u64,
    /// How many times all credentials were removed or an intruder was reported. Credentials are
    /// removed because of a new owner, the sign-up of an anonymous user, or the takeover of a
    /// tool's user. If the user sent a team invitation or created a team API key in an earlier
    /// epoch, the invitation or key is invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub owner_epoch: u64,
    /// The session epoch: sessions from an earlier epoch have ended, except the kept session (see
    /// [`Session::is_live`](crate::session::Session::is_live)).
    #[serde(default)]
    pub session_epoch: u64,
    /// The session that was kept when the session epoch was last raised, if any.
    pub kept_session: Option<SessionId>,
    /// The user's teams whose members need a second factor, as known when the user last joined a
    /// team, signed in or refreshed an access token.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub second_factor_teams: BTreeSet<TeamId>,
    /// The state of the account's change notices.
    #[serde(default, skip_serializing_if = "Notices::is_none")]
    pub notices: Notices,
}

pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// An email address of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The id of the channel.
    pub id: ChannelId,
    /// The address.
    pub value: Email,
    /// Whether the address is intended for signing in (see [`Self::signs_in`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used_for_auth: bool,
    /// Whether the address is verified: someone has proved that they receive emails at the address,
    /// a provider has verified it, or a server has declared it verified.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_verified: bool,
    /// Whether a verified address is still unproved. The address's verification code was redeemed
    /// without a session of the account, so the recipient of its emails may not be the user of the
    /// account. Always `false` for an unverified address.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unproved: bool,
    /// Whether the address was verified only by a verification code that was redeemed without a
    /// session of the account. The flag can be `true` for an address that counts as proved because
    /// the account had a verified address before. Always `false` for an unverified address.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_elsewhere: bool,
    /// Whether this is the user's primary address.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_primary: bool,
    /// Whether and why the user may sign in with the address while it is unverified.
    #[serde(default, skip_serializing_if = "Standing::is_provisional")]
    pub standing: Standing,
}

impl User {
    /// A user who signs up at `now`, without any other data.
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
            api_keys: OwnedKeys::default(),
            passkeys: Vec::new(),
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
            began_epoch: 0,
            owner_epoch: 0,
            session_epoch: 0,
            kept_session: None,
            second_factor_teams: BTreeSet::new(),
            notices: Notices::default(),
        }
    }

    /// Adds an address that can be used to sign in and becomes the primary address.
    pub fn add_primary_email(&mut self, entropy: &Entropy, value: Email, is_verified: bool) -> ChannelId {
        let id = ChannelId::from(entropy.uuid());
        self.demote();
        let channel = Channel::new(id, value, Standing::default());
        self.channels.push(Channel { used_for_auth: true, is_verified, is_primary: true, ..channel });
        id
    }

    /// Turns an anonymous user into an ordinary user with the same id, who signs up at `now`.
    pub fn upgrade(&mut self, now: Timestamp) {
        self.is_anonymous = false;
        self.signed_up_at = now;
    }

    /// Sets a password and ends all sessions except `kept`.
    pub fn set_password(&mut self, hash: Hash, kept: Option<SessionId>) {
        self.password = Some(hash);
        self.forget_wrong_passwords();
        self.end_sessions(kept);
    }

    /// Enables emailed codes after the user signed in with a code, unless codes were disabled.
    pub fn use_email_codes(&mut self) {
        self.otp_enabled |= !self.otp_refused;
    }

    /// Whether the account no longer accepts passwords because too many wrong passwords were tried.
    /// The account accepts passwords again once the password is replaced or the owner signs in
    /// another way (SP 800-63B-4, §3.2.2).
    pub fn is_closed_to_passwords(&self) -> bool {
        self.wrong_passwords >= MAX_WRONG_PASSWORDS
    }

    /// Whether a signed-in user can no longer use the password to change it or to reauthenticate,
    /// because too many wrong passwords were sent. [`Self::forget_wrong_passwords`] lifts this
    /// block.
    pub fn is_closed_to_old_passwords(&self) -> bool {
        self.wrong_old_passwords >= MAX_WRONG_PASSWORDS
    }

    /// Whether a wrong password has been counted since [`Self::forget_wrong_passwords`].
    pub fn has_wrong_passwords(&self) -> bool {
        self.wrong_passwords > 0 || self.wrong_old_passwords > 0
    }

    /// Resets the counts of wrong passwords. Called when the owner has authenticated, or when the
    /// password was replaced or removed.
    pub fn forget_wrong_passwords(&mut self) {
        self.wrong_passwords = 0;
        self.wrong_old_passwords = 0;
    }

    /// Enables or disables signing in with emailed codes and links.
    pub fn set_email_codes(&mut self, enabled: bool) {
        self.otp_enabled = enabled;
        self.otp_refused = !enabled;
    }

    /// Whether the user has unsubscribed from this category; `false` if users cannot unsubscribe
    /// from the category.
    pub fn refuses(&self, category: Category) -> bool {
        category.can_be_refused() && self.refused_categories.contains(&category)
    }

    /// The primary address.
    pub fn primary(&self) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.is_primary)
    }

    /// All addresses of the user.
    pub fn addresses(&self) -> impl Iterator<Item = &Email> {
        self.channels.iter().map(|channel| &channel.value)
    }

    /// The channel with this id.
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.id == id)
    }

    /// The channel with this address.
    pub fn channel_of(&self, email: &Email) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.value == *email)
    }
}
