//! What a test sees of the calls to the table, and how it makes them fail.

use std::sync::Mutex;
use std::time::Duration;

use gateway::engine::Observe;
use serde_json::Value;

/// Records the calls to the table, and fails those that a test wants to fail.
#[derive(Default)]
pub struct Recorder {
    calls: Mutex<Vec<(String, String)>>,
    fault: Mutex<Option<Fault>>,
    consumed: Mutex<Option<Consumed>>,
}

/// How long a measured call takes; far above the rounding of timers.
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

/// What the calls since [`Recorder::measure`] consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumed {
    pub calls: u32,
    /// Read units: 4 KB read strongly, or 8 KB read eventually.
    pub read: f64,
    /// Write units: 1 KB written, twice in a transaction, and once more in each index.
    pub write: f64,
}

struct Fault {
    /// Which of the coming writes fails, counted from 0.
    write: usize,
    kind: &'static str,
}

impl Recorder {
    /// Forgets all calls and faults.
    pub fn clear(&self) {
        self.calls.lock().unwrap().clear();
        *self.fault.lock().unwrap() = None;
        *self.consumed.lock().unwrap() = None;
    }

    /// From now on each call takes [`ROUND_TRIP`] of tokio's clock, so that a paused clock counts the calls one after another.
    pub fn measure(&self) {
        *self.consumed.lock().unwrap() = Some(Consumed::default());
    }

    /// What was consumed since [`Self::measure`].
    pub fn consumed(&self) -> Consumed {
        self.consumed.lock().unwrap().unwrap_or_default()
    }

    /// The operations since the last [`Self::clear`], with their bodies.
    pub fn calls(&self) -> Vec<(String, String)> {
        self.calls.lock().unwrap().clone()
    }

    /// Fails the write of this number, counted from 0 from now on, with an error of DynamoDB.
    pub fn fail_write(&self, write: usize, kind: &'static str) {
        *self.fault.lock().unwrap() = Some(Fault { write, kind });
    }
}

fn is_write(operation: &str) -> bool {
    matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems")
}

impl Observe for Recorder {
    fn before(&self, operation: &str, body: &[u8]) -> Option<(String, String)> {
        self.calls.lock().unwrap().push((operation.to_owned(), String::from_utf8_lossy(body).into_owned()));
        let mut fault = self.fault.lock().unwrap();
        let pending = fault.as_mut().filter(|_| is_write(operation))?;
        if pending.write > 0 {
            pending.write -= 1;
            return None;
        }
        let kind = pending.kind;
        *fault = None;
        Some((kind.to_owned(), "injected by a test".to_owned()))
    }

    fn pace(&self) -> Option<Duration> {
        self.consumed.lock().unwrap().map(|_| ROUND_TRIP)
    }

    fn after(&self, operation: &str, _: &[u8], answer: &str) {
        let mut consumed = self.consumed.lock().unwrap();
        let Some(consumed) = consumed.as_mut() else { return };
        let answer: Value = serde_json::from_str(answer).unwrap();
        let capacity = match &answer["ConsumedCapacity"] {
            Value::Array(tables) => tables.iter().map(units).sum(),
            table => units(table),
        };
        consumed.calls += 1;
        *if is_write(operation) { &mut consumed.write } else { &mut consumed.read } += capacity;
    }
}

fn units(table: &Value) -> f64 {
    table["CapacityUnits"].as_f64().unwrap_or_else(|| panic!("no capacity in {table}"))
}
