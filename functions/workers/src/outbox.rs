//! The outbox worker, which works in steps. A step first starts to render due entries, which then
//! enter the queues of their projects. It then starts to serve each queue within the project's
//! quota.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use email::sandbox;
use email::send::Mailer;
use flows::App;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use model::outbox::quota::Audience;
use store::outbox::work::{DueWork, Queue, SearchProgress};
use tokio::time::timeout;
use wire::id::ProjectId;

use crate::preparing::prepare;
use crate::sending::{counted, serve};
use crate::turns::Turns;

/// The maximum number of entries per partition that a step starts to prepare, and of emails per
/// queue that a step starts to send. A step starts twice as many entries if they belong to several
/// projects. The numbers are small, because urgent emails have to wait for the next step.
const PREPARED: i32 = 50;
const SENT: i32 = 200;
/// The maximum time for which a step waits for the entries of projects that are not slow. At the
/// end, a step waits for all tasks, for at most the same time.
const STEP: Duration = Duration::from_secs(1);
/// While this many queues are being served or are waiting, no other queues are read.
const QUEUES: usize = 256;

/// The outbox worker.
///
/// The entries of several projects are prepared in parallel, and several queues are served in
/// parallel. A step does not wait for slow tasks, which continue during the next steps. Slow
/// templates and mail servers therefore hardly delay the emails of other projects.
pub struct Outbox<'a> {
    app: &'a App,
    mailer: &'a dyn Mailer,
    until: Timestamp,
    turns: Arc<Turns>,
    /// The tasks in `working`.
    tasks: Vec<Task>,
    /// The running and waiting tasks, each with the number that [`Self::step`] counts for it.
    working: FuturesUnordered<BoxFuture<'a, (Task, usize)>>,
    searched: SearchProgress,
    moved: usize,
}

#[derive(Clone, PartialEq)]
enum Task {
    /// The task prepares the entries of a project. The flag is `true` if the project's emails
    /// render slowly.
    Prepare(ProjectId, bool),
    /// Serving a queue.
    Serve(ProjectId, Audience),
}

impl<'a> Outbox<'a> {
    /// No more emails are claimed after `until`, so that a shutdown leaves no emails whose outcome
    /// is unknown.
    pub fn new(app: &'a App, mailer: &'a dyn Mailer, until: Timestamp) -> Self {
        let (turns, working) = (Arc::new(Turns::new()), FuturesUnordered::new());
        Self { app, mailer, until, turns, tasks: Vec::new(), working, searched: SearchProgress::default(), moved: 0 }
    }

    /// Processes due work within the limits of this module. Returns the number of entries that were
    /// advanced, including the entries that broadcasts created. A sent email counts once for each
    /// address. Zero means that nothing is due, that no due work could be done, or that tasks are
    /// still running.
    ///
    /// # Errors
    /// Fails if the table cannot be read. Tasks that have begun are not affected.
    pub async fn step(&mut self) -> Result<usize, store::Error> {
        let app = self.app;
        let busy: Vec<ProjectId> = self.tasks.iter().filter_map(Task::prepared).cloned().collect();
        let mut searched = std::mem::take(&mut self.searched);
        let due = self.beside(app.store.due_beside(&busy, app.clock.now(), PREPARED, &mut searched)).await?;
        self.searched = searched;
        for (project, due) in by_project(due) {
            self.prepare(project, due);
        }
        // The step does not wait for slow projects.
        let _ = timeout(STEP, self.done(|task| matches!(task, Task::Prepare(_, false)))).await;
        let mut position = None;
        loop {
            let (queues, next) = self.beside(app.store.queues(position, SENT)).await?;
            for queue in queues {
                self.serve(queue);
            }
            while self.tasks.iter().filter(|task| matches!(task, Task::Serve(..))).count() >= QUEUES
                && let Some(done) = self.working.next().await
            {
                self.note(&done);
            }
            position = next;
            if position.is_none() || app.clock.now() >= self.until {
                break;
            }
        }
        let _ = timeout(STEP, self.done(|_| true)).await;
        Ok(std::mem::take(&mut self.moved))
    }

    /// Waits for `work` while running the tasks.
    pub async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        match select(pin!(work), pin!(self.done(|_| true))).await {
            Either::Left((done, _)) => done,
            Either::Right(((), work)) => work.await,
        }
    }

    /// Waits until the current chunks of entries are prepared or sent, without starting other
    /// chunks. Returns the number of entries that were advanced since the last step.
    pub async fn finish(mut self) -> usize {
        self.turns.end();
        self.done(|_| true).await;
        self.moved
    }

    fn prepare(&mut self, project: ProjectId, due: Vec<DueWork>) {
        let is_slow = sandbox::is_slow(project.as_str());
        let (app, turns) = (self.app, Arc::clone(&self.turns));
        let task = Task::Prepare(project.clone(), is_slow);
        self.begin(task, async move { prepare(app, &turns, &project, due, is_slow).await }.boxed());
    }

    fn serve(&mut self, queue: Queue) {
        let task = Task::Serve(queue.project.clone(), queue.to);
        if !self.tasks.contains(&task) {
            let (app, mailer, turns, until) = (self.app, self.mailer, Arc::clone(&self.turns), self.until);
            self.begin(task, async move { serve(app, mailer, &turns, &queue, until).await }.boxed());
        }
    }

    fn begin(&mut self, task: Task, work: BoxFuture<'a, Result<usize, store::Error>>) {
        self.tasks.push(task.clone());
        self.working.push(work.map(|result| (task, counted(result))).boxed());
    }

    /// Waits until all tasks of a kind are done.
    async fn done(&mut self, is_of_kind: impl Fn(&Task) -> bool) {
        while self.tasks.iter().any(&is_of_kind)
            && let Some(done) = self.working.next().await
        {
            self.note(&done);
        }
    }

    fn note(&mut self, (done, count): &(Task, usize)) {
        self.tasks.retain(|task| task != done);
        self.moved += count;
    }
}

impl Task {
    /// The project whose entries are being prepared.
    fn prepared(&self) -> Option<&ProjectId> {
        match self {
            Self::Prepare(project, _) => Some(project),
            Self::Serve(..) => None,
        }
    }
}

/// Groups due work by project. The projects are in the order of their first work.
fn by_project(due: Vec<DueWork>) -> Vec<(ProjectId, Vec<DueWork>)> {
    let mut projects: Vec<(ProjectId, Vec<DueWork>)> = Vec::new();
    for due in due {
        match projects.iter_mut().find(|(project, _)| project == due.project()) {
            Some((_, known)) => known.push(due),
            None => projects.push((due.project().clone(), vec![due])),
        }
    }
    projects
}

/// Runs steps until nothing is due or `until` is reached.
pub async fn drain(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let (mut outbox, mut moved) = (Outbox::new(app, mailer, until), 0);
    let mut result = Ok(());
    while result.is_ok() && app.clock.now() < until {
        match Box::pin(outbox.step()).await {
            Ok(0) if outbox.working.is_empty() => break,
            Ok(count) => moved += count,
            Err(error) => result = Err(error),
        }
    }
    moved += outbox.finish().await;
    result.map(|()| moved)
}

/// Like [`drain`], but does nothing if another woken worker is already draining the outbox. The
/// other worker will also do this work. A worker may drain the outbox for minutes, while new work
/// arrives many times per second.
pub async fn drain_in_turn(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let mut moved = 0;
    if !app.store.begin_outbox_turn(app.clock.now(), until).await? {
        return Ok(moved);
    }
    loop {
        let drained = drain(app, mailer, until).await;
        if app.store.end_outbox_turn(until).await? || app.clock.now() >= until {
            return drained.map(|count| moved + count);
        }
        moved += counted(drained);
    }
}
