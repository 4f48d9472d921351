//! One step of the outbox: everything that is due moves on as far as it can (WIRE.md §7.3 and §7.4). What is due is prepared, until it
//! stands in its project's queue; then each queue is served as far as its project's quota goes.

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use shared::App;
use shared::mail::render;
use shared::mail::send::{Mail, Mailer};
use shared::model::email::Email;
use shared::model::id::ProjectId;
use shared::model::outbox::{Millis, OutboxEntry, Recipients, SkippedReason, Stage};
use shared::model::outbox_work::Outcome;
use shared::model::project::Project;
use shared::model::user::User;
use shared::store::outbox::OutboxRow;
use shared::store::outbox_work::{Due, Queue};
use shared::store::{self};

use crate::broadcast;
use crate::content;
use crate::fail_point::reached;
use crate::parties::Parties;

/// How many entries are read at once.
const CHUNK: usize = 50;
/// How many entries of a partition a step takes up.
const BATCH: i32 = 100;
/// How many entries are worked on at once.
const PARALLEL: usize = 8;

/// Works on everything that is due; says how many entries moved on. Zero: there is nothing to do now, or nothing that can be done.
///
/// From `until` on no mail is begun to be sent, so that a worker that will be ended leaves none of unknown outcome.
pub async fn step(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let mut moved = prepare(app, app.store.due_work(app.clock.now(), BATCH).await?).await?;
    let mut position = None;
    loop {
        let (queues, next) = app.store.queues(position, BATCH).await?;
        for queue in queues {
            moved += serve(app, mailer, &queue, until).await?;
        }
        position = next;
        if position.is_none() || app.clock.now() >= until {
            return Ok(moved);
        }
    }
}

/// Does some works side by side, and adds up what they moved.
async fn all(works: Vec<BoxFuture<'_, usize>>) -> usize {
    futures_util::stream::iter(works).buffer_unordered(PARALLEL).fold(0, |moved, one| async move { moved + one }).await
}

/// How many moved. What did not stays due: a later step takes it up again.
fn counted(result: Result<usize, store::Error>, what: &impl std::fmt::Debug) -> usize {
    result.inspect_err(|error| tracing::warn!(%error, ?what, "work of the outbox did not move on")).unwrap_or(0)
}

async fn prepare(app: &App, due: Vec<Due>) -> Result<usize, store::Error> {
    let (mut moved, mut entries) = (0, Vec::new());
    for due in due {
        match due {
            Due::Entry(project, id) => entries.push((project, id)),
            Due::Broadcast(project, id) => moved += counted(broadcast::expand(app, &project, id).await, &id),
        }
    }
    for chunk in entries.chunks(CHUNK) {
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::of(app, &rows).await?;
        moved += all(rows.into_iter().map(|row| advance_one(app, parties, row).boxed()).collect()).await;
    }
    Ok(moved)
}

async fn advance_one(app: &App, parties: &Parties, row: OutboxRow) -> usize {
    let id = row.entry.id;
    counted(advance(app, parties, row).await, &id)
}

async fn send_one(app: &App, mailer: &dyn Mailer, parties: &Parties, row: OutboxRow, until: Timestamp) -> usize {
    let id = row.entry.id;
    if app.clock.now() >= until {
        return 0;
    }
    counted(send_entry(app, mailer, parties, row).await, &id)
}

/// Moves one entry on until it is in its queue, or there is nothing to do with it now.
async fn advance(app: &App, parties: &Parties, mut row: OutboxRow) -> Result<usize, store::Error> {
    let mut moves = 0;
    loop {
        let now = app.clock.now();
        if row.entry.due_at().is_none_or(|due| due > now) || row.entry.stage == Stage::Queued {
            return Ok(moves.min(1));
        }
        let (project, id) = (row.project.clone(), row.entry.id);
        let moved = match row.entry.stage {
            Stage::Preparing | Stage::Rendering { .. } => render_entry(app, parties, row).await,
            Stage::Scheduled => write(app, &row, row.entry.clone().enqueue(now)).await,
            Stage::Sending { .. } => write(app, &row, row.entry.clone().abandon_sending(now)).await,
            _ => return Ok(moves.min(1)),
        };
        row = match moved {
            Ok(next) => {
                moves += 1;
                next
            }
            // Somebody else moved or edited it: look again.
            Err(store::Error::Conflict(_)) => match app.store.outbox_entry(&project, id).await? {
                Some(row) => row,
                None => return Ok(moves.min(1)),
            },
            Err(error) => return Err(error),
        };
    }
}

/// Sends the first mails of a queue, as many as the project may send now.
async fn serve(app: &App, mailer: &dyn Mailer, queue: &Queue, until: Timestamp) -> Result<usize, store::Error> {
    let Queue { project, entries } = queue;
    let wanted = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    let granted = match app.settings.mails_per_hour {
        Some(base) => app.store.take_mail_tokens(project, base, wanted, app.clock.now()).await?,
        None => wanted,
    };
    let first: Vec<_> = entries.iter().take(usize::try_from(granted).unwrap_or(usize::MAX)).map(|id| (project.clone(), *id)).collect();
    let mut sent = 0;
    for chunk in first.chunks(CHUNK) {
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::of(app, &rows).await?;
        sent += all(rows.into_iter().map(|row| send_one(app, mailer, parties, row, until).boxed()).collect()).await;
    }
    // Others were edited, or sent by another worker.
    let left = granted.saturating_sub(u32::try_from(sent).unwrap_or(granted));
    if left > 0 && app.settings.mails_per_hour.is_some() {
        app.store.give_mail_tokens_back(project, left).await?;
    }
    Ok(sent)
}

/// Writes the next entry, and gives it as it is then.
async fn write(app: &App, row: &OutboxRow, next: Option<OutboxEntry>) -> Result<OutboxRow, store::Error> {
    let Some(entry) = next else { return Err(store::Error::Conflict(Vec::new())) };
    app.store.replace_outbox_entry(&row.project, &entry, row.version).await?;
    Ok(OutboxRow { project: row.project.clone(), entry, version: row.version + 1 })
}

async fn render_entry(app: &App, parties: &Parties, row: OutboxRow) -> Result<OutboxRow, store::Error> {
    let claim = app.entropy.uuid();
    reached("preparing");
    let row = write(app, &row, row.entry.clone().begin_rendering(claim, app.clock.now())).await?;
    reached("rendering");
    let (project, user) = parties.to(app, &row).await?;
    let content::Rendered { entry, rendering, unsubscribe_url } = match project {
        Some(project) => content::render(app, &project, user.as_ref(), row.entry.clone()).await?,
        None => content::Rendered::of_nobody(row.entry.clone()),
    };
    reached("rendered");
    // An edit meanwhile has changed the version: this rendering is then of the past, and is dropped.
    let mut next = entry.finish_rendering(claim, rendering, app.clock.now());
    if let Some(rendered) = next.as_mut().and_then(|entry| entry.rendered.as_mut()) {
        rendered.unsubscribe_url = unsubscribe_url;
    }
    write(app, &row, next).await
}

/// Sends a queued mail; says whether it did.
async fn send_entry(app: &App, mailer: &dyn Mailer, parties: &Parties, row: OutboxRow) -> Result<usize, store::Error> {
    let (claim, started) = (app.entropy.uuid(), app.clock.now());
    let Some(entry) = row.entry.clone().begin_sending(claim, started) else { return Ok(0) };
    reached("queued");
    let row = match write(app, &row, Some(entry)).await {
        Err(store::Error::Conflict(_)) => return Ok(0),
        result => result?,
    };
    reached("claimed");
    let (project, user) = parties.to(app, &row).await?;
    let outcome = match recipients(&row.entry, user.as_ref()) {
        Ok(to) => mailer.send(&mail(app, &row.project, project.as_ref(), &row.entry, to, started.as_millisecond())).await,
        Err(reason) => Outcome::Skipped(reason),
    };
    reached("sent");
    let settled = row.entry.clone().finish_sending(claim, outcome, app.entropy.fraction(), app.clock.now());
    match settle(app, &row, settled).await {
        // A report of the mail service was faster, and has said what became of it.
        Ok(()) | Err(store::Error::Conflict(_)) => {}
        Err(error) => return Err(error),
    }
    reached("settled");
    Ok(1)
}

/// Writes what became of a mail. The mail may be out, so this is tried for longer than other writes.
async fn settle(app: &App, row: &OutboxRow, entry: Option<OutboxEntry>) -> Result<(), store::Error> {
    let Some(entry) = entry else { return Ok(()) };
    for _ in 0..5 {
        match app.store.settle_outbox_entry(row, &entry).await {
            Err(store::Error::Unavailable(reason)) => tracing::warn!(reason, "the outcome of a mail is not written yet"),
            result => return result,
        }
    }
    app.store.settle_outbox_entry(row, &entry).await
}

fn recipients(entry: &OutboxEntry, user: Option<&User>) -> Result<Vec<Email>, SkippedReason> {
    if user.is_some_and(|user| user.refuses(entry.category)) {
        return Err(SkippedReason::UserUnsubscribed);
    }
    let emails = match &entry.to {
        Recipients::CustomEmails { emails } => emails.clone(),
        Recipients::UserCustomEmails { .. } | Recipients::UserPrimaryEmail { .. } if user.is_none() => {
            return Err(SkippedReason::UserAccountDeleted);
        }
        Recipients::UserCustomEmails { emails, .. } => emails.clone(),
        Recipients::UserPrimaryEmail { .. } => {
            let primary = user.and_then(User::primary).map(|channel| channel.value.clone());
            vec![primary.ok_or(SkippedReason::UserHasNoPrimaryEmail)?]
        }
    };
    if emails.is_empty() { Err(SkippedReason::NoEmailProvided) } else { Ok(emails) }
}

fn mail(app: &App, id: &ProjectId, project: Option<&Project>, entry: &OutboxEntry, to: Vec<Email>, attempt: Millis) -> Mail {
    let email = project.map(|project| &project.config.email);
    let name = email.and_then(|email| email.sender_name.as_deref()).or(project.map(|project| project.display_name.as_str()));
    let address = email.and_then(|email| email.sender_email.as_deref()).unwrap_or(&app.settings.sender);
    let rendered = entry.rendered.clone();
    let unsubscribe = rendered.as_ref().and_then(|rendered| rendered.unsubscribe_url.clone());
    let (subject, html, text) = rendered.map(|rendered| (rendered.subject, rendered.html, rendered.text)).unwrap_or_default();
    Mail {
        id: entry.id,
        project: id.clone(),
        attempt,
        from: format!("{} <{address}>", render::quoted_name(name.unwrap_or_default())),
        to,
        subject,
        html,
        text,
        unsubscribe,
    }
}

/// Runs steps until nothing is due, or `until` has come.
pub async fn drain(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let mut moved = 0;
    while app.clock.now() < until {
        match Box::pin(step(app, mailer, until)).await? {
            0 => break,
            count => moved += count,
        }
    }
    Ok(moved)
}
