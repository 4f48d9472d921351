//! One step of the outbox: everything that is due moves on as far as it can (WIRE.md §7.3).

use futures_util::StreamExt as _;
use jiff::Timestamp;
use shared::App;
use shared::mail::render::{self, Context, ProjectContext, UserContext};
use shared::mail::send::{Mail, Mailer};
use shared::model::email::Email;
use shared::model::id::{EmailId, ProjectId};
use shared::model::outbox::{OutboxEntry, Recipients, SkippedReason, Stage};
use shared::model::outbox_work::Outcome;
use shared::model::project::Project;
use shared::model::user::User;
use shared::store::outbox::{DUE_SHARDS, OutboxRow};
use shared::store::{self};

/// How many entries of a shard a step takes up.
const BATCH: i32 = 100;
/// How many entries are worked on at once.
const PARALLEL: usize = 8;

/// Works on everything that is due; says how many entries moved on. Zero: there is nothing to do now, or nothing that can be done.
pub async fn step(app: &App, mailer: &dyn Mailer) -> Result<usize, store::Error> {
    let mut due = Vec::new();
    for shard in 0..DUE_SHARDS {
        due.extend(app.store.due_entries(shard, app.clock.now(), BATCH).await?);
    }
    let work = due.into_iter().map(|(project, id)| async move {
        match advance(app, mailer, &project, id).await {
            Ok(()) => 1,
            Err(error) => {
                // The entry stays due: a later step takes it up again.
                tracing::warn!(%error, entry = %id, "an entry of the outbox did not move on");
                0
            }
        }
    });
    Ok(futures_util::stream::iter(work).buffer_unordered(PARALLEL).fold(0, |moved, one| async move { moved + one }).await)
}

/// Moves one entry on until there is nothing to do with it now.
async fn advance(app: &App, mailer: &dyn Mailer, project: &ProjectId, id: EmailId) -> Result<(), store::Error> {
    while let Some(row) = app.store.outbox_entry(project, id).await? {
        let now = app.clock.now();
        if row.entry.due_at().is_none_or(|due| due > now) {
            return Ok(());
        }
        let moved = match row.entry.stage {
            Stage::Preparing | Stage::Rendering { .. } => render_entry(app, row).await,
            Stage::Scheduled => write(app, &row, row.entry.clone().enqueue(now)).await,
            Stage::Queued => send_entry(app, mailer, row).await,
            Stage::Sending { .. } => write(app, &row, row.entry.clone().abandon_sending(now)).await,
            _ => return Ok(()),
        };
        match moved {
            // Somebody else moved or edited it: look again.
            Ok(()) | Err(store::Error::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn write(app: &App, row: &OutboxRow, next: Option<OutboxEntry>) -> Result<(), store::Error> {
    match next {
        Some(entry) => app.store.replace_outbox_entry(&row.project, &entry, row.version).await,
        None => Ok(()),
    }
}

async fn render_entry(app: &App, row: OutboxRow) -> Result<(), store::Error> {
    let claim = app.entropy.uuid();
    let Some(entry) = row.entry.clone().begin_rendering(claim, app.clock.now()) else { return Ok(()) };
    app.store.replace_outbox_entry(&row.project, &entry, row.version).await?;
    let rendering = match parties(app, &row.project, &entry).await? {
        (Some(project), user) => render::render(&entry.source, &context(&project, user.as_ref(), &entry)),
        (None, _) => Err("the project does not exist any more".to_owned()),
    };
    // An edit meanwhile has changed the version: this rendering is then of the past, and is dropped.
    let rendered = entry.finish_rendering(claim, rendering, app.clock.now());
    write(app, &OutboxRow { version: row.version + 1, ..row }, rendered).await
}

async fn parties(app: &App, project: &ProjectId, entry: &OutboxEntry) -> Result<(Option<Project>, Option<User>), store::Error> {
    let user = match entry.to.user_id() {
        Some(id) => app.store.user(project, id).await?.map(|row| row.user),
        None => None,
    };
    Ok((app.store.project(project).await?.map(|row| row.project), user))
}

fn context(project: &Project, user: Option<&User>, entry: &OutboxEntry) -> Context {
    Context {
        project: ProjectContext { id: project.id.to_string(), display_name: project.display_name.clone() },
        user: user.map(|user| UserContext {
            id: user.id.to_string(),
            display_name: user.display_name.clone(),
            primary_email: user.primary().map(|channel| channel.value.to_string()),
        }),
        variables: entry.variables.clone(),
    }
}

async fn send_entry(app: &App, mailer: &dyn Mailer, row: OutboxRow) -> Result<(), store::Error> {
    let claim = app.entropy.uuid();
    let Some(entry) = row.entry.clone().begin_sending(claim, app.clock.now()) else { return Ok(()) };
    app.store.replace_outbox_entry(&row.project, &entry, row.version).await?;
    let (project, user) = parties(app, &row.project, &entry).await?;
    let outcome = match recipients(&entry.to, user.as_ref()) {
        Ok(to) => mailer.send(&mail(app, &row.project, project.as_ref(), &entry, to)).await,
        Err(reason) => Outcome::Skipped(reason),
    };
    let sent = entry.finish_sending(claim, outcome, app.entropy.fraction(), app.clock.now());
    settle(app, &OutboxRow { version: row.version + 1, ..row }, sent).await
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

fn recipients(to: &Recipients, user: Option<&User>) -> Result<Vec<Email>, SkippedReason> {
    let emails = match to {
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

fn mail(app: &App, id: &ProjectId, project: Option<&Project>, entry: &OutboxEntry, to: Vec<Email>) -> Mail {
    let email = project.map(|project| &project.config.email);
    let name = email.and_then(|email| email.sender_name.as_deref()).or(project.map(|project| project.display_name.as_str()));
    let address = email.and_then(|email| email.sender_email.as_deref()).unwrap_or(&app.settings.sender);
    let rendered = entry.rendered.clone();
    let (subject, html, text) = rendered.map(|rendered| (rendered.subject, rendered.html, rendered.text)).unwrap_or_default();
    Mail {
        id: entry.id,
        project: id.clone(),
        from: format!("{} <{address}>", render::quoted_name(name.unwrap_or_default())),
        to,
        subject,
        html,
        text,
    }
}

/// Runs steps until nothing is due, or `until` has come.
pub async fn drain(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let mut moved = 0;
    while app.clock.now() < until {
        match step(app, mailer).await? {
            0 => break,
            count => moved += count,
        }
    }
    Ok(moved)
}
