//! Counters for usual rates, and records of solved bot challenges. A project may require bot
//! challenges while requests exceed a usual rate.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | counter of a usual rate | as for [limits](crate::limit) | `COUNT` | 2 units to read, 1 to count |
//! | spent challenge | `B#<P>#<id>` | `SPENT` | 1 unit to spend |
//!
//! A request beyond the usual rate is suspicious, but not refused. The counters are therefore read
//! before a request is processed, and the request is counted during processing. Spending a
//! challenge is a conditional write, so only the first attempt succeeds.

use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use model::bot_challenge::rate::Tally;
use model::limit::Counter;
use wire::id::ProjectId;

use crate::limit::{Window, add, counted, counter_key, key_before};
use crate::table::{Error, Key, Store, Write, is_made};

/// The time limit for counting a request. If counting takes longer or fails, the request may be
/// missing from some tallies.
const TIMEOUT: Duration = Duration::from_millis(500);

impl Store {
    /// Reads the tallies of `counters` in one round trip, together with the window of `limit`, if
    /// set. The caller then counts the request in the window of `limit`.
    pub async fn tallies(
        &self,
        project: &ProjectId,
        counters: Vec<Counter>,
        limit: Option<Counter>,
    ) -> Result<(Vec<Tally>, Option<Window>), Error> {
        let keys = counters.iter().flat_map(|counter| [counter_key(project, counter), key_before(project, counter)]);
        let items = self.get_many(keys.chain(limit.as_ref().map(|limit| key_before(project, limit)))).await?;
        let window = limit.map(|limit| Window::after(counted(items.get(&key_before(project, &limit)).as_ref()), limit));
        let tally = |counter: Counter| {
            let of = |key: Key| counted(items.get(&key).as_ref());
            Tally { before: of(key_before(project, &counter)), counted: of(counter_key(project, &counter)), counter }
        };
        Ok((counters.into_iter().map(tally).collect(), window))
    }

    /// Counts one request in every tally that is not full. Gives up silently after half a second,
    /// and only logs errors.
    pub async fn count_usual(&self, project: &ProjectId, tallies: &[Tally]) {
        let counts = tallies.iter().filter(|tally| !tally.is_full()).map(|tally| self.write_unrecorded(add(project, &tally.counter)));
        let Ok(counted) = tokio::time::timeout(TIMEOUT, join_all(counts)).await else { return };
        for error in counted.into_iter().filter_map(Result::err) {
            tracing::warn!(error = &error as &dyn std::error::Error, %project, "a request could not be counted against a usual rate");
        }
    }

    /// Spends a challenge; `false` if the challenge had already been spent. The item may be deleted
    /// at `forgotten_at`, so the challenge must have expired by then according to every instance's
    /// clock.
    pub async fn spend_challenge(&self, project: &ProjectId, id: &str, forgotten_at: Timestamp) -> Result<bool, Error> {
        let spend = Write::create(Key::new(format!("B#{project}#{id}"), "SPENT"), &true)?.expires(forgotten_at);
        is_made(self.write_unrecorded(spend).await)
    }
}
