//! Links by which the recipient of a mail refuses others of its kind.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | link | `V#<digest of the code>` | `UNSUBSCRIBE` | 1 unit to write and to read, 4 to use with the user |
//!
//! A link names no project, as mail programs follow it without headers; its code has 224 random bits, so nobody finds one by trying.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Error, Key, Store, Write, entity, users};
use crate::model::code::Code;
use crate::model::id::{ProjectId, UserId};
use crate::model::outbox::Category;

/// How long a link works.
pub const LIFE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Who refuses what by a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeLink {
    pub project_id: ProjectId,
    pub user_id: UserId,
    pub category: Category,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    pub used: bool,
}

fn link_key(code: &Code) -> Key {
    Key::new(format!("V#{}", code.digest()), "UNSUBSCRIBE")
}

/// Writes a new link.
pub fn create(code: &Code, link: &UnsubscribeLink) -> Result<Write, Error> {
    Ok(Write::create(link_key(code), link)?.expires(link.expires_at))
}

impl Store {
    pub async fn unsubscribe_link(&self, code: &Code) -> Result<Option<UnsubscribeLink>, Error> {
        self.get(&link_key(code)).await?.map(entity).transpose()
    }

    /// Keeps the link of a mail that is about to be rendered.
    pub async fn create_unsubscribe_link(&self, code: &Code, link: &UnsubscribeLink) -> Result<(), Error> {
        self.write(create(code, link)?).await
    }

    /// Uses a link: of all who try, one succeeds. `Conflict` when it has been used, or its user is gone.
    pub async fn unsubscribe(&self, code: &Code, link: &UnsubscribeLink) -> Result<(), Error> {
        let used = Write::update(link_key(code), "SET d.used = :yes")
            .on("d.used = :no")
            .value(":yes", AttributeValue::Bool(true))
            .value(":no", AttributeValue::Bool(false));
        self.transact([used, users::set_refused(&link.project_id, link.user_id, link.category, true)?]).await
    }
}
