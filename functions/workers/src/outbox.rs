//! The outbox worker, which works in steps. A step renders the entries that are due and puts them
//! in their project's queues. Then it begins to serve each queue, as far as the project's quota
//! allows.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use email::send::Mailer;
use flows::App;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use model::outbox::Stage;
use model::outbox::quota::Audience;
use store::outbox::OutboxRow;
use store::outbox::moves::parts;
use store::outbox::transition::OutboxMove;
use store::outbox::work::{Due, Queue};
use tokio::time::timeout;
use wire::id::ProjectId;

use crate::broadcast;
use crate::content;
use crate::fail_point::reached;
use crate::parties::Parties;
use crate::sending::{CHUNK, Turns, all, counted, moved, serve};

/// The maximum number of entries per partition that a step prepares, and of emails per queue that
/// it begins to send. Both are small, because urgent emails wait for the next step.
const PREPARED: i32 = 50;
const SENT: i32 = 200;
/// About how many entries of a broadcast a step creates.
const EXPANDED: usize = 200;
/// How long a step waits at its end, at most, for queues that are being served.
const STEP: Duration = Duration::from_secs(1);
/// While this many queues are being served or wait for their turn, no further ones are read.
const QUEUES: usize = 256;

/// The outbox worker.
///
/// Queues are served side by side. A step does not wait until slow ones are finished; the next
/// steps continue to serve them. So one slow mail server delays only the emails of its project.
pub struct Outbox<'a> {
    app: &'a App,
    mailer: &'a dyn Mailer,
    until: Timestamp,
    turns: Arc<Turns>,
    /// The queues that are being served, or wait for their turn.
    busy: Vec<(ProjectId, Audience)>,
    serving: FuturesUnordered<BoxFuture<'a, Served>>,
    moved: usize,
}

/// A queue, and how many of its entries were sent or skipped.
type Served = (ProjectId, Audience, usize);

impl<'a> Outbox<'a> {
    /// After `until`, no more emails are claimed, so that a worker that is shut down leaves no
    /// email with an unknown outcome.
    pub fn new(app: &'a App, mailer: &'a dyn Mailer, until: Timestamp) -> Self {
        let (turns, serving) = (Arc::new(Turns::new()), FuturesUnordered::new());
        Self { app, mailer, until, turns, busy: Vec::new(), serving, moved: 0 }
    }

    /// Works on what is due, as far as the numbers above allow, and returns how many entries were
    /// advanced or, for broadcasts, created. Zero means that nothing is due, that nothing could be
    /// done, or that queues are still being served.
    ///
    /// # Errors
    /// The table cannot be read or written. Queues that are being served are not affected.
    pub async fn step(&mut self) -> Result<usize, store::Error> {
        let app = self.app;
        let prepared = async { prepare(app, app.store.due_work(app.clock.now(), PREPARED).await?).await };
        self.moved += self.beside(prepared).await?;
        let mut position = None;
        loop {
            let (queues, next) = self.beside(app.store.queues(position, SENT)).await?;
            for queue in queues {
                self.begin(queue);
            }
            while self.serving.len() >= QUEUES
                && let Some(served) = self.serving.next().await
            {
                self.note(&served);
            }
            position = next;
            if position.is_none() || app.clock.now() >= self.until {
                break;
            }
        }
        let _ = timeout(STEP, self.all_served()).await;
        Ok(std::mem::take(&mut self.moved))
    }

    /// Waits for `work`, and serves queues meanwhile.
    pub async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        match select(pin!(work), pin!(self.all_served())).await {
            Either::Left((done, _)) => done,
            Either::Right(((), work)) => work.await,
        }
    }

    /// Waits until the chunks of emails that have begun are sent, and begins no others. Returns how
    /// many entries were advanced since the last step.
    pub async fn finish(mut self) -> usize {
        self.turns.end();
        self.all_served().await;
        self.moved
    }

    fn begin(&mut self, queue: Queue) {
        if self.busy.iter().any(|(project, to)| *project == queue.project && *to == queue.to) {
            return;
        }
        self.busy.push((queue.project.clone(), queue.to));
        let (app, mailer, turns, until) = (self.app, self.mailer, Arc::clone(&self.turns), self.until);
        let served = async move {
            let count = counted(serve(app, mailer, &turns, &queue, until).await);
            (queue.project, queue.to, count)
        };
        self.serving.push(served.boxed());
    }

    async fn all_served(&mut self) {
        while let Some(served) = self.serving.next().await {
            self.note(&served);
        }
    }

    fn note(&mut self, (project, to, count): &Served) {
        self.busy.retain(|(busy, audience)| busy != project || audience != to);
        self.moved += count;
    }
}

async fn prepare(app: &App, due: Vec<Due>) -> Result<usize, store::Error> {
    let (mut moved, mut entries) = (0, Vec::new());
    for due in due {
        match due {
            Due::Entry(project, id) => entries.push((project, id)),
            Due::Broadcast(project, id) => moved += counted(broadcast::expand(app, &project, id, EXPANDED).await),
        }
    }
    for chunk in entries.chunks(CHUNK) {
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::of(app, &rows).await?;
        moved += advance(app, parties, rows).await;
    }
    Ok(moved)
}

/// Advances each due entry as far as possible: renders it, and puts it in its queue or leaves it
/// scheduled. An entry whose worker stopped while sending is marked as failed.
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
        moves.extend(next.map(|next| OutboxMove { row, next }));
    }
    let mut works: Vec<BoxFuture<'_, Result<usize, store::Error>>> = Vec::new();
    works.extend(parts(to_move).into_iter().map(|part| moved(app, part).boxed()));
    works.extend(parts(to_render).into_iter().map(|part| render(app, parties, part).boxed()));
    all(works).await
}

/// Claims entries and renders them. An edit in the meantime changes the version, and the outdated
/// rendering is discarded.
async fn render(app: &App, parties: &Parties, claims: Vec<OutboxMove>) -> Result<usize, store::Error> {
    reached("preparing", claims.len());
    let rows = app.store.move_outbox_entries(claims).await?;
    reached("rendering", rows.len());
    let rendered = content::render_all(app, parties, &rows).await?;
    reached("rendered", rows.len());
    let now = app.clock.now();
    let moves = rows.iter().zip(rendered).filter_map(|(row, rendered)| {
        let Stage::Rendering { claim, .. } = row.entry.stage else { return None };
        let mut next = rendered.entry.finish_rendering(claim, rendered.rendering, now)?;
        if let Some(mail) = &mut next.rendered {
            mail.unsubscribe_url = rendered.unsubscribe_url;
        }
        Some(OutboxMove { row: row.clone(), next })
    });
    for part in parts(moves.collect()) {
        app.store.move_outbox_entries(part).await?;
    }
    Ok(rows.len())
}

/// Runs steps until nothing is due, or until `until`.
pub async fn drain(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let (mut outbox, mut moved) = (Outbox::new(app, mailer, until), 0);
    let mut result = Ok(());
    while result.is_ok() && app.clock.now() < until {
        match Box::pin(outbox.step()).await {
            Ok(0) if outbox.serving.is_empty() => break,
            Ok(count) => moved += count,
            Err(error) => result = Err(error),
        }
    }
    moved += outbox.finish().await;
    result.map(|()| moved)
}
