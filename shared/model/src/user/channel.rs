//! Contact channels: the effects of adding, changing and removing them.
//!
//! After every change, a user has at most [`MAX_CHANNELS`] channels, no duplicates, and at most one
//! primary channel. Removing a channel does not make another channel primary, and does not enable
//! another channel for signing in: these decisions are up to the user. A user may therefore have
//! neither a primary channel nor a channel to sign in with, for example after signing up with a
//! provider that does not report an address.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{ChannelId, UserId};

use crate::email::Email;
use crate::user::ownership::Author;
use crate::user::standing::Standing;
use crate::user::{Channel, MAX_CHANNELS, User};

/// A channel to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChannel {
    /// The address.
    pub value: Email,
    /// Whether the address is used for signing in.
    pub used_for_auth: bool,
    /// Whether the address is verified.
    pub is_verified: bool,
    /// Whether the address becomes the primary address.
    pub is_primary: bool,
}

/// A change to a channel. Absent fields keep their values, except that a new address is unverified
/// unless `is_verified` is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelPatch {
    /// The new address.
    pub value: Option<Email>,
    /// Whether the address is used for signing in.
    pub used_for_auth: Option<bool>,
    /// Whether the address is verified.
    pub is_verified: Option<bool>,
    /// Whether the address is the primary address.
    pub is_primary: Option<bool>,
}

/// Why a change is refused; if so, the user is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The user does not have this channel.
    #[error("the user does not have this channel")]
    NotFound,
    /// Another channel already has this value.
    #[error("the user already has a channel with this value")]
    Duplicate,
    /// The user already has [`MAX_CHANNELS`] channels.
    #[error("the user has reached the maximum of {MAX_CHANNELS} channels")]
    TooMany,
    /// The user would no longer have any way to sign in.
    #[error("the user would have no way to sign in")]
    LastWay,
}

/// The kind of address in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ChannelType {
    /// An email address.
    Email,
}

/// A channel in responses.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ContactChannel {
    /// The user.
    pub user_id: UserId,
    /// The id of the channel.
    pub id: ChannelId,
    /// The address.
    pub value: Email,
    /// The kind of address.
    pub r#type: ChannelType,
    /// Whether the user can sign in with the address, using a password, a code or a link. Only one
    /// user of a project can sign in with an address. If a client sets the field to `true`, the
    /// change takes effect once the address is verified.
    pub used_for_auth: bool,
    /// Whether the address is verified.
    pub is_verified: bool,
    /// Whether this is the user's primary address.
    pub is_primary: bool,
}

impl ContactChannel {
    /// A user's channel in a response.
    pub fn of(user: UserId, channel: &Channel) -> Self {
        Self {
            user_id: user,
            id: channel.id,
            value: channel.value.clone(),
            r#type: ChannelType::Email,
            used_for_auth: channel.used_for_auth,
            is_verified: channel.is_verified,
            is_primary: channel.is_primary,
        }
    }
}

impl User {
    /// Adds a channel. `author` determines whether the user can sign in with an unverified address
    /// immediately.
    pub fn add_channel(&mut self, id: ChannelId, new: NewChannel, author: Author) -> Result<(), Refusal> {
        let before = self.clone();
        if self.channel_of(&new.value).is_some() {
            return Err(Refusal::Duplicate);
        }
        if self.channels.len() >= MAX_CHANNELS {
            return Err(Refusal::TooMany);
        }
        let NewChannel { value, used_for_auth, is_verified, is_primary } = new;
        if is_primary {
            self.demote();
        }
        self.channels.push(Channel { used_for_auth, is_verified, is_primary, ..Channel::new(id, value, author.standing()) });
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    /// Changes a channel. `author` determines whether the user can sign in with an unverified
    /// address immediately.
    pub fn change_channel(&mut self, id: ChannelId, patch: ChannelPatch, author: Author) -> Result<(), Refusal> {
        let before = self.clone();
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refusal::NotFound)?;
        let value = patch.value.clone().unwrap_or_else(|| self.channels[position].value.clone());
        if self.channel_of(&value).is_some_and(|other| other.id != id) {
            return Err(Refusal::Duplicate);
        }
        if patch.is_primary == Some(true) {
            self.demote();
        }
        let standing = self.standing_after(&self.channels[position], &value, &patch, author);
        let channel = &mut self.channels[position];
        let is_correction = author == Author::User && channel.value != value && standing == Standing::Provisional;
        let is_verified = channel.is_verified && channel.value == value;
        channel.standing = standing;
        // A server vouches for the addresses that it declares verified.
        let stays = is_verified && patch.is_verified.is_none();
        channel.is_unproved &= stays;
        channel.is_elsewhere &= stays;
        channel.is_verified = patch.is_verified.unwrap_or(is_verified);
        channel.value = value;
        channel.used_for_auth = patch.used_for_auth.unwrap_or(channel.used_for_auth);
        channel.is_primary = patch.is_primary.unwrap_or(channel.is_primary);
        self.raise_epoch_if_way_in_went(&before);
        if is_correction {
            self.began_epoch = self.credential_epoch;
        }
        Ok(())
    }

    /// The standing of a changed channel. If the user asks to sign in with an address, the change
    /// takes effect when the address is verified, with one exception. If the sign-up address is the
    /// only way to sign in, apart from the password, replacing the address takes effect
    /// immediately. The account then counts as created with the new address. A user who corrects a
    /// typo is then not locked out. The exception does not apply to a verified address, which
    /// cannot be a typo, or to an account that has ever had another way to sign in. Otherwise, an
    /// intruder could replace the address, be the first to prove the new one, and become the owner.
    fn standing_after(&self, channel: &Channel, value: &Email, patch: &ChannelPatch, author: Author) -> Standing {
        let starts = patch.used_for_auth == Some(true) && !channel.used_for_auth;
        let is_other = *value != channel.value;
        match author {
            Author::Server if is_other || patch.used_for_auth.is_some() || patch.is_verified.is_some() => Standing::Assigned,
            Author::User if is_other && channel.signs_in() => {
                let is_first = !channel.is_verified && self.began_with(channel);
                let has_other = self.channels.iter().any(|other| other.id != channel.id && (other.signs_in() || other.is_verified));
                let has_other = has_other || !self.passkeys.is_empty() || !self.provider_accounts.is_empty();
                if is_first && !has_other { Standing::Provisional } else { Standing::Wished }
            }
            Author::User if is_other || starts => Standing::Wished,
            _ => channel.standing,
        }
    }

    /// Removes a channel. If the channel was the primary channel, the user no longer has a primary
    /// channel.
    pub fn remove_channel(&mut self, id: ChannelId) -> Result<(), Refusal> {
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refusal::NotFound)?;
        let before = self.clone();
        self.channels.remove(position);
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }
}
