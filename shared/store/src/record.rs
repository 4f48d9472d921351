//! What a request leaves in the trail: one entry, in the first transaction that changes something.
//!
//! Whoever begins a request says what it is ([`within`]), whoever proves an access who asks ([`by`]), and the writes themselves whose
//! account they change and how ([`Told`]). [`Store::transact`] and [`Store::write`] add the entry, so that no operation has to remember
//! it, and an entry is written if and only if its change is. What is no change, a counter, a time of last use, goes by
//! [`Store::write_unrecorded`].
//!
//! A request that changes things in several transactions, as a deletion of very much does, leaves its entry with the first: it has begun
//! then, whatever becomes of the rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use model::limit::Subject;
use model::place::Place;
use model::project::Project;
use model::trail::{Access, Actor, Entry, Event, Target, TargetKind, retention_days};
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::id::{ProjectId, TrailEntryId, UserId};

use crate::error::Error;
use crate::trail;
use crate::write::Write;

/// How many targets an entry has at most.
const MAX_TARGETS: usize = 10;
/// What failures are counted by.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

tokio::task_local! {
    static RECORD: Record;
}

/// What is known of a request before anything is looked up.
#[derive(Debug, Clone)]
pub struct Started {
    pub id: TrailEntryId,
    pub at: Timestamp,
    /// The name of the operation.
    pub operation: String,
    pub targets: Vec<Target>,
    /// The names of the fields of its body.
    pub fields: Vec<String>,
    pub place: Option<Place>,
}

#[derive(Debug, Clone)]
struct Record(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The project in whose trail the entry belongs, and how many days it stays there.
    home: Option<(ProjectId, u16)>,
    entry: Entry,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// A transaction has the entry, and nobody knows yet whether it is made.
    Writing,
    Written,
}

/// Runs a request that leaves an entry when it changes something.
pub async fn within<F: Future>(started: Started, future: F) -> F::Output {
    let Started { id, at, operation, targets, fields, place } = started;
    let (actor, count) = (Actor::Anonymous, 1);
    let (events, method, access, user_id) = (Vec::new(), Vec::new(), None, None);
    let entry = Entry { id, at, operation, events, method, access, actor, user_id, targets, fields, place, count };
    let state = State { home: None, entry, phase: Phase::Open };
    RECORD.scope(Record(Arc::new(Mutex::new(state))), future).await
}

/// Says in the trail of which project the entry belongs.
pub fn on(project: &Project) {
    set_home(&project.id, project);
}

/// Says who asks, and whose account the request names.
pub fn by(project: &Project, access: Access, actor: Actor, named: Option<UserId>) {
    on(project);
    change(|state| {
        state.entry.access = Some(access);
        state.entry.actor = actor;
        state.entry.user_id = named;
    });
}

/// Says what else a request is about, where its path does not.
pub fn target(kind: TargetKind, id: impl ToString) {
    change(|state| add(&mut state.entry.targets, Target::new(kind, id)));
}

/// Runs what the system does to a project by itself, or for whoever has its command line; `fields` are the names of the settings that it
/// sets.
pub fn by_system<F: Future>(
    operation: &str,
    project: &Project,
    fields: Vec<String>,
    clock: &Clock,
    entropy: &Entropy,
    work: F,
) -> impl Future<Output = F::Output> {
    let at = clock.now();
    let id = entropy.ordered_uuid(at).into();
    let started = Started { id, at, operation: operation.to_owned(), targets: Vec::new(), fields, place: None };
    // In the heap: callers would have it three times, once in each of these.
    let work = Box::pin(work);
    within(started, async move {
        on(project);
        change(|state| state.entry.actor = Actor::System);
        work.await
    })
}

/// The trail of `project` goes with it, so its end is told in that of the project `internal`, for as long as it would have been in its own.
pub(crate) fn on_end_of(project: &Project) {
    set_home(&ProjectId::internal(), project);
    target(TargetKind::Project, &project.id);
}

fn set_home(home: &ProjectId, settings: &Project) {
    change(|state| state.home = Some((home.clone(), retention_days(&settings.config))));
}

/// Nothing is recorded outside of [`within`].
fn change(change: impl FnOnce(&mut State)) {
    let _ = RECORD.try_with(|record| change(&mut record.state()));
}

fn add(targets: &mut Vec<Target>, target: Target) {
    if targets.len() < MAX_TARGETS && !targets.contains(&target) {
        targets.push(target);
    }
}

impl Record {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry's write in a transaction. When the transaction is not made, the next one of the request has it.
pub(crate) struct Turn {
    record: Record,
    write: Option<Write>,
    is_made: bool,
}

impl Turn {
    /// The turn of a transaction of these writes, if it is the first of its request that changes something.
    pub(crate) fn of(writes: &[Write]) -> Result<Option<Self>, Error> {
        let Ok(record) = RECORD.try_with(Record::clone) else { return Ok(None) };
        let write = {
            let mut state = record.state();
            if state.phase != Phase::Open || !writes.iter().any(Write::changes_something) {
                return Ok(None);
            }
            let Some((project, days)) = &state.home else {
                tracing::error!(operation = state.entry.operation, "a change belongs to no project's trail");
                return Ok(None);
            };
            let write = trail::put(project, &told(&state.entry, writes), *days)?;
            state.phase = Phase::Writing;
            write
        };
        Ok(Some(Self { record, write: Some(write), is_made: false }))
    }

    pub(crate) fn write(&mut self) -> Option<Write> {
        self.write.take()
    }

    pub(crate) fn made(mut self) {
        self.is_made = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.record.state().phase = if self.is_made { Phase::Written } else { Phase::Open };
    }
}

/// The entry with what the writes tell.
fn told(entry: &Entry, writes: &[Write]) -> Entry {
    let mut entry = entry.clone();
    for told in writes.iter().map(Write::told) {
        entry.user_id = entry.user_id.or(told.user);
        entry.events.extend(&told.events);
        entry.method.extend(&told.method);
        told.targets.iter().cloned().for_each(|target| add(&mut entry.targets, target));
        match (told.session, told.user, entry.actor) {
            // Whoever signs in was nobody before, and is known by the session from then on.
            (Some(session_id), Some(user_id), Actor::Anonymous) => entry.actor = Actor::User { user_id, session_id },
            (Some(session), ..) => add(&mut entry.targets, Target::new(TargetKind::Session, session)),
            (None, ..) => {}
        }
    }
    entry.events.sort_unstable();
    entry.events.dedup();
    if entry.events.contains(&Event::PasswordReset) {
        entry.events.retain(|event| !matches!(event, Event::PasswordSet | Event::PasswordChanged));
    }
    entry
}

/// Counts a failure of the request; nothing where the request has no project.
pub(crate) fn failure(user: Option<UserId>, event: Event) -> Result<Option<Write>, Error> {
    let Ok(record) = RECORD.try_with(Record::clone) else { return Ok(None) };
    let state = record.state();
    let Some((project, days)) = &state.home else { return Ok(None) };
    let at = minute(state.entry.at);
    let caller = || state.entry.place.as_ref().map(|place| Subject::address(place.ip).to_string());
    let whose = user.map_or_else(caller, |user| Some(user.to_string()));
    let id = trail::counted_id(at, &format!("{}#{event:?}#{}", state.entry.operation, whose.unwrap_or_default()));
    trail::count(project, &Entry { id, at, user_id: user, events: vec![event], ..state.entry.clone() }, *days).map(Some)
}

fn minute(time: Timestamp) -> Timestamp {
    let millis = time.as_millisecond();
    Timestamp::from_millisecond(millis - millis.rem_euclid(i64::try_from(MINUTE.as_millis()).unwrap_or(1))).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_the_minute_in_which_they_happen() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(minute(at("2026-03-01T10:20:59.999Z")), at("2026-03-01T10:20:00Z"));
        assert_eq!(minute(at("2026-03-01T10:21:00Z")), at("2026-03-01T10:21:00Z"));
    }
}
