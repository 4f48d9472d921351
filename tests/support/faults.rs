//! Lets tests observe the calls to the table and make them fail.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dynoxide::Database;
use gateway::engine::Observe;
use serde_json::{Value, json};

pub use gateway::engine::InjectedError;

use crate::roles;
use crate::trace::{Trace, TracedCall};

/// Records the calls to the table, and makes the selected calls fail.
#[derive(Default)]
pub struct Recorder {
    calls: Mutex<Vec<(String, String)>>,
    plan: Mutex<Option<Plan>>,
    consumed: Mutex<Option<ConsumedUnits>>,
    trace: Mutex<Option<Trace>>,
    meanwhile: Mutex<Option<MeanwhileAction>>,
    is_stepped: AtomicBool,
    /// The position of each outbox entry in the order of creation.
    emails: Mutex<HashMap<String, usize>>,
}

struct MeanwhileAction {
    operation: &'static str,
    /// A text that the body of the call must contain.
    part: String,
    action: Box<dyn FnOnce() + Send>,
}

/// The time that each call takes while calls are measured, which far exceeds the precision of
/// timers.
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The time that each call takes on tokio's clock while calls are made in steps.
const STEP: Duration = Duration::from_millis(1);

/// The capacity consumed by the calls since [`Recorder::measure`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ConsumedUnits {
    pub calls: u32,
    /// Read units, one for each 4 KB read with strong consistency, or for each 8 KB with eventual
    /// consistency.
    pub read: f64,
    /// Write units, one for each 1 KB, or two in a transaction, plus the units for the indexes.
    pub write: f64,
    /// The length of the table's responses, in bytes of JSON.
    pub answered: usize,
}

struct Plan {
    fault: InjectedError,
    /// Whether reads are counted and fail in addition to writes.
    reads: bool,
    /// Only calls whose body contains this text are counted and fail. `None` selects all calls.
    part: Option<String>,
    /// The number of calls that succeed before the first failure.
    after: usize,
    /// The number of calls that then fail.
    times: usize,
}

/// An error response of DynamoDB.
pub fn refused(kind: &str) -> InjectedError {
    let body = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{kind}"), "message": "injected by a test" });
    let status = if matches!(kind, "InternalServerError" | "ServiceUnavailable") { 500 } else { 400 };
    InjectedError::Refused { status, body: body.to_string() }
}

impl Recorder {
    /// Forgets all calls and faults, and stops measuring.
    pub fn clear(&self) {
        self.calls.lock().unwrap().clear();
        *self.plan.lock().unwrap() = None;
        *self.consumed.lock().unwrap() = None;
        self.is_stepped.store(false, Ordering::SeqCst);
    }

    /// Makes each call wait for tokio's clock after the call is recorded and before it is executed.
    /// Work that is not polled again after a call is recorded therefore stops right before this
    /// call.
    pub fn step(&self) {
        self.is_stepped.store(true, Ordering::SeqCst);
    }

    /// Forgets all settings.
    pub(crate) fn reset(&self) {
        self.clear();
        *self.trace.lock().unwrap() = None;
        *self.meanwhile.lock().unwrap() = None;
    }

    /// Starts to measure calls. Each call takes [`ROUND_TRIP`] on tokio's clock. A paused clock
    /// therefore shows how many calls were made one after another.
    pub fn measure(&self) {
        *self.consumed.lock().unwrap() = Some(ConsumedUnits::default());
    }

    /// Starts to record calls with the capacity that they consume and the items of `database` that
    /// they name. The calls are returned by [`Self::take_traced`].
    pub fn trace(&self, database: Database) {
        *self.trace.lock().unwrap() = Some(Trace::new(database));
    }

    /// Removes and returns the calls that were recorded since [`Self::trace`], in the order of
    /// their responses.
    pub fn take_traced(&self) -> Vec<TracedCall> {
        self.trace.lock().unwrap().as_mut().map(Trace::take).unwrap_or_default()
    }

    /// The capacity consumed since [`Self::measure`].
    pub fn consumed(&self) -> ConsumedUnits {
        self.consumed.lock().unwrap().unwrap_or_default()
    }

    /// The calls since the last [`Self::clear`], each with its DynamoDB operation and body.
    pub fn calls(&self) -> Vec<(String, String)> {
        self.calls.lock().unwrap().clone()
    }

    /// The number of calls since the last [`Self::clear`].
    pub fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// The number of calls since the last [`Self::clear`] that have this operation and whose body
    /// contains `part`.
    pub fn count_of(&self, operation: &str, part: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|(name, body)| name == operation && body.contains(part)).count()
    }

    /// The writes since the last [`Self::clear`], each with its DynamoDB operation and body.
    pub fn writes(&self) -> Vec<(String, String)> {
        self.calls().into_iter().filter(|(operation, _)| is_write(operation)).collect()
    }

    /// Makes a single write fail with a DynamoDB error. Writes are counted from 0, starting with
    /// the next write.
    pub fn fail_write(&self, write: usize, kind: &str) {
        self.break_writes(write, 1, refused(kind));
    }

    /// Lets `after` writes succeed, and then makes the next `times` writes fail.
    pub fn break_writes(&self, after: usize, times: usize, fault: InjectedError) {
        *self.plan.lock().unwrap() = Some(Plan { fault, reads: false, part: None, after, times });
    }

    /// Makes all writes whose body contains `part`, such as a key, fail until [`Self::clear`].
    pub fn break_writes_to(&self, part: String, fault: InjectedError) {
        *self.plan.lock().unwrap() = Some(Plan { fault, reads: false, part: Some(part), after: 0, times: usize::MAX });
    }

    /// Makes the next `times` calls fail, including reads.
    pub fn break_calls(&self, times: usize, fault: InjectedError) {
        *self.plan.lock().unwrap() = Some(Plan { fault, reads: true, part: None, after: 0, times });
    }

    /// Lets `after` calls succeed, and then makes the next call fail, whether it is a read or a
    /// write.
    pub fn break_call(&self, after: usize, fault: InjectedError) {
        *self.plan.lock().unwrap() = Some(Plan { fault, reads: true, part: None, after, times: 1 });
    }

    /// Runs `action` once, right after the next `operation` whose body contains `part`. The caller
    /// gets the response after the action.
    pub fn after_call(&self, operation: &'static str, part: String, action: impl FnOnce() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some(MeanwhileAction { operation, part, action: Box::new(action) });
    }

    /// Whether the action of [`Self::after_call`] has run.
    pub fn has_acted(&self) -> bool {
        self.meanwhile.lock().unwrap().is_none()
    }

    /// The position of an outbox entry in the order of creation. `None` if the entry is older than
    /// the snapshot that the service started from.
    pub(crate) fn created(&self, email: &str) -> Option<usize> {
        self.emails.lock().unwrap().get(email).copied()
    }

    /// Records the outbox entries that a call names. The first call that names an entry is the call
    /// that creates it.
    fn note_emails(&self, body: &str) {
        for key in body.split("\"M#").skip(1) {
            let Some((_, rest)) = key.split_once('#') else { continue };
            let id = rest.split('"').next().unwrap_or_default();
            let mut emails = self.emails.lock().unwrap();
            let count = emails.len();
            if !emails.contains_key(id) {
                emails.insert(id.to_owned(), count);
            }
        }
    }

    /// Whether all injected faults have occurred.
    pub fn is_done(&self) -> bool {
        self.plan.lock().unwrap().is_none()
    }
}

/// Whether a DynamoDB operation writes.
pub fn is_write(operation: &str) -> bool {
    matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem" | "BatchWriteItem" | "TransactWriteItems")
}

impl Observe for Recorder {
    fn before(&self, operation: &str, body: &[u8]) -> Option<InjectedError> {
        let text = String::from_utf8_lossy(body).into_owned();
        roles::note(operation, &text);
        self.note_emails(&text);
        let mut plan = self.plan.lock().unwrap();
        let concerns = |plan: &&mut Plan| (plan.reads || is_write(operation)) && plan.part.as_ref().is_none_or(|part| text.contains(part));
        let pending = plan.as_mut().filter(concerns);
        self.calls.lock().unwrap().push((operation.to_owned(), text));
        let pending = pending?;
        if pending.after > 0 {
            pending.after -= 1;
            return None;
        }
        let fault = pending.fault.clone();
        pending.times -= 1;
        if pending.times == 0 {
            *plan = None;
        }
        Some(fault)
    }

    fn pace(&self) -> Option<Duration> {
        let is_traced = self.trace.lock().unwrap().is_some();
        let is_stepped = self.is_stepped.load(Ordering::SeqCst);
        self.consumed.lock().unwrap().map(|_| ROUND_TRIP).or(is_stepped.then_some(STEP)).or(is_traced.then_some(Duration::ZERO))
    }

    fn after(&self, operation: &str, body: &[u8], answer: &str) {
        let is_it = |next: &mut MeanwhileAction| next.operation == operation && String::from_utf8_lossy(body).contains(&next.part);
        let next = self.meanwhile.lock().unwrap().take_if(is_it);
        if let Some(MeanwhileAction { action, .. }) = next {
            action();
        }
        let (mut consumed, mut trace) = (self.consumed.lock().unwrap(), self.trace.lock().unwrap());
        if consumed.is_none() && trace.is_none() {
            return;
        }
        let length = answer.len();
        let answer: Value = serde_json::from_str(answer).unwrap();
        let capacity = match &answer["ConsumedCapacity"] {
            Value::Array(tables) => tables.iter().map(units).sum(),
            table => units(table),
        };
        if let Some(consumed) = consumed.as_mut() {
            consumed.calls += 1;
            consumed.answered += length;
            *if is_write(operation) { &mut consumed.write } else { &mut consumed.read } += capacity;
        }
        if let Some(trace) = trace.as_mut() {
            trace.add(operation, serde_json::from_slice(body).unwrap(), capacity);
        }
    }
}

fn units(table: &Value) -> f64 {
    table["CapacityUnits"].as_f64().unwrap_or_else(|| panic!("no capacity in {table}"))
}
