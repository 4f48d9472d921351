//! Times in words. A text says how long ago something happened or, if the time is long ago, on
//! which day it happened.

use jiff::Timestamp;
use minijinja::{Value, context};
use serde_json::Value as Json;

use crate::visit::Visit;

/// The format of a date whose hyphens do not break lines.
const DATE: &str = "%Y\u{2011}%m\u{2011}%d";

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// After this many days, the date is shown instead of the number of days.
const MAX_DAYS: i64 = 30;

/// The unit and the number that express a duration. `None` if the date should be shown instead.
fn told(seconds: i64) -> Option<(&'static str, i64)> {
    Some(match seconds {
        ..MINUTE => ("now", 0),
        MINUTE..HOUR => ("minute", seconds / MINUTE),
        HOUR..DAY => ("hour", seconds / HOUR),
        _ if seconds / DAY <= MAX_DAYS => ("day", seconds / DAY),
        _ => return None,
    })
}

impl Visit {
    /// A time in milliseconds, in words and in full. `None` if the value is not a time.
    pub(super) fn ago(&self, millis: &Json) -> Option<Value> {
        Some(self.ago_at(Timestamp::from_millisecond(millis.as_i64()?).ok()?))
    }

    pub(super) fn ago_at(&self, at: Timestamp) -> Value {
        let seconds = self.app.clock.now().duration_since(at).as_secs();
        let text = match told(seconds) {
            Some((unit, 1)) => self.text(&format!("account.ago.{unit}")),
            Some(("now", _)) => self.text("account.ago.now"),
            Some((unit, count)) => self.fill(&format!("account.ago.{unit}s"), &[("n", &count.to_string())]),
            None => self.fill("account.ago.date", &[("date", &at.strftime(DATE).to_string())]),
        };
        context! { text => text, full => at.strftime("%Y-%m-%d %H:%M UTC").to_string() }
    }
}

/// The date of a time in milliseconds.
pub(super) fn day(millis: &Json) -> Option<String> {
    let at = Timestamp::from_millisecond(millis.as_i64()?).ok()?;
    Some(at.strftime(DATE).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_told_in_its_largest_unit() {
        for (seconds, expected) in [
            (-5, Some(("now", 0))),
            (59, Some(("now", 0))),
            (60, Some(("minute", 1))),
            (3599, Some(("minute", 59))),
            (3600, Some(("hour", 1))),
            (86_399, Some(("hour", 23))),
            (86_400, Some(("day", 1))),
            (30 * 86_400, Some(("day", 30))),
            (31 * 86_400, None),
        ] {
            assert_eq!(told(seconds), expected, "{seconds}");
        }
    }
}
