//! Links by which the recipient of a verification email says that the account is not theirs.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | link | `V#<digest of the code>` | `RELEASE` | 2 units to write with its email, 1 to read, 2 more to use |
//!
//! A link names no project, as it is followed without headers; its code has 224 random bits. It names the channel, not the address: an
//! account that has changed hands since has another channel for the same address, and older links no longer reach it.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Error, Key, Store, Write, entity};
use crate::model::code::Code;
use crate::model::email::Email;
use crate::model::id::{ChannelId, ProjectId, UserId};

/// How long a link works.
pub const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Which address a link releases, and from which account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseLink {
    pub project_id: ProjectId,
    pub user_id: UserId,
    pub channel_id: ChannelId,
    pub email: Email,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    pub used: bool,
}

fn link_key(code: &Code) -> Key {
    Key::new(format!("V#{}", code.digest()), "RELEASE")
}

/// Writes a new link.
pub fn create(code: &Code, link: &ReleaseLink) -> Result<Write, Error> {
    Ok(Write::create(link_key(code), link)?.expires(link.expires_at))
}

/// Uses a link: of all who try, one write succeeds.
pub fn redeem(code: &Code) -> Write {
    Write::update(link_key(code), "SET d.used = :yes")
        .on("d.used = :no")
        .value(":yes", AttributeValue::Bool(true))
        .value(":no", AttributeValue::Bool(false))
}

impl Store {
    pub async fn release_link(&self, code: &Code) -> Result<Option<ReleaseLink>, Error> {
        self.get(&link_key(code)).await?.map(entity).transpose()
    }
}
