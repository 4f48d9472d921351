//! Prepares the due entries of one project: renders them and puts them in the project's queues.

use flows::App;
use flows::email::gate;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use model::outbox::notice::Fate;
use model::outbox::{OutboxEntry, Stage};
use store::outbox::OutboxRow;
use store::outbox::moves::parts;
use store::outbox::transition::OutboxMove;
use store::outbox::work::DueWork;
use tokio::time::Instant;
use wire::id::ProjectId;

use crate::broadcast;
use crate::content;
use crate::fail_point::reached;
use crate::parties::Parties;
use crate::sending::{all, counted, moved};
use crate::turns::{CHUNK, SHARE, Turns};

/// The approximate number of broadcast entries created at once.
const EXPANDED: usize = 200;
/// The number of entries of a slow project that are claimed at once. The number is small enough for
/// the entries to be rendered before the lease ends, even if several slow projects take turns.
const SLOW_CHUNK: usize = 2;

/// Prepares due entries and expands due broadcasts when it is the project's turn. Returns the
/// number of entries that were advanced or created. After [`SHARE`], the remaining work stays due,
/// so that other projects get their turn.
pub(crate) async fn prepare(
    app: &App,
    turns: &Turns,
    project: &ProjectId,
    due: Vec<DueWork>,
    is_slow: bool,
) -> Result<usize, store::Error> {
    let Some(_turn) = turns.to_prepare(due.len(), is_slow).await else { return Ok(0) };
    let began = Instant::now();
    let is_over = || turns.is_ended() || began.elapsed() >= SHARE;
    let (mut entries, mut broadcasts) = (Vec::new(), Vec::new());
    for due in due {
        match due {
            DueWork::Entry(project, id) => entries.push((project, id)),
            DueWork::Broadcast(_, id) => broadcasts.push(id),
        }
    }
    let mut done = 0;
    // Each turn covers at least one broadcast and one chunk of entries, so that one kind of work
    // does not have to wait until the other kind is done.
    for (number, id) in broadcasts.into_iter().enumerate() {
        if number > 0 && is_over() {
            break;
        }
        done += counted(broadcast::expand(app, project, id, EXPANDED).await);
    }
    for (number, chunk) in entries.chunks(if is_slow { SLOW_CHUNK } else { CHUNK }).enumerate() {
        if number > 0 && is_over() {
            break;
        }
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::read(app, &rows).await?;
        done += advance(app, parties, rows).await;
    }
    Ok(done)
}

/// Advances each due entry as far as possible: renders it, and then queues it or leaves it
/// scheduled. Marks an entry as failed if its worker stopped while sending it.
async fn advance(app: &App, parties: &Parties, rows: Vec<OutboxRow>) -> usize {
    let now = app.clock.now();
    let (mut to_render, mut to_move) = (Vec::new(), Vec::new());
    for row in rows.into_iter().filter(|row| row.entry.due_at().is_some_and(|due| due <= now)) {
        let entry = row.entry.clone();
        let (moves, next) = match row.entry.stage {
            Stage::Preparing | Stage::Rendering { .. } => (&mut to_render, entry.begin_rendering(app.entropy.uuid(), now)),
            Stage::Scheduled => (&mut to_move, entry.enqueue(now)),
            Stage::Sending { .. } => (&mut to_move, entry.abandon_sending(now)),
            _ => continue,
        };
        moves.extend(next.map(|next| OutboxMove::new(row, next)));
    }
    let mut works: Vec<BoxFuture<'_, Result<usize, store::Error>>> = Vec::new();
    works.extend(parts(to_move).into_iter().map(|part| moved(app, part).boxed()));
    works.extend(parts(to_render).into_iter().map(|part| render(app, parties, part).boxed()));
    all(works).await
}

/// Claims entries, and renders their emails. If an entry is edited in the meantime, its version
/// changes and the outdated rendering is discarded. Entries that were not rendered because other
/// entries took too long become due again.
async fn render(app: &App, parties: &Parties, claims: Vec<OutboxMove>) -> Result<usize, store::Error> {
    reached("preparing", claims.len());
    let rows = app.store.move_outbox_entries(claims).await?;
    reached("rendering", rows.len());
    let CountedEntries { rows, stored, folded } = counted_notices(app, rows).await;
    let skipped = folded.len();
    for part in parts(folded) {
        app.store.move_outbox_entries(part).await?;
    }
    let rendered = content::render_all(app, parties, &rows).await?;
    let count = rendered.iter().flatten().count() + skipped;
    reached("rendered", count);
    let now = app.clock.now();
    let moves = rows.iter().zip(stored).zip(rendered).filter_map(|((row, stored), rendered)| {
        let Stage::Rendering { claim, .. } = row.entry.stage else { return None };
        let next = match rendered {
            None => row.entry.clone().take_back(now)?,
            Some(rendered) => {
                let mut next = rendered.entry.finish_rendering(claim, rendered.rendering, now)?;
                if let Some(mail) = &mut next.rendered {
                    mail.unsubscribe_url = rendered.unsubscribe_url;
                }
                next
            }
        };
        Some(OutboxMove::new(OutboxRow { entry: stored, ..row.clone() }, next))
    });
    for part in parts(moves.collect()) {
        app.store.move_outbox_entries(part).await?;
    }
    Ok(count)
}

/// Claimed entries, after their notices have been counted.
#[derive(Default)]
struct CountedEntries {
    /// The entries to render.
    rows: Vec<OutboxRow>,
    /// The claimed entries as they are in the table. The changes that counting makes are written
    /// only together with the rendering.
    stored: Vec<OutboxEntry>,
    /// The new states of notices that another notice covers.
    folded: Vec<OutboxMove>,
}

/// Counts the notices among claimed entries ([`gate`]). If counting a notice fails, the notice is
/// tried again after its claim has expired.
async fn counted_notices(app: &App, rows: Vec<OutboxRow>) -> CountedEntries {
    let mut found = CountedEntries::default();
    for mut row in rows {
        let stored = row.entry.clone();
        if row.entry.notice.is_some() {
            match gate::fate(app, &row.project, &row.entry).await {
                Ok(Fate::Folded) => {
                    let next = row.entry.clone().counted(Fate::Folded).fold(app.clock.now());
                    found.folded.extend(next.map(|next| OutboxMove::new(row, next)));
                    continue;
                }
                Ok(fate) => row.entry = row.entry.counted(fate),
                Err(error) => {
                    tracing::warn!(%error, "a notice could not be counted; it is rendered later");
                    continue;
                }
            }
        }
        found.rows.push(row);
        found.stored.push(stored);
    }
    found
}
