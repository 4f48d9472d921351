//! Sends the event of every operation, and makes each of its calls to the table fail once, either
//! before or after the call is executed. The change is made completely or not at all. A repeated
//! request completes the change. OAuth callbacks are an exception, because their `state` works only
//! once. The test covers new operations automatically.

use std::collections::BTreeMap;

use api::http::{Route, TableAction};
use infra::operations;
use model::limit::Limits;
use serde_json::Value;
use support::{Answer, InjectedError, Rows, is_write, refused};

use crate::events::sent::{self, SentEvent};
use crate::events::{World, name, success};

/// Fields that may change even if the operation's change is not made: counts, marks, expiry times,
/// the times and places of the last use, and keys of indexes.
const BESIDE: [&str; 10] = ["attempts", "gsi1sk", "gsi2pk", "gsi2sk", "last_active_at", "last_used_at", "mark", "place", "taken_by", "ttl"];

/// Items that only count requests or wrong attempts.
fn is_count((partition, sort): &(String, String)) -> bool {
    partition.starts_with("L#") || sort.starts_with("TRIES#")
}

/// Counts changes by kind, such as `created U SESSION` or `changed U USER d.password`. Ids and the
/// order of changes are ignored.
fn changes(before: &Rows, after: &Rows) -> BTreeMap<String, usize> {
    let mut changes = BTreeMap::new();
    for key in before.changed(after).into_iter().filter(|key| !is_count(key)) {
        let kind = [&key.0, &key.1].map(|text| text.split('#').next().unwrap_or_default()).join(" ");
        // In this partition, the sort key is the id of a project.
        let kind = if key.0 == "PROJECTS" { key.0.clone() } else { kind };
        let change = match (before.get(key), after.get(key)) {
            (None, _) => format!("created {kind}"),
            (_, None) => format!("deleted {kind}"),
            (Some(before), Some(after)) => match difference("", &before, &after) {
                fields if fields.is_empty() => continue,
                fields => format!("changed {kind} {}", fields.join(" ")),
            },
        };
        *changes.entry(change).or_default() += 1;
    }
    changes
}

/// The fields that differ, as paths of two levels. The first level contains the attributes of an
/// item, and the second level contains the fields of its entity.
fn difference(path: &str, before: &Value, after: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let fields = |value: &Value| value.as_object().unwrap_or(&empty).clone();
    let (before, after) = (fields(before), fields(after));
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = names.into_iter().filter(|name| !BESIDE.contains(&name.as_str()) && before.get(*name) != after.get(*name));
    let below = differing.flat_map(|name| match (path, before.get(name), after.get(name)) {
        ("", Some(before), Some(after)) if name == "d" => difference("d.", &before["M"], &after["M"]),
        _ => vec![format!("{path}{name}")],
    });
    below.collect()
}

fn changes_of(sent: &SentEvent) -> BTreeMap<String, usize> {
    let [before, after] = &sent.changed;
    changes(before, after)
}

/// The outcome of sending one event to a new world in which one call fails: the world afterwards,
/// the table before, and the response.
struct Trial {
    world: World,
    before: Rows,
    answer: Answer,
}

impl Trial {
    /// If `is_write` is set, only writes fail; if it is not, any call may fail.
    async fn run(event: &str, is_write: bool, call: usize, fault: InjectedError) -> Self {
        let world = World::new(Limits::standard()).await;
        let before = world.app.rows();
        world.app.recorder.clear();
        if is_write {
            world.app.recorder.break_writes(call, 1, fault);
        } else {
            world.app.recorder.break_call(call, fault);
        }
        let answer = world.send(event).await;
        Self { world, before, answer }
    }

    fn changes(&self) -> BTreeMap<String, usize> {
        changes(&self.before, &self.world.app.rows())
    }
}

/// For each operation, the number of calls that failed, each call in a separate trial.
type Cases = BTreeMap<&'static str, usize>;

const WRITES: [TableAction; 3] = [TableAction::PutItem, TableAction::UpdateItem, TableAction::DeleteItem];

/// Asserts that every operation was tried. A call must have failed in exactly the operations that
/// make such calls.
fn assert_complete(cases: &Cases, makes_calls: impl Fn(&Route) -> bool) {
    let differ: Vec<_> = operations::all()
        .into_iter()
        .filter(|operation| cases.get(operation.route.name).is_none_or(|count| (*count > 0) != makes_calls(&operation.route)))
        .map(|operation| (operation.route.name, cases.get(operation.route.name).copied()))
        .collect();
    assert!(differ.is_empty(), "{differ:?}");
    assert_eq!(cases.len(), operations::all().len());
}

#[tokio::test]
async fn a_failed_call_is_atomic_and_the_request_can_be_retried() {
    let (mut cases, sent) = (Cases::default(), sent::SentEvents::get().await);
    for operation in operations::all() {
        let (event, name, ok) = (name(&operation), operation.route.name, success(&operation));
        // The `state` of an OAuth flow works only once, so a retry would need a new flow.
        let once = name.starts_with("auth-oauth-callback");
        let good = sent.event(&operation);
        assert_eq!(good.answer.status(), ok, "{name}: {}", good.answer.text());
        let (whole, calls) = (changes_of(good), good.calls.len());
        cases.insert(name, calls);
        for call in 0..calls {
            let trial = Trial::run(&event, false, call, refused("AccessDeniedException")).await;
            assert!(trial.world.app.recorder.is_done(), "{name}: call {call} did not occur");
            let (status, left) = (trial.answer.status(), trial.changes());
            assert!(left.is_empty() || left == whole, "{name}: call {call} leaves {left:?} of {whole:?}");
            // Success is reported if and only if the change was made.
            let expected: &[u16] = match (whole.is_empty(), left == whole) {
                (true, _) => &[ok, 500],
                (false, made) => &[if made { ok } else { 500 }],
            };
            assert!(expected.contains(&status), "{name}: call {call} answers {status} and leaves {left:?}");
            if status != ok && !once {
                let again = trial.world.send(&event).await;
                assert_eq!(again.status(), ok, "{name}: after call {call}: {}", again.text());
                assert_eq!(trial.changes(), whole, "{name}: after call {call}");
            }
        }
    }
    assert_complete(&cases, |route| !route.table.actions.is_empty());
}

#[tokio::test]
async fn a_write_whose_response_is_lost_is_made_once() {
    let (mut cases, sent) = (Cases::default(), sent::SentEvents::get().await);
    for operation in operations::all() {
        let (event, name, ok) = (name(&operation), operation.route.name, success(&operation));
        let good = sent.event(&operation);
        let (whole, writes) = (changes_of(good), good.calls.iter().filter(|(call, _)| is_write(call)).count());
        cases.insert(name, writes);
        for write in 0..writes {
            let trial = Trial::run(&event, true, write, InjectedError::AnswerLost).await;
            assert!(trial.world.app.recorder.is_done(), "{name}: write {write} did not occur");
            assert_eq!(trial.answer.status(), ok, "{name}: write {write}: {}", trial.answer.text());
            assert_eq!(trial.changes(), whole, "{name}: write {write}");
        }
    }
    // A page with only one form makes the calls of the form.
    let actions = |route: &Route| if let [call] = route.calls { call.table.actions } else { route.table.actions };
    assert_complete(&cases, |route| actions(route).iter().any(|action| WRITES.contains(action)));
}

#[tokio::test]
async fn the_events_of_writing_operations_change_something() {
    let sent = sent::SentEvents::get().await;
    for operation in operations::all().into_iter().filter(|operation| operation.route.limit.is_some()) {
        let name = operation.route.name;
        let changes = changes_of(sent.event(&operation));
        // The events of these operations change at most counts, marks and times. The events of
        // `auth-connected-account-token` find a valid access token, so the operation does not
        // refresh anything.
        let notes_use_alone = (name.starts_with("auth-oauth-callback") || name == "auth-oauth-token")
            || name.starts_with("auth-connected-account-token")
            || name == "auth-oauth-client-introspect"
            || name == "auth-session-refresh"
            || name == "auth-challenge-create"
            || name == "emails-render"
            || name == "emails-send-test-email"
            || name == "teams-invitation-details"
            || (name.contains("check") && !name.starts_with("keys-"));
        assert_eq!(changes.is_empty(), notes_use_alone, "{name}: {changes:?}");
    }
}
