//! The owner hears of it: what of a change is told to the addresses that an account had before it, and what "This wasn't me" takes back.
//!
//! Whoever made a change may hold the session and a new address, so the email goes to the addresses of before, with a [`Snapshot`] of the
//! account as it was. The link must not become a weapon itself: an intruder gets emails, too, once an address of theirs is verified.
//! These rules decide who may undo what:
//!
//! 1. **Seniority.** Only the address that has been verified in the account for longest (several, if none was first) gets a link that
//!    puts things back. The others get one that shuts intruders out: it ends sessions and codes and removes the password, and it works only
//!    while its address is still verified in the account, where it could reset the password anyway. So whoever came later, and was
//!    removed again, cannot come back by the email about it.
//! 2. **Undo goes backwards.** Notices of an account are numbered. Undoing number n ends it and all later ones; earlier ones still work, as
//!    they lead further back. So nothing that an intruder caused after the first change stands in the way of the first email.
//! 3. **A new owner.** When the account changes hands by first proof ([`ownership`](crate::user::ownership)), all earlier links end: their era has no
//!    say any more. A reset by an address that was verified before ends none, since otherwise an intruder could end the owner's links by it.
//! 4. **Nobody else's.** An address or provider account that somebody else signs in with by now is not taken back, except from an account
//!    that never verified the very address whose recipient follows the link. Whoever removes an address to block its return by signing up
//!    with it gains nothing.
//!
//! The password is always removed: whoever made the change may know it. Only the emailed reset opens the account then.
//!
//! Emails are limited for each account and kind of change: the first [`AT_ONCE`] in an hour go at once, one more goes at the end of that
//! hour, and it stands for all others. Its link leads back to before the first of them. A flood of one kind therefore hides neither another
//! kind nor a later change of its own kind.

pub mod kind;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::email::Email;
use crate::notice::kind::Kind;
use crate::user::notices::Joined;
use crate::user::standing::Standing;
use crate::user::totp::Totp;
use crate::user::{Channel, ProviderAccount, User};

/// How many addresses are told of a change, those first that have been verified for longest: each takes two writes of the transaction.
pub const MAX_RECIPIENTS: usize = 10;

/// A change as an email tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub kind: Kind,
    /// The address, or the provider's id.
    pub detail: Option<String>,
}

impl Change {
    fn of(kind: Kind) -> Self {
        Self { kind, detail: None }
    }

    fn about(kind: Kind, detail: impl ToString) -> Self {
        Self { kind, detail: Some(detail.to_string()) }
    }
}

/// What changed of how a user signs in.
pub fn changes(before: &User, after: &User) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(match (&before.password, &after.password) {
        (None, Some(_)) => Some(Change::of(Kind::PasswordSet)),
        (Some(_), None) => Some(Change::of(Kind::PasswordRemoved)),
        (Some(old), Some(new)) if old != new => Some(Change::of(Kind::PasswordChanged)),
        _ => None,
    });
    let signs_in = |user: &User, email: &Email| user.channel_of(email).is_some_and(Channel::signs_in);
    let starts = after.channels.iter().filter(|channel| channel.signs_in() && !signs_in(before, &channel.value));
    changes.extend(starts.map(|channel| Change::about(Kind::AddressAdded, &channel.value)));
    let ends = before.channels.iter().filter(|channel| channel.signs_in() && !signs_in(after, &channel.value));
    changes.extend(ends.map(|channel| Change::about(Kind::AddressRemoved, &channel.value)));
    let primary = |user: &User| user.primary().map(|channel| channel.value.clone());
    let new = primary(after).filter(|new| primary(before).as_ref() != Some(new));
    changes.extend(new.map(|new| Change::about(Kind::AddressMadePrimary, new)));
    let secret = |user: &User| user.totp.as_ref().map(|totp| totp.secret.clone());
    changes.extend(match (secret(before), secret(after)) {
        (Some(_), None) => Some(Change::of(Kind::AuthenticatorRemoved)),
        (old, Some(new)) if old.as_ref() != Some(&new) => Some(Change::of(Kind::AuthenticatorAdded)),
        _ => None,
    });
    // An account that only gives tokens is linked again, in effect, when it starts to sign in.
    let has = |user: &User, account: &ProviderAccount| {
        user.provider_accounts.iter().any(|own| own.is_same(account) && (own.allow_sign_in || !account.allow_sign_in))
    };
    let linked = after.provider_accounts.iter().filter(|account| !has(before, account));
    changes.extend(linked.map(|account| Change::about(Kind::ProviderLinked, &account.provider_id)));
    let unlinked = before.provider_accounts.iter().filter(|account| !has(after, account));
    changes.extend(unlinked.map(|account| Change::about(Kind::ProviderUnlinked, &account.provider_id)));
    changes
}

/// An address that is told of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    pub email: Email,
    /// Whether its link puts things back.
    pub may_undo: bool,
}

/// What a "This wasn't me" link does: put an account back, or only shut everybody out of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotMe {
    /// The address that the email went to.
    pub email: Email,
    /// The number of the change that it is about: what came since is undone.
    pub since: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Snapshot>,
}

/// How a user signed in before a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    channels: Vec<Channel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totp: Option<Totp>,
    provider_accounts: Vec<ProviderAccount>,
    otp_enabled: bool,
    otp_refused: bool,
    joined: Vec<Joined>,
}

/// What others sign in with by now, and cannot be put back.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    pub emails: Vec<Email>,
    pub accounts: Vec<ProviderAccount>,
}

/// The link does nothing: what it would undo is undone, its account has another owner, or its address is no longer the account's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended;

impl Snapshot {
    /// The same without what only waited to be verified and signs in `after` the change: it came with the change, whenever it was named.
    pub fn without_wishes(mut self, after: &User) -> Self {
        let starts = |channel: &Channel| after.channel_of(&channel.value).is_some_and(Channel::signs_in) && !channel.signs_in();
        self.channels.retain(|channel| channel.is_verified || !starts(channel));
        self
    }

    /// How many addresses and provider accounts there were.
    pub fn claims(&self) -> (usize, usize) {
        (self.channels.len(), self.provider_accounts.len())
    }
}

impl User {
    /// Who is told of a change of this user: the verified addresses, else one that signs in, first of all the primary one. An address
    /// that its user has only named may be a stranger's.
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

    /// Notes which addresses became verified since `before`: they are junior to those that were.
    pub fn note_verified(&mut self, before: &Self, now: Timestamp) {
        let is_verified = |user: &Self, email: &Email| user.channel_of(email).is_some_and(|channel| channel.is_verified);
        // Later than any other, whatever the clock says.
        let latest = before
            .channels
            .iter()
            .filter(|channel| channel.is_verified)
            .filter_map(|channel| before.notices.joined_at(&channel.value))
            .max();
        let at = latest.map_or(now, |latest| now.max(after(latest, SignedDuration::from_millis(1))));
        let new = self.channels.iter().filter(|channel| channel.is_verified && !is_verified(before, &channel.value));
        let new: Vec<Joined> = new.map(|channel| Joined { email: channel.value.clone(), at }).collect();
        self.notices.joined.retain(|joined| !new.iter().any(|new| new.email == joined.email));
        self.notices.joined.extend(new);
        let mut joined = std::mem::take(&mut self.notices.joined);
        joined.retain(|joined| is_verified(self, &joined.email));
        self.notices.joined = joined;
    }

    /// How the user signs in.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            channels: self.channels.clone(),
            totp: self.totp.clone(),
            provider_accounts: self.provider_accounts.clone(),
            otp_enabled: self.otp_enabled,
            otp_refused: self.otp_refused,
            joined: self.notices.joined.clone(),
        }
    }

    /// Does what a link says, but for what is taken.
    pub fn undo(&mut self, link: &NotMe, taken: &Taken) -> Result<(), Ended> {
        if self.notices.is_undone(link.since) {
            return Err(Ended);
        }
        match &link.before {
            Some(before) => {
                self.restore(before, &link.email, taken);
                self.notices.undo(link.since);
            }
            None if self.channel_of(&link.email).is_some_and(|channel| channel.is_verified) => {}
            None => return Err(Ended),
        }
        self.shut();
        Ok(())
    }

    /// Removes what `link` would remove and puts nothing back, for when both are more than a transaction takes.
    pub fn undo_additions(&mut self, link: &NotMe) -> Result<(), Ended> {
        if self.notices.is_undone(link.since) {
            return Err(Ended);
        }
        if let Some(before) = &link.before {
            self.channels.retain(|channel| before.channels.iter().any(|old| old.value == channel.value));
            self.provider_accounts.retain(|account| before.provider_accounts.iter().any(|old| old.is_same(account)));
        }
        self.shut();
        Ok(())
    }

    fn shut(&mut self) {
        self.password = None;
        self.forget_wrong_passwords();
        self.end_sessions(None);
    }

    fn restore(&mut self, before: &Snapshot, recipient: &Email, taken: &Taken) {
        let is_taken = |email: &Email| taken.emails.contains(email);
        let is_verified = self.channel_of(recipient).is_some_and(|channel| channel.is_verified);
        let restored = before.channels.iter().cloned().map(|channel| Channel {
            used_for_auth: channel.used_for_auth && !is_taken(&channel.value),
            is_verified: channel.is_verified || (is_verified && channel.value == *recipient),
            ..channel
        });
        self.channels = restored.collect();
        // No code of the app is accepted a second time.
        let last_step = self.totp.as_ref().map_or(0, |totp| totp.last_step);
        self.totp = before.totp.clone().map(|totp| Totp { last_step: totp.last_step.max(last_step), ..totp });
        let free = |account: &&ProviderAccount| !taken.accounts.iter().any(|taken| taken.is_same(account));
        self.provider_accounts = before.provider_accounts.iter().filter(free).cloned().collect();
        self.otp_enabled = before.otp_enabled;
        self.otp_refused = before.otp_refused;
        self.notices.joined.clone_from(&before.joined);
    }

    /// Gives up the claim of an address that was never verified here to whoever reads its emails.
    pub fn cede(&mut self, email: &Email) -> bool {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.signs_in() && !channel.is_verified);
        channel.map(|channel| channel.standing = Standing::Wished).is_some()
    }
}
