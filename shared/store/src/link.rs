//! Links of emails: whoever follows one is a person at a browser, without keys or a session, and uses it once.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | releases an address ([`Release`]) | `V#<digest of the code>` | `RELEASE` | 2 units to write with its email, 1 to read, 2 more to use |
//! | refuses emails of a kind ([`Unsubscribe`]) | the same | `UNSUBSCRIBE` | 1 unit to write and to read, 4 to use with the user |
//! | undoes a change of an account ([`NotMe`]) | the same | `NOT-ME` | 2 units for each KB to write with its email, 1 for each 4 KB to read, 2 for each KB more to use |
//!
//! A link names no project, as it is followed without headers; its code has 224 random bits, so nobody finds one by trying. A release
//! names the channel, not the address: an account that has changed hands since has another channel for the same address, and older links
//! no longer reach it.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{SignedDuration, Timestamp};
use model::code::Code;
use model::email::Email;
use model::email::category::Category;
use model::notice::NotMe;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{ChannelId, ProjectId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity};
use crate::label::Label;
use crate::user;
use crate::write::Write;

/// What a link is for. Each kind has its own items: the code of one kind opens nothing of another.
pub trait Purpose: Serialize + DeserializeOwned + Send {
    const SORT_KEY: &'static str;
    /// How long a link works.
    const LIFE: SignedDuration;
}

/// Which address a link releases from an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub channel_id: ChannelId,
    pub email: Email,
}

impl Purpose for Release {
    const SORT_KEY: &'static str = "RELEASE";
    const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);
}

/// Which emails a link refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsubscribe {
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

/// A link, with the account that it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link<P> {
    pub project_id: ProjectId,
    pub user_id: UserId,
    #[serde(flatten)]
    pub purpose: P,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    pub used: bool,
}

fn link_key<P: Purpose>(code: &Code) -> Key {
    Key::new(format!("V#{}", code.digest()), P::SORT_KEY)
}

impl<P: Purpose> Link<P> {
    /// A link in an email that goes out at `sent_at`.
    pub fn new(project: &ProjectId, user_id: UserId, purpose: P, sent_at: Timestamp) -> Self {
        Self { project_id: project.clone(), user_id, purpose, expires_at: after(sent_at, P::LIFE), used: false }
    }

    /// Writes the link, which `code` opens.
    pub fn create(&self, code: &Code) -> Result<Write, Error> {
        Ok(Write::create(link_key::<P>(code), self)?.expires(self.expires_at))
    }
}

/// Uses a link: of all who try, one write succeeds.
pub fn redeem<P: Purpose>(code: &Code) -> Write {
    Write::update(link_key::<P>(code), "SET d.used = :yes")
        .labelled(Label::Code)
        .on("d.used = :no")
        .value(":yes", AttributeValue::Bool(true))
        .value(":no", AttributeValue::Bool(false))
}

impl Store {
    pub async fn link<P: Purpose>(&self, code: &Code) -> Result<Option<Link<P>>, Error> {
        self.get(&link_key::<P>(code)).await?.map(entity).transpose()
    }

    /// Keeps the link of an email that is about to be rendered.
    pub async fn create_link<P: Purpose>(&self, code: &Code, link: &Link<P>) -> Result<(), Error> {
        self.write(link.create(code)?).await
    }

    /// Uses a link: of all who try, one succeeds. `Conflict` when it has been used, or its user is gone.
    pub async fn unsubscribe(&self, code: &Code, link: &Link<Unsubscribe>) -> Result<(), Error> {
        let refuse = user::set_refused(&link.project_id, link.user_id, link.purpose.category, true)?;
        self.transact([redeem::<Unsubscribe>(code), refuse]).await
    }
}
