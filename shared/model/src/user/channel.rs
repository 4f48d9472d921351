//! Contact channels: what becomes of a user when one is added, changed or removed.
//!
//! Whatever is done, a user has at most [`MAX_CHANNELS`], none twice, and at most one that is primary. Removing a channel never makes
//! another one primary or used for signing in: which address stands for somebody is their own choice. So a user may be left with neither,
//! as one who signed up with a provider is from the start.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{ChannelId, UserId};

use crate::email::Email;
use crate::user::ownership::Author;
use crate::user::standing::Standing;
use crate::user::{Channel, MAX_CHANNELS, User};

/// A channel that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChannel {
    pub value: Email,
    pub used_for_auth: bool,
    pub is_verified: bool,
    pub is_primary: bool,
}

/// What is to be changed; what is absent stays, but for `is_verified`, which ends with the old value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelPatch {
    pub value: Option<Email>,
    pub used_for_auth: Option<bool>,
    pub is_verified: Option<bool>,
    pub is_primary: Option<bool>,
}

/// Why a change is refused; the user is then as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the user has no such channel")]
    NotFound,
    #[error("the user has another channel with this value")]
    Duplicate,
    #[error("the user has {MAX_CHANNELS} channels")]
    TooMany,
}

/// What kind of address a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ChannelType {
    Email,
}

/// A channel as it is read.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ContactChannel {
    pub user_id: UserId,
    pub id: ChannelId,
    pub value: Email,
    pub r#type: ChannelType,
    /// Whether the address is to sign in: with a password, a code or a link. Of all users of a project, one signs in with it. What a
    /// client asks for takes effect when the address is verified.
    pub used_for_auth: bool,
    pub is_verified: bool,
    pub is_primary: bool,
}

impl ContactChannel {
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
    pub fn add_channel(&mut self, id: ChannelId, new: NewChannel, author: Author) -> Result<(), Refused> {
        let before = self.clone();
        if self.channel_of(&new.value).is_some() {
            return Err(Refused::Duplicate);
        }
        if self.channels.len() >= MAX_CHANNELS {
            return Err(Refused::TooMany);
        }
        let NewChannel { value, used_for_auth, is_verified, is_primary } = new;
        if is_primary {
            self.demote();
        }
        self.channels.push(Channel { id, value, used_for_auth, is_verified, is_primary, standing: author.standing() });
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    pub fn change_channel(&mut self, id: ChannelId, patch: ChannelPatch, author: Author) -> Result<(), Refused> {
        let before = self.clone();
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refused::NotFound)?;
        let value = patch.value.clone().unwrap_or_else(|| self.channels[position].value.clone());
        if self.channel_of(&value).is_some_and(|other| other.id != id) {
            return Err(Refused::Duplicate);
        }
        if patch.is_primary == Some(true) {
            self.demote();
        }
        let standing = self.standing_after(&self.channels[position], &value, &patch, author);
        let channel = &mut self.channels[position];
        let is_verified = channel.is_verified && channel.value == value;
        channel.standing = standing;
        channel.is_verified = patch.is_verified.unwrap_or(is_verified);
        channel.value = value;
        channel.used_for_auth = patch.used_for_auth.unwrap_or(channel.used_for_auth);
        channel.is_primary = patch.is_primary.unwrap_or(channel.is_primary);
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    /// The standing of a channel that is changed. What a user asks for is a wish; only the one address that an account signs in with
    /// may be replaced by another at once, as if the account had been made with it, so that nobody is locked out by a corrected typo.
    /// One that was verified is no typo: an intruder who replaced it could become the owner by first proof.
    fn standing_after(&self, channel: &Channel, value: &Email, patch: &ChannelPatch, author: Author) -> Standing {
        let starts = patch.used_for_auth == Some(true) && !channel.used_for_auth;
        let is_other = *value != channel.value;
        match author {
            Author::Server if is_other || patch.used_for_auth.is_some() || patch.is_verified.is_some() => Standing::Assigned,
            Author::User if is_other && channel.signs_in() => {
                let is_only = !channel.is_verified && self.channels.iter().filter(|channel| channel.signs_in()).count() == 1;
                if is_only { Standing::Provisional } else { Standing::Wished }
            }
            Author::User if is_other || starts => Standing::Wished,
            _ => channel.standing,
        }
    }

    pub fn remove_channel(&mut self, id: ChannelId) -> Result<(), Refused> {
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refused::NotFound)?;
        let before = self.clone();
        self.channels.remove(position);
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }
}
