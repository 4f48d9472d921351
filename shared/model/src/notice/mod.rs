//! Change notices: which changes are reported, which earlier addresses are notified, and what the
//! "This wasn't me" link undoes.
//!
//! The person behind a change may control the session and a newly added address. Notices therefore
//! go to the addresses from before the change, and the link can restore a [`Snapshot`] of the
//! account from that time. Intruders must not be able to misuse the link, because they also receive
//! notices once their address is verified. These rules decide who can undo which changes:
//!
//! 1. **Seniority.** A link that restores the account goes only to the address verified first in
//!    the account and to any others verified at the same time. If no address is verified, the only
//!    recipient gets a link that restores the account. All other recipients get a link that locks
//!    intruders out: it ends sessions and codes, and removes the password and the recovery codes. A
//!    link that locks intruders out works only while the address to which it was sent is still
//!    verified in the account. Anyone who reads the emails to a verified address could reset the
//!    password anyway. An intruder whose address has been removed therefore cannot return through
//!    an earlier notice.
//! 2. **Changes are undone in reverse order.** The notices of an account are numbered. Using a link
//!    that restores the account invalidates the links of its notice and of all later notices. The
//!    links of earlier notices still work, because they restore an earlier state. An intruder
//!    therefore cannot invalidate the first notice by anything done after the first change.
//! 3. **A new owner.** When the account changes hands because someone proves ownership of its
//!    address ([`ownership`](crate::user::ownership)), all earlier links become invalid. A password
//!    reset through an address that is already verified does not invalidate links; otherwise, an
//!    intruder could invalidate the owner's links with a reset.
//! 4. **Claimed by another account.** The link does not restore sign-in with an address, provider
//!    account or passkey that another account has claimed since the change. The one exception is
//!    the address to which the link was sent, if the other account never verified that address.
//!    Nobody can therefore remove an address and prevent its return by signing up with the address.
//!    The address is then restored as unverified, because the other account's user may be the one
//!    who reads the emails to the address.
//! 5. **Released by its recipient.** An address that its recipient removed from the account is
//!    restored only by a link sent to that address.
//!
//! The password and the recovery codes are always removed, because the person behind the change may
//! know them. The owner can then set a new password through an emailed reset.
//!
//! Notices are limited per account and kind of change: the first few in an hour are sent
//! immediately, and one more at the end of that hour covers all later changes. The link in the
//! final notice restores the state before the first change that the notice covers. A flood of one
//! kind of change therefore cannot hide another kind or a later change of the same kind.

pub mod change;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::OwnedKeyId;

use crate::email::Email;
use crate::provider::account::ProviderAccount;
use crate::user::notices::JoinedAddress;
use crate::user::passkey::Passkey;
use crate::user::standing::Standing;
use crate::user::totp::{Authenticator, Totp};
use crate::user::{Channel, User};

pub use crate::notice::change::{Change, changes};

/// The maximum number of recipients of a notice; the earliest verified addresses come first. Each
/// recipient adds two writes to the transaction.
pub const MAX_RECIPIENTS: usize = 10;

/// An address that receives a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// The address.
    pub email: Email,
    /// Whether the link in the notice restores the account; otherwise, the link only locks
    /// intruders out.
    pub may_undo: bool,
}

/// What a "This wasn't me" link does: restore the account, or only lock intruders out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotMe {
    /// The address that the notice was sent to.
    pub email: Email,
    /// The number of the notice or, in an email about a new sign-in, the number of the next notice.
    /// A link that restores the account undoes the changes of this notice and of all later ones.
    pub since: u64,
    /// The state to restore; if absent, the link only ends sessions and codes, and removes the
    /// password and the recovery codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Snapshot>,
}

/// The ways in which a user signed in, and the user's API keys, before a change or at the time of a
/// reported sign-in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    channels: Vec<Channel>,
    /// The authenticator apps, without recovery codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totp: Option<Totp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    provider_accounts: Vec<ProviderAccount>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passkeys: Vec<Passkey>,
    otp_enabled: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    otp_refused: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joined: Vec<JoinedAddress>,
    /// The user's API keys at the time; the link removes keys created since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    api_keys: Vec<OwnedKeyId>,
}

/// Addresses, provider accounts and passkeys that other accounts have claimed since the change, so
/// the user cannot get them back for sign-in.
#[derive(Debug, Clone, Default)]
pub struct LostCredentials {
    /// Addresses.
    pub emails: Vec<Email>,
    /// Provider accounts.
    pub accounts: Vec<ProviderAccount>,
    /// Passkeys.
    pub passkeys: Vec<Passkey>,
}

/// The link no longer works: the change is already undone, the account has another owner, or the
/// link only locks intruders out and its address is no longer verified in the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal;

impl Snapshot {
    /// The snapshot without the addresses that the change made usable. Such addresses were neither
    /// verified nor usable for signing in before the change, but are verified, usable for signing
    /// in, or both in `after`. The addresses that are left out count as part of the change, no
    /// matter when they were added.
    pub fn without_wishes(mut self, after: &User) -> Self {
        let counts = |channel: &Channel| channel.is_verified || channel.signs_in();
        self.channels.retain(|channel| counts(channel) || !after.channel_of(&channel.value).is_some_and(counts));
        self
    }

    /// The number of addresses, provider accounts and passkeys.
    pub fn claims(&self) -> usize {
        self.channels.len() + self.provider_accounts.len() + self.passkeys.len()
    }
}

impl User {
    /// The recipients of a notice about a change to this user or about a new sign-in. They are at
    /// most [`MAX_RECIPIENTS`] verified addresses or, if there are none, one sign-in address,
    /// preferably the primary one. Only one unverified address is notified, because an unverified
    /// address may belong to a stranger.
    pub fn told(&self) -> Vec<Recipient> {
        let mut verified: Vec<_> = self.channels.iter().filter(|channel| channel.is_verified).map(|channel| &channel.value).collect();
        verified.sort_by_key(|email| self.notices.joined_at(email));
        let first = verified.first().and_then(|email| self.notices.joined_at(email));
        if verified.is_empty() {
            let unproved = self.primary().filter(|channel| channel.signs_in()).map(|channel| &channel.value);
            verified.extend(unproved.or_else(|| self.unproved().next()));
        }
        let recipient = |email: &Email| Recipient { email: email.clone(), may_undo: self.notices.joined_at(email) == first };
        verified.into_iter().take(MAX_RECIPIENTS).map(recipient).collect()
    }

    /// Records which addresses became verified since `before`; these addresses are junior to
    /// addresses that were verified before. The account's first address is not recorded, nor is an
    /// address verified from the start: the first address remains the most senior, no matter when
    /// it is verified. Addresses that are no longer verified are forgotten.
    pub fn note_verified(&mut self, before: &Self, now: Timestamp) {
        let is_verified = |user: &Self, email: &Email| user.channel_of(email).is_some_and(|channel| channel.is_verified);
        // New addresses get a later time than all addresses verified before them, even if the clock
        // has been set back.
        let latest = before
            .channels
            .iter()
            .filter(|channel| channel.is_verified)
            .filter_map(|channel| before.notices.joined_at(&channel.value))
            .max();
        let at = latest.map_or(now, |latest| now.max(after(latest, SignedDuration::from_millis(1))));
        let is_first = |email: &Email| {
            let position = before.channels.iter().position(|old| old.value == *email && old.signs_in());
            position.is_some_and(|position| position == 0 || before.channels[position].standing == Standing::Provisional)
        };
        let new = self.channels.iter().filter(|channel| channel.is_verified && !is_verified(before, &channel.value));
        let new = new.filter(|channel| !is_first(&channel.value));
        let new: Vec<JoinedAddress> = new.map(|channel| JoinedAddress { email: channel.value.clone(), at }).collect();
        self.notices.joined.retain(|joined| !new.iter().any(|new| new.email == joined.email));
        self.notices.released.retain(|released| !new.iter().any(|new| new.email == *released));
        self.notices.joined.extend(new);
        let mut joined = std::mem::take(&mut self.notices.joined);
        joined.retain(|joined| is_verified(self, &joined.email));
        self.notices.joined = joined;
    }

    /// How the user currently signs in. Recovery codes are left out and never restored, because the
    /// person behind the change may know them.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            channels: self.channels.clone(),
            totp: self.totp.clone().map(|totp| Totp { recovery: None, ..totp }),
            provider_accounts: self.provider_accounts.clone(),
            passkeys: self.passkeys.clone(),
            otp_enabled: self.otp_enabled,
            otp_refused: self.otp_refused,
            joined: self.notices.joined.clone(),
            api_keys: self.api_keys.ids(),
        }
    }

    /// Undoes the change that `link` refers to and all later ones, but does not restore sign-in
    /// with the credentials in `taken`. A link without a snapshot does not restore anything, and
    /// only locks intruders out.
    pub fn undo(&mut self, link: &NotMe, taken: &LostCredentials) -> Result<(), Refusal> {
        if self.notices.is_undone(link.since) {
            return Err(Refusal);
        }
        match &link.before {
            Some(before) => {
                self.restore(before, &link.email, taken);
                self.notices.undo(link.since);
            }
            None if self.channel_of(&link.email).is_some_and(|channel| channel.is_verified) => {}
            None => return Err(Refusal),
        }
        self.shut();
        Ok(())
    }

    /// Removes the addresses, provider accounts, passkeys and API keys added in or after the change
    /// that `link` refers to, and locks intruders out, but does not restore anything. Used if
    /// removing and restoring together would exceed the maximum size of a transaction.
    pub fn undo_additions(&mut self, link: &NotMe) -> Result<(), Refusal> {
        if self.notices.is_undone(link.since) {
            return Err(Refusal);
        }
        if let Some(before) = &link.before {
            self.channels.retain(|channel| before.channels.iter().any(|old| old.value == channel.value));
            self.provider_accounts.retain(|account| before.provider_accounts.iter().any(|old| old.is_same(account)));
            self.api_keys.retain(&before.api_keys);
            self.passkeys.retain(|passkey| before.passkeys.iter().any(|old| old.is_same(passkey)));
        }
        self.shut();
        Ok(())
    }

    fn shut(&mut self) {
        self.password = None;
        self.forget_wrong_passwords();
        if let Some(totp) = &mut self.totp {
            totp.recovery = None;
        }
        self.owner_epoch += 1;
        self.end_sessions(None);
    }

    fn restore(&mut self, before: &Snapshot, recipient: &Email, taken: &LostCredentials) {
        let is_taken = |channel: &Channel| taken.emails.contains(&channel.value);
        // The current state of the recipient's address; the snapshot may be older.
        let own = self.channel_of(recipient).filter(|own| own.is_verified);
        let released = &self.notices.released;
        let may_return = |channel: &&Channel| channel.value == *recipient || !released.contains(&channel.value);
        let restored = before.channels.iter().filter(may_return).map(|channel| {
            let was_verified = channel.is_verified && !is_taken(channel);
            let mut restored = Channel { used_for_auth: channel.used_for_auth && !is_taken(channel), ..channel.clone() };
            match own.filter(|own| own.value == channel.value) {
                Some(own) if was_verified => {
                    restored.is_unproved &= own.is_unproved;
                    restored.is_elsewhere &= own.is_elsewhere;
                }
                Some(own) => {
                    restored.is_verified = true;
                    restored.is_unproved = own.is_unproved;
                    restored.is_elsewhere = own.is_elsewhere;
                }
                None => {
                    restored.is_verified = was_verified;
                    restored.is_unproved &= was_verified;
                    restored.is_elsewhere &= was_verified;
                }
            }
            restored
        });
        self.channels = restored.collect();
        // Codes that were already used with an authenticator app remain used.
        let used: Vec<Authenticator> = self.apps().cloned().collect();
        self.totp.clone_from(&before.totp);
        for app in self.totp.iter_mut().flat_map(Totp::apps_mut) {
            let last_step = used.iter().filter(|used| used.id == app.id).map(|used| used.last_step).max();
            app.last_step = app.last_step.max(last_step.unwrap_or_default());
        }
        let free = |account: &&ProviderAccount| !taken.accounts.iter().any(|taken| taken.is_same(account));
        self.provider_accounts = before.provider_accounts.iter().filter(free).cloned().collect();
        self.passkeys = self.restored_passkeys(before, taken);
        self.otp_enabled = before.otp_enabled;
        self.otp_refused = before.otp_refused;
        self.api_keys.retain(&before.api_keys);
        let is_verified = |email: &Email| self.channel_of(email).is_some_and(|channel| channel.is_verified);
        let joined = before.joined.iter().filter(|joined| is_verified(&joined.email)).cloned().collect();
        self.notices.joined = joined;
    }

    /// The passkeys of the user before a change. Passkeys that the user still has keep their
    /// current state, so that signature counters that were received since the change are not
    /// accepted again.
    fn restored_passkeys(&self, before: &Snapshot, taken: &LostCredentials) -> Vec<Passkey> {
        let free = before.passkeys.iter().filter(|passkey| !taken.passkeys.iter().any(|taken| taken.is_same(passkey)));
        free.map(|passkey| self.passkeys.iter().find(|own| own.is_same(passkey)).unwrap_or(passkey).clone()).collect()
    }

    /// Gives up this account's claim to an address whose ownership was never proved in the account,
    /// in favor of the person who receives emails at that address. Returns whether the account had
    /// such a claim.
    pub fn cede(&mut self, email: &Email) -> bool {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.signs_in() && !channel.is_proved());
        channel.map(Channel::give_up).is_some()
    }
}
