//! Whose account it is: how addresses are claimed and proved, and what dies with a change of either.
//!
//! An account has a *credential epoch* and a *session epoch*. A code is good in the credential epoch that it was made in, a session in
//! its session epoch; ending all sessions raises both. All of this is one item, written on the condition of its version, so a
//! transition below happens as a whole or not at all, and whatever was made before it is dead by comparison.
//!
//! | transition | credentials | sessions | credential epoch |
//! |---|---|---|---|
//! | first proof of an address by a stranger | only the proved address stays | end | raised |
//! | "This wasn't me" ([`notice`](crate::notice)) | as before the change, without a password | end | raised |
//! | proof by the account's creator, or of a proved address | stay | stay | stays |
//! | verification code | stay; a wished address starts to sign in | stay | stays |
//! | password changed or reset, all sessions ended | stay | end, but for a kept one | raised |
//! | first password set, address removed, replaced or no longer primary, provider account unlinked | stay | stay | raised |
//! | address added | stay | stay | stays: no earlier code is for it |

use wire::id::{ChannelId, SessionId};

use crate::email::Email;
use crate::user::standing::Standing;
use crate::user::{Channel, ProviderAccount, User};

/// By whose word an account is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// Its user, with client access.
    User,
    Server,
}

impl Author {
    /// The standing of an address that is newly used for signing in.
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
    /// Has a live access token of the very account.
    Creator,
    /// Has nothing but the address.
    Stranger,
}

/// What a proof did to the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The address was proved before.
    Known,
    /// The creator of the account proved its address.
    Confirmed,
    /// The account has a new owner: whoever proved the address.
    First,
}

impl Channel {
    /// Whether the address signs its user in, and so is claimed: no other account signs in with it.
    pub fn signs_in(&self) -> bool {
        self.used_for_auth && (self.is_verified || self.standing != Standing::Wished)
    }

    /// Whether the claim is lost to whoever verifies the address.
    pub fn gives_way(&self) -> bool {
        self.signs_in() && !self.is_verified && !self.is_primary && self.standing == Standing::Provisional
    }
}

impl User {
    /// Proves an address that signs in; `None` when there is none. `fresh` is the id that the channel of a new owner gets, so that
    /// links which name the old one are no longer about it.
    pub fn prove(&mut self, email: &Email, prover: Prover, fresh: ChannelId) -> Option<Proof> {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.signs_in())?;
        match prover {
            _ if channel.is_verified => Some(Proof::Known),
            Prover::Creator => {
                channel.is_verified = true;
                Some(Proof::Confirmed)
            }
            Prover::Stranger => {
                self.change_hands(email.clone(), fresh);
                Some(Proof::First)
            }
        }
    }

    /// Removes every credential but the address that was proved. Whatever else becomes a credential has to be removed here, too.
    fn change_hands(&mut self, value: Email, id: ChannelId) {
        let standing = Standing::Provisional;
        self.channels = vec![Channel { id, value, used_for_auth: true, is_verified: true, is_primary: true, standing }];
        self.password = None;
        self.forget_wrong_passwords();
        self.totp = None;
        self.provider_accounts.clear();
        self.otp_enabled = false;
        self.otp_refused = false;
        self.notices.end();
        self.end_sessions(None);
    }

    /// Marks the channel of an address verified, by a code that its mail brought; `false` when there is none any more.
    pub fn verify_email(&mut self, email: &Email) -> bool {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email);
        channel.map(|channel| channel.is_verified = true).is_some()
    }

    /// Gives up the claim of an address that another account has verified.
    pub fn give_way(&mut self, email: &Email) -> bool {
        let channel = self.channels.iter_mut().find(|channel| channel.value == *email && channel.gives_way());
        channel.map(|channel| channel.standing = Standing::Wished).is_some()
    }

    /// Removes the channel of an address whose recipient says that the account is somebody else's; `false` when it is gone.
    pub fn release(&mut self, id: ChannelId) -> bool {
        let count = self.channels.len();
        self.channels.retain(|channel| channel.id != id);
        let released = self.channels.len() < count;
        if released {
            self.raise_epoch();
        }
        released
    }

    /// Ends all sessions but `kept`, and every code.
    pub fn end_sessions(&mut self, kept: Option<SessionId>) {
        self.session_epoch += 1;
        self.kept_session = kept;
        self.raise_epoch();
    }

    /// Ends every code that was made until now.
    pub fn raise_epoch(&mut self) {
        self.credential_epoch += 1;
    }

    /// Ends every code when a way in of `before` went: an address was removed or replaced, no longer signs in, or is no longer primary; a
    /// provider account was unlinked or no longer signs in.
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

    /// Whether an address is the one that the account was made with, and nobody has proved it: another in its place would have raised
    /// the epoch.
    pub fn began_with(&self, channel: &Channel) -> bool {
        self.credential_epoch == 0 && channel.signs_in() && channel.standing == Standing::Provisional
    }

    /// The addresses that sign in although nobody has proved them: whoever does first owns the account.
    pub fn unproved(&self) -> impl Iterator<Item = &Email> {
        self.channels.iter().filter(|channel| channel.signs_in() && !channel.is_verified).map(|channel| &channel.value)
    }
}
