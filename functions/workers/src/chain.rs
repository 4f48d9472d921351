//! Adds the links of an audit trail's hash chain ([`model::trail::chain`]). Each step continues
//! after the last link, no matter which worker added it, so a step also covers entries that earlier
//! steps missed.

use std::collections::HashMap;

use api::http::log;
use crypto::trail_keys::TrailKeys;
use flows::App;
use jiff::Timestamp;
use jiff::civil::Date;
use model::project::retention::max_retention;
use model::trail::chain::{CoveredEntry, Head, Link, MAX_ENTRIES, OVERLAP};
use store::trail::chain::{Chain, DayEntry, earlier, position_before, time_of};
use store::trail::day;
use store::{Error, optimistic};
use wire::clock::after;
use wire::id::ProjectId;

use crate::counting::{FreshEntry, count_active, first_link, note_sign_ins};
use crate::fail_point::reached;

/// The maximum number of attempts when several workers extend the same chain.
const MAX_ATTEMPTS: u32 = 5;

/// Links all entries of a project's trail that are not linked yet, counts them in the project's
/// figures, and returns their number. Entries that are older than the last link by more than
/// [`OVERLAP`] are linked only if they are not older than `since`. Does nothing for a deleted
/// project.
pub(crate) async fn link(app: &App, project: &ProjectId, since: Option<Timestamp>) -> Result<usize, store::Error> {
    let mut linked = 0;
    // Each attempt continues after the links that other workers have added in the meantime.
    optimistic!(MAX_ATTEMPTS, |_| { Box::pin(step(app, project, since, &mut linked)).await })?;
    Ok(linked)
}

async fn step(app: &App, project: &ProjectId, since: Option<Timestamp>, linked: &mut usize) -> Result<(), store::Error> {
    let Some(row) = app.store.project(project).await? else { return Ok(()) };
    let (keys, now) = (TrailKeys::new(&app.settings.secret), app.clock.now());
    // Linking to a forged head would make the head look authentic.
    let head = app.store.authentic_head(project, &keys).await?;
    let (known, start) = match &head {
        Some(head) => {
            let start = earlier(&head.watermark, OVERLAP);
            let start = since.map_or_else(|| start.clone(), |since| start.clone().min(position_before(since)));
            (app.store.covered_since(project, &start).await?, start)
        }
        None => (HashMap::new(), position_before(after(row.project.created_at, -OVERLAP))),
    };
    // Older entries have expired.
    let start = start.max(position_before(after(now, -max_retention())));
    let mut chain = Links { app, project, keys, head, now, linked, is_late: false };
    let end = position_before(after(now, OVERLAP));
    let last = day(after(now, OVERLAP));
    let mut of_day = time_of(&start).map_or(last, day);
    while of_day <= last {
        let mut from = start.clone();
        loop {
            let page = app.store.day_of_trail(project, of_day, &from, &end).await?;
            let fresh = |DayEntry { covered, entry, is_misplaced }| {
                let before = known.get(&covered.position);
                let times = covered.count.map_or(1, |count| count.saturating_sub(before.and_then(|it| it.count).unwrap_or_default()));
                let is_new = is_new(&covered, before, now);
                if is_new && is_misplaced {
                    suspect(app, project, &covered, "a new entry of an audit trail does not fit its place in the table");
                } else if before.is_some_and(|before| *before != covered) && !is_new {
                    suspect(app, project, &covered, "an entry of an audit trail was modified after a link had covered it");
                }
                is_new.then_some(FreshEntry { covered, entry, times })
            };
            let new = page.entries.into_iter().filter_map(fresh);
            chain.add(of_day, new.collect()).await?;
            match page.next {
                Some(next) => from = next,
                None => break,
            }
        }
        let Ok(next) = of_day.tomorrow() else { break };
        of_day = next;
    }
    Ok(())
}

/// Whether an entry must be linked, because it is new and has not expired, or because its count has
/// risen since the last link.
fn is_new(entry: &CoveredEntry, covered: Option<&CoveredEntry>, now: Timestamp) -> bool {
    match covered {
        Some(covered) => entry.counts_on(covered),
        None => entry.until > now.as_second(),
    }
}

/// Reports an entry that suggests that someone has changed a trail, both in the log and as a metric
/// with an alarm. `gateway audit verify` finds the same entries.
fn suspect(app: &App, project: &ProjectId, entry: &CoveredEntry, what: &str) {
    tracing::error!(%project, entry = entry.id(), "{what}");
    log::suspect_trail(app);
}

/// The chain under construction.
struct Links<'a> {
    app: &'a App,
    project: &'a ProjectId,
    keys: TrailKeys,
    head: Option<Head>,
    now: Timestamp,
    linked: &'a mut usize,
    /// Whether a link of this step was late. A late link is reported only once.
    is_late: bool,
}

impl Links<'_> {
    async fn add(&mut self, day: Date, mut entries: Vec<FreshEntry>) -> Result<(), store::Error> {
        let noted = note_sign_ins(self.app, self.project, &entries).await;
        match noted.and(count_active(self.app, self.project, &entries).await) {
            // A permanent error must not prevent the entries from being linked.
            Err(error @ (Error::Corrupt(_) | Error::Refused(_) | Error::TooMuch(_))) => {
                tracing::error!(%error, project = %self.project, "the activity of users was not counted, or not noted in full");
            }
            counted => counted?,
        }
        while !entries.is_empty() {
            let (count, counters) = first_link(&entries, MAX_ENTRIES);
            let entries: Vec<CoveredEntry> = entries.drain(..count).map(|fresh| fresh.covered).collect();
            reached("linking", entries.len());
            let link = Link::after(self.head.as_ref(), self.project, day, entries.clone(), self.now);
            self.note_lateness(&link);
            let chain = Chain { project: self.project, keys: &self.keys };
            let head = self.app.store.add_link(&chain, link, self.head.as_ref(), &counters).await?;
            reached("linked", entries.len());
            *self.linked += entries.len();
            // The log is not in the table, so write access to the table does not permit changing
            // the log.
            tracing::info!(project = %self.project, link = head.number, digest = %head.digest, entries = entries.len(), "linked the trail");
            self.head = Some(head);
        }
        Ok(())
    }

    /// Reports a link to entries that should have been linked much earlier. The late entries are
    /// still linked, because the reason may only be that no worker ran. As long as the link exists,
    /// the time in it shows the delay.
    fn note_lateness(&mut self, link: &Link) {
        if self.is_late || !link.is_late(self.now) {
            return;
        }
        self.is_late = true;
        let what = match self.head {
            None => "an audit trail without links has entries older than a day: its links were removed, or it was never linked",
            Some(_) => "entries of an audit trail are linked more than a day late",
        };
        if let Some(first) = link.entries.first() {
            suspect(self.app, self.project, first, what);
        }
    }
}
