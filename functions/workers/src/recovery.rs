//! Resolves the entries that a killed worker left behind, if only one process uses the outbox.
//!
//! In other deployments, a worker counts as dead when its lease ends, and the outcome of an email
//! that was being sent is unknown. A gateway is the only user of its data and can look into its
//! inbox. Emails in the inbox were sent, and all other emails were not. A project's mail server
//! cannot be asked whether it accepted an email, so the outcome stays unknown, and the email is not
//! sent again.

use flows::App;
use jiff::SignedDuration;
use model::outbox::work::Outcome;
use model::outbox::{SENDING_LEASE, SendError, Stage};
use store::outbox::OutboxRow;
use store::outbox::moves::parts;
use store::outbox::transition::OutboxMove;
use wire::clock::{Millis, after};
use wire::id::EmailId;

use crate::parties::Parties;

/// The number of entries that are read at once.
const CHUNK: usize = 50;
/// The maximum time by which the clock may have been set back since the last process.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Resolves all entries that a worker was rendering or sending, and returns the number of these
/// entries. `arrived` returns whether the email of an attempt has arrived, or `None` if the entry
/// has to wait until its lease ends. Call this function before the process sends any email.
pub async fn recover(app: &App, arrived: &(dyn Fn(EmailId, Millis) -> Option<bool> + Sync)) -> Result<usize, store::Error> {
    let until = after(app.clock.now(), SENDING_LEASE + CLOCK_SKEW);
    let waiting = app.store.waiting_entries(until).await?;
    let mut settled = 0;
    for chunk in waiting.chunks(CHUNK) {
        let rows = app.store.outbox_rows(chunk).await?;
        let begun = |row: &OutboxRow| matches!(row.entry.stage, Stage::Rendering { .. } | Stage::Sending { .. });
        let rows: Vec<OutboxRow> = rows.into_iter().filter(begun).collect();
        let parties = &Parties::read(app, &rows).await?;
        let moves = rows.into_iter().filter_map(|row| settle(app, parties, row, arrived)).collect();
        for part in parts(moves) {
            settled += app.store.move_outbox_entries(part).await?.len();
        }
    }
    Ok(settled)
}

fn settle(app: &App, parties: &Parties, row: OutboxRow, arrived: &(dyn Fn(EmailId, Millis) -> Option<bool> + Sync)) -> Option<OutboxMove> {
    let (entry, now) = (row.entry.clone(), app.clock.now());
    let next = match entry.stage {
        Stage::Sending { claim, started_at } => {
            let has_own_server = parties.project(&row.project).is_some_and(|project| project.config.email.server.is_some());
            match arrived(entry.id, started_at)? {
                true => entry.finish_sending(claim, Outcome::Sent { is_reported_on: false }, 0.0, now),
                false if has_own_server => {
                    let failure = SendError::unknown(now, "the process stopped before it knew whether the email was sent");
                    entry.finish_sending(claim, Outcome::Final(failure), 0.0, now)
                }
                false => entry.take_back(now),
            }
        }
        _ => entry.take_back(now),
    };
    next.map(|next| OutboxMove::new(row, next))
}
