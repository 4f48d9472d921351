//! What a test sees of the calls to the table, and how it makes them fail.

use std::sync::Mutex;

use gateway::engine::Observe;

/// Records the calls to the table, and fails those that a test wants to fail.
#[derive(Default)]
pub struct Recorder {
    calls: Mutex<Vec<(String, String)>>,
    fault: Mutex<Option<Fault>>,
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
}
