//! Three kinds of links in emails, which people open in a browser, without an API key or a session.
//! Each works once.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | releases an email address ([`Release`]) | `V#<digest of the code>` | `RELEASE` | 2 units to write with its email, 1 to read, 2 to mark as used |
//! | unsubscribes from a category ([`Unsubscribe`]) | the same | `UNSUBSCRIBE` | 1 unit to write, 1 to read, 2 to mark as used |
//! | restores an account, or locks intruders out of it ([`NotMe`]) | the same | `NOT-ME` | 2 units per KB to write with its email, 1 per 4 KB to read, 2 per KB to mark as used |
//!
//! Using a link also writes the user, which costs an additional 2 units for each KB.
//!
//! The key of a link does not contain the project, because browsers follow links without the
//! service's headers. The code contains 225 random bits and cannot be guessed. A release applies to
//! the channel of the email address. If the address later belongs to another account, it has a new
//! channel, so older links do not apply to it.

use jiff::{SignedDuration, Timestamp};
use model::code::Code;
use model::email::Email;
use model::email::category::Category;
use model::notice::NotMe;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{ChannelId, ProjectId, UserId};

use crate::code::redeem_at;
use crate::table::{Error, Key, Store, Write, entity};
use crate::user;

/// The purpose of a link. Every purpose has its own sort key, so a code for one purpose is useless
/// for another.
pub trait Purpose: Serialize + DeserializeOwned + Send {
    /// The sort key of items for links with this purpose.
    const SORT_KEY: &'static str;
    /// The time for which a link works.
    const LIFE: SignedDuration;
}

/// A link that releases an email address from an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The channel of the address.
    pub channel_id: ChannelId,
    /// The address.
    pub email: Email,
}

impl Purpose for Release {
    const SORT_KEY: &'static str = "RELEASE";
    const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);
}

/// A link that unsubscribes from a category of emails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsubscribe {
    /// The category.
    pub category: Category,
}

impl Purpose for Unsubscribe {
    const SORT_KEY: &'static str = "UNSUBSCRIBE";
    const LIFE: SignedDuration = SignedDuration::from_hours(30 * 24);
}

impl Purpose for NotMe {
    const SORT_KEY: &'static str = "NOT-ME";
    const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);
}

/// A link and its account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link<P> {
    /// The project.
    pub project_id: ProjectId,
    /// The user.
    pub user_id: UserId,
    /// The purpose of the link.
    #[serde(flatten)]
    pub purpose: P,
    /// The time when the link stops working.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// Whether the link has been used.
    pub used: bool,
}

fn link_key<P: Purpose>(code: &Code) -> Key {
    Key::new(format!("V#{}", code.digest()), P::SORT_KEY)
}

impl<P: Purpose> Link<P> {
    /// A link in an email that is sent at `sent_at`.
    pub fn new(project: &ProjectId, user_id: UserId, purpose: P, sent_at: Timestamp) -> Self {
        Self { project_id: project.clone(), user_id, purpose, expires_at: after(sent_at, P::LIFE), used: false }
    }

    /// Writes the link under its `code`.
    pub fn create(&self, code: &Code) -> Result<Write, Error> {
        Ok(Write::create(link_key::<P>(code), self)?.expires(self.expires_at))
    }
}

/// Marks a link as used; only one of several concurrent attempts succeeds.
pub fn redeem<P: Purpose>(code: &Code) -> Write {
    redeem_at(link_key::<P>(code))
}

impl Store {
    /// The link with this code, even if it has been used or has expired.
    pub async fn link<P: Purpose>(&self, code: &Code) -> Result<Option<Link<P>>, Error> {
        self.get(&link_key::<P>(code)).await?.map(entity).transpose()
    }

    /// Stores the link for an email about to be rendered.
    pub async fn create_link<P: Purpose>(&self, code: &Code, link: &Link<P>) -> Result<(), Error> {
        self.write(link.create(code)?).await
    }

    /// Unsubscribes the user and marks the link as used; only one of several concurrent attempts
    /// succeeds. Fails with `Conflict` if the link was already used or the user no longer exists.
    pub async fn unsubscribe(&self, code: &Code, link: &Link<Unsubscribe>) -> Result<(), Error> {
        let refuse = user::set_refused(&link.project_id, link.user_id, link.purpose.category, true)?;
        self.transact([redeem::<Unsubscribe>(code), refuse]).await
    }
}
