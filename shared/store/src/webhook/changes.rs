//! Interprets changes to items of the table, based on the keys and formats of the items. The worker
//! turns each [`Change`] into webhook events.

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::permission::Grant;
use model::project::key_set::KeySet;
use model::session::Session;
use model::team::Team;
use model::trail::Entry;
use model::user::User;
use serde::de::DeserializeOwned;
use wire::id::{ProjectId, TeamId, UserId};

use crate::outbox::OutboxRow;
use crate::table::stream::Record;
use crate::table::{Error, Item, entity};
use crate::team::TeamRow;
use crate::trail;
use crate::user::UserRow;

/// A change to an entity that has webhook events.
#[derive(Debug, Clone)]
pub struct Change {
    /// The project.
    pub project: ProjectId,
    /// The key of the item that changed, as `<pk>|<sk>`.
    pub object: String,
    /// The position of the change in the table's stream.
    pub position: String,
    /// When the item changed.
    pub at: Timestamp,
    /// What changed.
    pub subject: Subject,
}

/// An entity before and after a change; `None` at a time when the entity does not exist.
#[derive(Debug, Clone)]
pub struct Pair<T> {
    /// Before the change.
    pub old: Option<T>,
    /// After the change.
    pub new: Option<T>,
}

/// The subject of a change.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A user. The times are those of the user's last activity.
    User(Box<Pair<(User, Timestamp)>>),
    /// A membership of a user, as stored in the user's partition.
    Membership(UserId, TeamId, Pair<()>),
    /// A team.
    Team(Box<Pair<Team>>),
    /// The permissions of a member.
    Member(TeamId, UserId, Pair<BTreeSet<Grant>>),
    /// A session.
    Session(Box<Pair<Session>>),
    /// An email.
    Email(Box<Pair<OutboxEntry>>),
    /// A set of API keys.
    Keys(Box<Pair<KeySet>>),
    /// A new entry of the trail.
    Trail(Box<Entry>),
}

impl<T> Pair<T> {
    fn of(record: &Record, read: impl Fn(&Item) -> Result<Option<T>, Error>) -> Result<Self, Error> {
        let read = |item: &Option<Item>| item.as_ref().map_or(Ok(None), &read);
        Ok(Self { old: read(&record.old)?, new: read(&record.new)? })
    }

    /// The entity after the change; if the change deleted the entity, the entity before the change.
    pub fn any(&self) -> Option<&T> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

fn read<T: DeserializeOwned>(item: &Item) -> Result<Option<T>, Error> {
    entity(item.clone()).map(Some)
}

fn grants(item: &Item) -> BTreeSet<Grant> {
    let grants = item.get("grants").and_then(|value| value.as_ss().ok());
    grants.into_iter().flatten().cloned().map(Grant).collect()
}

/// The change in a record; `None` if there are no webhook events for such changes.
pub fn parse(record: Record) -> Result<Option<Change>, Error> {
    let mut parts = record.key.pk.split('#');
    let (kind, Some(Ok(project))) = (parts.next().unwrap_or_default(), parts.next().map(ProjectId::parse)) else { return Ok(None) };
    let (id, sk) = (parts.next(), record.key.sk.as_str());
    let user = || id.and_then(|id| UserId::parse(id).ok());
    let team = || id.and_then(|id| TeamId::parse(id).ok());
    let subject = match (kind, sk.split_once('#')) {
        ("U", None) if sk == "USER" => {
            let row = |item: &Item| UserRow::of(item.clone()).map(|row| Some((row.user, row.last_active_at)));
            Some(Subject::User(Box::new(Pair::of(&record, row)?)))
        }
        ("U", Some(("TEAM", of))) => {
            let pair = Pair::of(&record, |_| Ok(Some(())))?;
            user().zip(TeamId::parse(of).ok()).map(|(user, team)| Subject::Membership(user, team, pair))
        }
        ("U", Some(("SESSION", _))) => Some(Subject::Session(Box::new(Pair::of(&record, read)?))),
        ("T", None) if sk == "TEAM" && id.is_some() => {
            let row = |item: &Item| TeamRow::of(item.clone()).map(|row| row.map(|row| row.team));
            Some(Subject::Team(Box::new(Pair::of(&record, row)?)))
        }
        ("T", Some(("USER", of))) => {
            let pair = Pair::of(&record, |item| Ok(Some(grants(item))))?;
            team().zip(UserId::parse(of).ok()).map(|(team, user)| Subject::Member(team, user, pair))
        }
        ("M", None) if sk == "ENTRY" => {
            let entry = |item: &Item| OutboxRow::of(item.clone()).map(|row| Some(row.entry));
            Some(Subject::Email(Box::new(Pair::of(&record, entry)?)))
        }
        ("P", Some(("KEYS", _))) if id.is_none() => Some(Subject::Keys(Box::new(Pair::of(&record, read)?))),
        ("P", Some(_)) if id == Some("TRAIL") && parts.next().is_some_and(|day| day != "USER") => {
            let entry = record.new.as_ref().filter(|item| record.old.is_none() && is_entry(item));
            entry.map(|item| trail::read(item.clone()).map(|entry| Subject::Trail(Box::new(entry)))).transpose()?
        }
        _ => None,
    };
    let object = format!("{}|{sk}", record.key.pk);
    Ok(subject.map(|subject| Change { project, object, position: record.position.clone(), at: record.at, subject }))
}

/// Whether an item contains a trail entry: only entries have an operation.
fn is_entry(item: &Item) -> bool {
    item.get("d").and_then(|value| value.as_m().ok()).is_some_and(|entity| entity.contains_key("operation"))
}
