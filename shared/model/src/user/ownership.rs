//! Account ownership: how addresses are claimed and proved, and which codes and sessions a change
//! invalidates.
//!
//! An account has a *credential epoch* and a *session epoch*. A code is valid only in the
//! credential epoch in which it was created. A session is valid only in the session epoch in which
//! it began, unless it was kept. Ending all sessions raises both epochs. The entire account is one
//! item, written under a version condition, so each transition below happens completely or not at
//! all. If a transition raises an epoch, the codes or sessions from before the transition are no
//! longer valid.
//!
//! | transition | credentials | sessions | credential epoch |
//! |---|---|---|---|
//! | first proof of an address by a stranger | only the proved address is kept; the user leaves all teams, and name, picture and client metadata are cleared | end | raised |
//! | an anonymous user signs up, or a tool's anonymous user is taken over | all are removed; the sign-up adds a new one | end | raised |
//! | "This wasn't me" ([`notice`](crate::notice)) | as before the change or, if the link only locks intruders out, as they are; without a password and recovery codes | end | raised |
//! | proof by the account's creator, or of a proved address | stay | stay | stays |
//! | verification code redeemed | stay; an address that the user requested for signing in can now be used. If the code is redeemed without a session of the account, the address of the sign-up or, if none is verified, any address stays unproved, so the next proof is the first one. Such an address is not confirmed | stay | stays |
//! | password changed, reset or removed; all sessions ended | all others are kept | end, except for a kept one | raised |
//! | first password set by the user; address removed, replaced, disabled for signing in or no longer primary; provider account unlinked or disabled for signing in; passkey removed | all others are kept | stay | raised |
//! | address added | stay | stay | stays, because no earlier code is for the address |

use jiff::Timestamp;
use wire::id::{ChannelId, SessionId};

use crate::code::StoredCode;
use crate::email::Email;
use crate::provider::account::ProviderAccount;
use crate::user::standing::Standing;
use crate::user::{Channel, User};

/// Who makes a change to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user of the account, with client access.
    User,
    /// A server or an administrator.
    Server,
}

impl Author {
    /// The standing of an address that this author adds or enables for signing in.
    pub(crate) fn standing(self) -> Standing {
        match self {
            Self::User => Standing::Wished,
            Self::Server => Standing::Assigned,
        }
    }
}

/// Who proves an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prover {
    /// The holder of a live access token of the same account.
    Creator,
    /// Someone who proves only control of the address.
    Stranger,
}

/// The effect of a proof on the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The address had already been proved.
    Known,
    /// The creator of the account proved the address.
    Confirmed,
    /// The account has a new owner: the person who proved the address.
    First,
}

impl Channel {
    /// An unverified address, which is neither primary nor used for signing in.
    pub(crate) fn new(id: ChannelId, value: Email, standing: Standing) -> Self {
        Self { id, value, used_for_auth: false, is_verified: false, is_unproved: false, is_elsewhere: false, is_primary: false, standing }
    }

    /// Whether the user can sign in with the address. If so, the address is claimed, which means
    /// that no other account can sign in with it.
    pub fn signs_in(&self) -> bool {
        self.used_for_auth && (self.is_verified || self.standing != Standing::Wished)
    }

    /// Whether the owner of the account has proved the address, or a provider or a server vouches
    /// for the address.
    pub fn is_proved(&self) -> bool {
        self.is_verified && !self.is_unproved
    }

    /// Whether the person who uses the account is known to receive emails at the address. An
    /// address that was verified only with a code redeemed without a session may belong to someone
    /// else, who opened the link without having requested it.
    pub fn is_confirmed(&self) -> bool {
        self.is_proved() && !self.is_elsewhere
    }

    /// Whether another account that verifies the address takes over the claim.
    pub fn gives_way(&self) -> bool {
        self.signs_in() && !self.is_verified && !self.is_primary && self.standing == Standing::Provisional
    }

    /// Records that the owner of the account has proved the address.
    fn settle(&mut self) {
        self.is_verified = true;
        self.is_unproved = false;
        self.is_elsewhere = false;
    }

    /// Releases the claim to an unproved address.
    pub(crate) fn give_up(&mut self) {
        self.is_verified = false;
        self.is_unproved = false;
        self.is_elsewhere = false;
        self.standing = Standing::Wished;
    }
}

impl StoredCode {
    /// Whether the account is still in the credential epoch in which the code was created.
    pub fn is_of_epoch(&self, user: &User) -> bool {
        self.epoch == user.credential_epoch
    }
}

impl User {
    /// Records that someone has proved one of the user's sign-in addresses; `None` for any other
    /// address. If the account gets a new owner, `fresh` becomes the channel's id, so that links
    /// with the old id no longer work.
    pub fn prove(&mut self, email: &Email, prover: Prover, fresh: ChannelId) -> Option<Proof> {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.signs_in())?;
        match prover {
            _ if channel.is_proved() => {
                channel.settle();
                Some(Proof::Known)
            }
            Prover::Creator => {
                channel.settle();
                Some(Proof::Confirmed)
            }
            Prover::Stranger => {
                self.change_hands(email.clone(), fresh);
                Some(Proof::First)
            }
        }
    }

    /// Gives the account to the person who proved an address, which becomes the only credential.
    fn change_hands(&mut self, value: Email, id: ChannelId) {
        self.remove_credentials();
        let channel = Channel::new(id, value, Standing::Provisional);
        self.channels = vec![Channel { used_for_auth: true, is_verified: true, is_primary: true, ..channel }];
    }

    /// Whether the account may have been used, according to the user's data. An account may have
    /// been used if a server did not create it, if it has or had a credential other than the
    /// address, or if its sessions were ended.
    pub fn may_have_been_used(&self) -> bool {
        let has_credential = self.password.is_some() || !self.provider_accounts.is_empty() || !self.passkeys.is_empty();
        let is_of_server = |channel: &Channel| channel.standing == Standing::Assigned;
        let has_history = self.credential_epoch > 0 || self.session_epoch > 0 || self.owner_epoch > 0;
        has_credential || has_history || self.channels.len() > 1 || !self.channels.iter().all(is_of_server)
    }

    /// Clears the personal fields that clients can write, because the account has a new owner.
    pub fn forget_person(&mut self) {
        self.display_name = None;
        self.profile_image_url = None;
        self.uploaded_image = None;
        self.client_metadata = None;
        self.refused_categories.clear();
        self.second_factor_teams.clear();
    }

    /// Turns an anonymous user who signs up at `now` into an ordinary user, without the anonymous
    /// user's credentials and sessions. Anyone who shared one of those sessions must not get access
    /// to the account. The caller then adds the credential of the sign-up.
    pub fn sign_up(&mut self, now: Timestamp) {
        self.upgrade(now);
        self.remove_credentials();
        self.began_epoch = self.credential_epoch;
    }

    /// Removes all ways to sign in, and ends all sessions. New kinds of credentials must also be
    /// removed in this function.
    pub fn remove_credentials(&mut self) {
        self.channels.clear();
        self.password = None;
        self.forget_wrong_passwords();
        self.totp = None;
        self.provider_accounts.clear();
        self.api_keys.clear();
        self.passkeys.clear();
        self.otp_enabled = false;
        self.otp_refused = false;
        self.notices.end();
        self.owner_epoch += 1;
        self.end_sessions(None);
    }

    /// Marks an address as verified with an emailed code; `false` if the user no longer has the
    /// address.
    ///
    /// If a stranger redeemed the code, it is unknown whether the recipient uses the account. An
    /// address that a client claimed at sign-up therefore stays unproved, as does the account's
    /// first verified address. Additional addresses count as proved, but not as confirmed.
    /// Otherwise, someone who added an address with a stolen session could use it to become the
    /// owner, which would invalidate the links in the notices to the real owner.
    pub fn verify_email(&mut self, email: &Email, prover: Prover) -> bool {
        let is_further = self.channels.iter().any(|other| other.is_verified && other.value != *email);
        let Some(channel) = self.channels.iter_mut().find(|channel| channel.value == *email) else { return false };
        match prover {
            Prover::Creator => channel.settle(),
            Prover::Stranger => {
                let is_claimed = channel.signs_in() && channel.standing == Standing::Provisional;
                channel.is_unproved |= !channel.is_verified && (is_claimed || !is_further);
                channel.is_elsewhere |= !channel.is_verified;
                channel.is_verified = true;
            }
        }
        true
    }

    /// Releases the claim to an address that another account has verified; `false` if this account
    /// does not have a claim that it must release ([`Channel::gives_way`]).
    pub fn give_way(&mut self, email: &Email) -> bool {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.gives_way());
        channel.map(Channel::give_up).is_some()
    }

    /// Removes the channel of an address whose recipient says that the account belongs to someone
    /// else; `false` if the channel does not exist.
    pub fn release(&mut self, id: ChannelId) -> bool {
        let Some(position) = self.channels.iter().position(|channel| channel.id == id) else { return false };
        let channel = self.channels.remove(position);
        self.notices.release(channel.value);
        self.raise_epoch();
        true
    }

    /// Ends all sessions except `kept`, and invalidates all codes.
    pub fn end_sessions(&mut self, kept: Option<SessionId>) {
        self.session_epoch += 1;
        self.kept_session = kept;
        self.renew_epoch();
    }

    /// Invalidates all codes created so far, because the password was set or sessions were ended.
    /// No way to sign in is lost, so the account still counts as having its first address
    /// ([`Self::began_with`]).
    pub fn renew_epoch(&mut self) {
        let began = self.began_epoch == self.credential_epoch;
        self.raise_epoch();
        if began {
            self.began_epoch = self.credential_epoch;
        }
    }

    /// Invalidates all codes created so far.
    pub fn raise_epoch(&mut self) {
        self.credential_epoch += 1;
    }

    /// Invalidates all codes if the user has lost a way to sign in since `before`. A way is lost if
    /// an address was removed, replaced, disabled for signing in or is no longer primary, or if a
    /// provider account was unlinked or disabled for signing in.
    pub fn raise_epoch_if_way_in_went(&mut self, before: &Self) {
        let address_stays = |old: &Channel| {
            self.channels
                .iter()
                .any(|new| new.value == old.value && (new.signs_in() || !old.signs_in()) && (new.is_primary || !old.is_primary))
        };
        let account_stays = |old: &ProviderAccount| {
            let signs_in = |new: &ProviderAccount| new.is_same(old) && new.allow_sign_in;
            !old.allow_sign_in || self.provider_accounts.iter().any(signs_in)
        };
        if !before.channels.iter().all(address_stays) || !before.provider_accounts.iter().all(account_stays) {
            self.raise_epoch();
        }
    }

    /// Whether an unverified channel is the address with which the user signed up, or a correction
    /// of that address. Losing a way to sign in after the sign-up would have raised the epoch.
    pub fn began_with(&self, channel: &Channel) -> bool {
        self.credential_epoch == self.began_epoch && channel.signs_in() && channel.standing == Standing::Provisional
    }

    /// The unproved sign-in addresses. The first person to prove such an address becomes the owner
    /// of the account.
    pub fn unproved(&self) -> impl Iterator<Item = &Email> {
        self.channels.iter().filter(|channel| channel.signs_in() && !channel.is_proved()).map(|channel| &channel.value)
    }
}
