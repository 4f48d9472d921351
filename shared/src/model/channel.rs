//! Contact channels: what becomes of a user when one is added, changed or removed (WIRE.md §5.6).
//!
//! Whatever is done, a user has at most [`MAX_CHANNELS`], none twice, and at most one that is primary. Removing a channel never makes
//! another one primary or used for signing in: which address stands for somebody is their own choice. So a user may be left with neither,
//! as one who signed up with a provider is from the start.

use serde::Serialize;
use utoipa::ToSchema;

use super::email::Email;
use super::id::{ChannelId, UserId};
use super::user::{Channel, MAX_CHANNELS, User};

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
    /// Whether the address signs in: with a password, a code or a link. Of all users of a project, one signs in with it.
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
    pub fn add_channel(&mut self, id: ChannelId, new: NewChannel) -> Result<(), Refused> {
        if self.channel_of(&new.value).is_some() {
            return Err(Refused::Duplicate);
        }
        if self.channels.len() >= MAX_CHANNELS {
            return Err(Refused::TooMany);
        }
        let NewChannel { value, used_for_auth, is_verified, is_primary } = new;
        if is_primary {
            self.demote_channels();
        }
        self.channels.push(Channel { id, value, used_for_auth, is_verified, is_primary });
        Ok(())
    }

    pub fn change_channel(&mut self, id: ChannelId, patch: ChannelPatch) -> Result<(), Refused> {
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refused::NotFound)?;
        let value = patch.value.unwrap_or_else(|| self.channels[position].value.clone());
        if self.channel_of(&value).is_some_and(|other| other.id != id) {
            return Err(Refused::Duplicate);
        }
        if patch.is_primary == Some(true) {
            self.demote_channels();
        }
        let channel = &mut self.channels[position];
        let is_verified = channel.is_verified && channel.value == value;
        channel.is_verified = patch.is_verified.unwrap_or(is_verified);
        channel.value = value;
        channel.used_for_auth = patch.used_for_auth.unwrap_or(channel.used_for_auth);
        channel.is_primary = patch.is_primary.unwrap_or(channel.is_primary);
        Ok(())
    }

    pub fn remove_channel(&mut self, id: ChannelId) -> Result<(), Refused> {
        let position = self.channels.iter().position(|channel| channel.id == id).ok_or(Refused::NotFound)?;
        self.channels.remove(position);
        Ok(())
    }

    fn demote_channels(&mut self) {
        for channel in &mut self.channels {
            channel.is_primary = false;
        }
    }
}
