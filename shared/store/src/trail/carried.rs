//! Trail entries that a session or a code carries until a worker adds them to the trail.
//!
//! A session is a new item that its request writes anyway. If the session contains the entry, a
//! sign-in does not need a transaction, which would cost twice as much and take one more round trip
//! inside DynamoDB. An emailed code carries the entry of the request that creates the code, and
//! later the entry of the request that redeems the code, unless that request starts a session.
//! Carrying the entry saves an item in these transactions, and the item's place in the index. The
//! table's stream contains every change to these items, so `workers-trail` adds every entry at
//! least once, under the same key. The first use of the session, or the next attempt at the code,
//! removes the entry from the item.
//!
//! Only functions carry entries ([`Store::carrying_entries`]). On a single machine, the table does
//! not have a stream unless one is needed, and transactions cost nothing extra.

use aws_sdk_dynamodb::types::AttributeValue;
use model::place::Place;
use model::session::Session;
use model::trail::{Actor, Entry};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, UserId};

use crate::table::stream::Record;
use crate::table::{CARRIED, Error, Store, Write, entity, is_made};
use crate::trail;

/// An entry, with the trail to which it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CarriedEntry {
    /// The project of the trail.
    pub project: ProjectId,
    /// The number of days for which the trail is kept.
    pub days: u16,
    /// The entry; if [`Self::is_of_session`], it is stored without its actor, user and place.
    pub entry: Entry,
    /// Whether the entry's actor, user and place are the session's, as after every sign-in. If so,
    /// the session and the entry together fit into one KB, which costs one unit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_session: bool,
}

/// The actor, user and place of an entry that the user of this session caused.
fn of_session(session: &Session) -> (Actor, Option<UserId>, Option<Place>) {
    let actor = Actor::User { user_id: session.user_id, session_id: session.id };
    (actor, Some(session.user_id), session.place.clone())
}

/// Adds the entry of a request to the write of a session or code.
pub(crate) fn give(write: Write, project: &ProjectId, mut entry: Entry, days: u16) -> Result<Write, Error> {
    let session = write.put_entity().filter(|_| write.begins_session());
    let session: Option<Session> = session.cloned().map(serde_dynamo::from_attribute_value).transpose()?;
    let is_of_session = session.is_some_and(|session| of_session(&session) == (entry.actor, entry.user_id, entry.place.clone()));
    if is_of_session {
        (entry.actor, entry.user_id, entry.place) = (Actor::Anonymous, None, None);
    }
    let carried = CarriedEntry { project: project.clone(), days, entry, is_of_session };
    Ok(write.storing(CARRIED, serde_dynamo::to_attribute_value(carried)?))
}

/// The entry that a change in the stream added to an item; `None` if the change did not add an
/// entry.
pub fn entry_of(record: Record) -> Result<Option<CarriedEntry>, Error> {
    let Some(item) = record.new else { return Ok(None) };
    let Some(carried) = item.get(CARRIED).filter(|new| record.old.as_ref().and_then(|old| old.get(CARRIED)) != Some(new)) else {
        return Ok(None);
    };
    let mut carried: CarriedEntry = serde_dynamo::from_attribute_value(carried.clone())?;
    if carried.is_of_session {
        (carried.entry.actor, carried.entry.user_id, carried.entry.place) = of_session(&entity(item)?);
    }
    Ok(Some(carried))
}

impl Store {
    /// This store, but with sessions and codes that carry the trail entries of their requests; for
    /// functions.
    #[must_use]
    pub fn carrying_entries(self) -> Self {
        Self { carries_entries: true, ..self }
    }

    /// Adds a carried entry to its trail; does nothing if the trail already contains it. Costs 1
    /// unit for each KB and, if the entry is about an account, the same again for the index.
    pub async fn add_carried(&self, carried: &CarriedEntry) -> Result<(), Error> {
        let put = trail::put(&carried.project, &carried.entry, carried.days)?.on("attribute_not_exists(pk)");
        // The worker links the entry itself, so the stream need not pass this item to the worker.
        let put = put.attribute("carried", AttributeValue::Bool(true));
        is_made(self.write_unrecorded(put).await).map(drop)
    }
}
