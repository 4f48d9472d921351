//! The uses of a refresh token, counted in the item of its session, which each use writes anyway.
//!
//! | attribute of the session | meaning |
//! |---|---|
//! | `used_in` | the window of the last use, by length and number |
//! | `uses` | the number of uses in that window |
//! | `uses_before` | the number of uses in the window before |
//!
//! Within a window, concurrent uses are added up without conflicts. The first use of a window
//! succeeds only if the item is still as it was read; the others then count in the new window. A
//! use that is refused is not counted.

use jiff::Timestamp;
use model::limit::{Counter, Refused};
use model::session::Session;

use crate::error::Error;
use crate::item::{Item, entity, integer, number, string};
use crate::write::Write;

/// The state of a session when its refresh token was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uses {
    last_used_at: Timestamp,
    window: Option<String>,
    count: u32,
    before: u32,
}

impl Uses {
    pub(super) fn of(item: Item) -> Result<Self, Error> {
        let window = item.get("used_in").and_then(|value| value.as_s().ok()).cloned();
        let [count, before] = ["uses", "uses_before"].map(|name| number(&item, name).unwrap_or_default());
        let session: Session = entity(item)?;
        Ok(Self { last_used_at: session.last_used_at, window, count, before })
    }

    /// When a use of the token was last counted; `None` if none was.
    pub fn counted_at(&self) -> Option<Timestamp> {
        self.window.as_ref().map(|_| self.last_used_at)
    }

    /// Adds one use to a write with the update expression `set` and the condition `on`; the refusal
    /// if the limit is reached.
    pub(super) fn count(&self, write: Write, set: &str, on: &str, counter: &Counter) -> Result<Write, Refused> {
        let [window, window_before] = counter.windows();
        let is_same = self.window.as_ref() == Some(&window);
        let before = match &self.window {
            _ if is_same => self.before,
            Some(last) if *last == window_before => self.count,
            _ => 0,
        };
        let (counted, room) = (if is_same { self.count } else { 0 }, counter.quota_after(before));
        if counted >= room {
            return Err(counter.refusal_at(before, counted));
        }
        let write = write.value(":window", string(window)).value(":one", integer(1));
        if is_same {
            let write = write.expression(format!("{set} ADD uses :one")).on(format!("{on} AND used_in = :window AND uses < :room"));
            return Ok(write.value(":room", integer(room)));
        }
        let write =
            write.expression(format!("{set}, used_in = :window, uses = :one, uses_before = :before")).value(":before", integer(before));
        Ok(match &self.window {
            Some(last) => {
                let write = write.on(format!("{on} AND used_in = :last AND uses = :count"));
                write.value(":last", string(last)).value(":count", integer(self.count))
            }
            None => write.on(format!("{on} AND attribute_not_exists(used_in)")),
        })
    }
}
