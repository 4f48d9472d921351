//! A log that is kept in memory, for tests of logging.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};

use api::http::log;
use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};

/// The text written so far. Clones share it.
#[derive(Clone, Default)]
pub struct KeptLog(Arc<Mutex<Vec<u8>>>);

impl KeptLog {
    /// Captures the log of this thread until the result is dropped.
    pub fn keep(&self) -> DefaultGuard {
        // If there is a single subscriber, `tracing` asks the thread that first reaches a line
        // whether the line is wanted. That thread may belong to another test, which does not have a
        // subscriber.
        static OTHER: OnceLock<Dispatch> = OnceLock::new();
        OTHER.get_or_init(|| Dispatch::new(NoSubscriber::new()));
        let writer = self.clone();
        set_default(log::lines(log::MAX_LEVEL, move || writer.clone()))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for KeptLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
