//! A request's trail entry, written in the first transaction with a change.
//!
//! The layer around an operation describes the request ([`within`]), authentication sets the caller
//! ([`by`]), and each write says which account it changes and how (`TrailFacts`). `Store::transact`
//! and `Store::write` add the entry, so operations need not do so. An entry is written if and only
//! if its change is written. Writes that are not recorded, such as counters and times of last use,
//! use `Store::write_unrecorded`.
//!
//! A request with several transactions, such as a large deletion, writes its entry with the first
//! transaction that succeeds, whatever happens to the later ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use model::limit::Subject;
use model::metrics::tally::Tally;
use model::place::Place;
use model::project::Project;
use model::sign_up::rule::ActionType;
use model::trail::counted::minute;
use model::trail::expiry::retention_days;
use model::trail::{Access, Actor, Entry, Event, Target, TargetKind};
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::id::{ProjectId, TrailEntryId, UserId};

use crate::table::{Error, Store, Write};
use crate::trail::{self, carried};

/// The maximum number of targets in an entry.
const MAX_TARGETS: usize = 10;

tokio::task_local! {
    static RECORD: Record;
}

/// The facts about a request that are known before anything is read.
#[derive(Debug, Clone)]
pub struct RequestStart {
    /// The id of the trail entry.
    pub id: TrailEntryId,
    /// When the request began.
    pub at: Timestamp,
    /// The name of the operation.
    pub operation: String,
    /// The targets named in the path.
    pub targets: Vec<Target>,
    /// The names of the fields in the request's body.
    pub fields: Vec<String>,
    /// The place that the request came from; `None` for work by the system or the command line.
    pub place: Option<Place>,
}

#[derive(Debug, Clone)]
struct Record(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The project of the trail, and the trail's retention in days; `None` until the project is
    /// known.
    home: Option<(ProjectId, u16)>,
    entry: Entry,
    phase: Phase,
    /// Whether the project's sign-up rules rejected the request.
    is_rejected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// A transaction that contains the entry has been sent, but its outcome is not known yet.
    Writing,
    Written,
}

/// Runs a request that writes an entry if it changes anything.
pub async fn within<F: Future>(started: RequestStart, future: F) -> F::Output {
    let RequestStart { id, at, operation, targets, fields, place } = started;
    let (actor, count) = (Actor::Anonymous, 1);
    let (events, method, access, user_id) = (Vec::new(), Vec::new(), None, None);
    let (tally, rules) = (Tally::default(), BTreeMap::new());
    let entry = Entry { id, at, operation, events, method, access, actor, user_id, targets, fields, place, tally, rules, count };
    let state = State { home: None, entry, phase: Phase::Open, is_rejected: false };
    RECORD.scope(Record(Arc::new(Mutex::new(state))), future).await
}

/// Sets the project of the trail.
pub fn on(project: &Project) {
    set_home(&project.id, project);
}

/// Sets the project ([`on`]), the caller, and the user named in the request, if any.
pub fn by(project: &Project, access: Access, actor: Actor, named: Option<UserId>) {
    on(project);
    change(|state| {
        state.entry.access = Some(access);
        state.entry.actor = actor;
        state.entry.user_id = named;
    });
}

/// Adds a target that is not in the path.
pub fn target(kind: TargetKind, id: impl ToString) {
    change(|state| add(&mut state.entry.targets, Target::new(kind, id)));
}

/// Sets the sign-up rules that matched, with their actions.
pub fn matched(rules: impl IntoIterator<Item = (String, ActionType)>) {
    change(|state| state.entry.rules = rules.into_iter().collect());
}

/// Records that the sign-up rules, or their default action, rejected the request.
pub fn rejected() {
    change(|state| state.is_rejected = true);
}

/// Work on a project by the system or the command line.
pub struct SystemWork<'a> {
    /// The name of the operation.
    pub operation: &'a str,
    /// The names of the changed settings.
    pub fields: Vec<String>,
    /// The source of time.
    pub clock: &'a Clock,
    /// The source of randomness.
    pub entropy: &'a Entropy,
}

impl SystemWork<'_> {
    /// Runs `work`, and records any change as one entry by the system in the trail of `project`.
    pub fn run<F: Future>(self, project: &Project, work: F) -> impl Future<Output = F::Output> + use<'_, F> {
        let at = self.clock.now();
        let id = self.entropy.ordered_uuid(at).into();
        let started = RequestStart { id, at, operation: self.operation.to_owned(), targets: Vec::new(), fields: self.fields, place: None };
        // Boxed, so that nested futures do not each contain a copy of `work`.
        let work = Box::pin(work);
        within(started, async move {
            on(project);
            change(|state| state.entry.actor = Actor::System);
            work.await
        })
    }
}

/// Records the deletion of a project in the trail of the internal project, because the trail of the
/// deleted project is also deleted. The entry is kept as long as the deleted project kept its
/// trail.
pub(crate) fn on_end_of(project: &Project) {
    set_home(&ProjectId::internal(), project);
    target(TargetKind::Project, &project.id);
}

fn set_home(home: &ProjectId, settings: &Project) {
    change(|state| state.home = Some((home.clone(), retention_days(&settings.config))));
}

/// Changes the state of the request's entry; does nothing outside [`within`].
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

/// The right of a transaction to write the entry, either alone or in the item that carries it. If
/// the transaction fails, this right passes to the request's next transaction.
struct Turn {
    record: Record,
    write: Option<Write>,
    is_made: bool,
}

impl Turn {
    /// Decides whether a transaction with these writes carries the entry. `None` if the writes do
    /// not change anything, if another transaction has written the entry or is writing it, or if
    /// the request is not recorded.
    fn of(writes: &mut [Write], carries_entries: bool) -> Result<Option<Self>, Error> {
        let Ok(record) = RECORD.try_with(Record::clone) else { return Ok(None) };
        let write = {
            let mut state = record.state();
            if state.phase != Phase::Open || !writes.iter().any(Write::changes_something) {
                return Ok(None);
            }
            let Some((project, days)) = &state.home else {
                tracing::error!(operation = state.entry.operation, "a change does not belong to any project's trail");
                return Ok(None);
            };
            let entry = with_facts(&state.entry, writes);
            let carrier = writes.iter().position(Write::begins_session).or_else(|| writes.iter().position(|write| write.can_carry));
            let write = match carrier.filter(|_| carries_entries).and_then(|position| writes.get_mut(position)) {
                Some(carrier) => {
                    *carrier = carried::give(carrier.clone(), project, entry, *days)?;
                    None
                }
                None => Some(trail::put(project, &entry, *days)?),
            };
            state.phase = Phase::Writing;
            write
        };
        Ok(Some(Self { record, write, is_made: false }))
    }

    fn write(&mut self) -> Option<Write> {
        self.write.take()
    }

    fn made(mut self) {
        self.is_made = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.record.state().phase = if self.is_made { Phase::Written } else { Phase::Open };
    }
}

impl Store {
    /// Writes at most [`MAX_WRITES`](crate::MAX_WRITES) items, either all or none. Costs two units
    /// for each KB of each item. The request's first change also writes its trail entry
    /// ([`record`](self)), at the same cost per KB.
    pub async fn transact(&self, writes: impl IntoIterator<Item = Write>) -> Result<(), Error> {
        let mut writes: Vec<Write> = writes.into_iter().collect();
        let Some(mut turn) = Turn::of(&mut writes, self.carries_entries)? else { return self.transact_unrecorded(writes).await };
        // The trail entry comes last, so that the other writes keep their positions.
        writes.extend(turn.write());
        self.transact_unrecorded(writes).await?;
        turn.made();
        Ok(())
    }

    /// Makes one conditional write. Costs one unit for each KB. The request's first change becomes
    /// a transaction with the trail entry, which costs two units for each KB of both items.
    pub async fn write(&self, mut write: Write) -> Result<(), Error> {
        let turn = Turn::of(std::slice::from_mut(&mut write), self.carries_entries)?;
        let Some(mut turn) = turn else { return self.write_unrecorded(write).await };
        self.transact_unrecorded([write].into_iter().chain(turn.write()).collect()).await?;
        turn.made();
        Ok(())
    }
}

/// The entry, completed with the facts of the writes.
fn with_facts(entry: &Entry, writes: &[Write]) -> Entry {
    let mut entry = entry.clone();
    for facts in writes.iter().map(Write::facts) {
        entry.user_id = entry.user_id.or(facts.user);
        entry.events.extend(&facts.events);
        entry.method.extend(&facts.method);
        entry.tally.merge(&facts.tally, 1);
        facts.targets.iter().cloned().for_each(|target| add(&mut entry.targets, target));
        match (facts.session, facts.user, entry.actor) {
            // The caller was anonymous until now; from now on, the session identifies the caller.
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

/// The write that counts a failure of the request; `None` if the request is not recorded.
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

/// The write that counts a sign-up rejected by the project's rules, and the name of the entry.
/// There is one entry for each minute, operation and combination of rules, for all callers. `None`
/// if the request was not rejected or is not recorded.
pub(crate) fn rejection() -> Result<Option<(String, Write)>, Error> {
    let Ok(record) = RECORD.try_with(Record::clone) else { return Ok(None) };
    let state = record.state();
    let Some((project, days)) = &state.home else { return Ok(None) };
    if !state.is_rejected {
        return Ok(None);
    }
    let (at, event) = (minute(state.entry.at), Event::SignUpRejected);
    let id = trail::counted_id(at, &format!("{}#{event:?}#{:?}", state.entry.operation, state.entry.rules));
    let entry = Entry {
        id,
        at,
        events: vec![event],
        // The entry counts the sign-ups of many callers.
        actor: Actor::Anonymous,
        user_id: None,
        fields: Vec::new(),
        place: None,
        ..state.entry.clone()
    };
    Ok(Some((format!("{project}#{id}"), trail::count(project, &entry, *days)?)))
}
