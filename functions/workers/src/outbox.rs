//! One step of the outbox: advances what is due as far as possible. Entries that are due are
//! rendered and put in their project's queue. Then each queue is served as far as its project's
//! quota allows.

use crypto::seal;
use email::send::{Mail, Mailer, Sender, Server};
use flows::App;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use model::email::Email;
use model::outbox::work::Outcome;
use model::outbox::{Failure, OutboxEntry, Recipients, SkippedReason, Stage};
use model::project::SendingProject;
use model::user::User;
use store::outbox::OutboxRow;
use store::outbox::moves::{AT_ONCE, parts};
use store::outbox::transition::OutboxMove;
use store::outbox::work::{Due, Queue};
use wire::clock::Millis;
use wire::id::ProjectId;

use crate::broadcast;
use crate::content::{self, Letter, Opened};
use crate::fail_point::reached;
use crate::parties::Parties;

/// Number of entries that are read at once with their projects and users. A batch read has at most
/// a hundred keys.
const CHUNK: usize = 50;
/// Number of entries per partition that a step prepares, and number of emails per queue that it
/// sends. A step should take less than a second, because urgent emails wait for the next step.
const PREPARED: i32 = 50;
const SENT: i32 = 200;
/// About how many entries of a broadcast a step creates.
const EXPANDED: usize = 200;
const SETTLE_TRIES: u32 = 5;
/// Number of tasks that run in parallel: one waits for the table while others render or send.
pub const PARALLEL: usize = 3;

/// Works on what is due, as far as the numbers above allow, and returns how many entries were
/// advanced or, for broadcasts, created. Zero means that nothing is due or that nothing could be
/// done.
///
/// After `until`, the step starts sending no more emails, so that a worker that is shut down
/// leaves no email with an unknown outcome.
pub async fn step(app: &App, mailer: &dyn Mailer, until: Timestamp) -> Result<usize, store::Error> {
    let mut moved = prepare(app, app.store.due_work(app.clock.now(), PREPARED).await?).await?;
    let mut position = None;
    loop {
        let (queues, next) = app.store.queues(position, SENT).await?;
        for queue in queues {
            moved += serve(app, mailer, &queue, until).await?;
        }
        position = next;
        if position.is_none() || app.clock.now() >= until {
            return Ok(moved);
        }
    }
}

/// The number of entries that a task advanced or created; zero if the task failed. What a failed
/// task did not do stays due for a later step.
fn counted(result: Result<usize, store::Error>) -> usize {
    result.inspect_err(|error| tracing::warn!(%error, "a task of the outbox failed; its entries stay due")).unwrap_or(0)
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

/// Runs tasks in parallel and adds up their results.
async fn all(works: Vec<BoxFuture<'_, Result<usize, store::Error>>>) -> usize {
    let works = futures_util::stream::iter(works).buffer_unordered(PARALLEL);
    works.fold(0, |moved, result| async move { moved + counted(result) }).await
}

async fn moved(app: &App, moves: Vec<OutboxMove>) -> Result<usize, store::Error> {
    Ok(app.store.move_outbox_entries(moves).await?.len())
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

/// Sends the first emails of a queue, as many as the project may send now. Emails whose code has
/// expired are skipped.
async fn serve(app: &App, mailer: &dyn Mailer, queue: &Queue, until: Timestamp) -> Result<usize, store::Error> {
    let Queue { project, entries, .. } = queue;
    let wanted = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    let granted = match app.settings.mails_per_hour {
        Some(base) => app.store.take_mail_tokens(queue, base, app.clock.now()).await?,
        None => wanted,
    };
    let first: Vec<_> = entries.iter().take(usize::try_from(granted).unwrap_or(usize::MAX)).map(|id| (project.clone(), *id)).collect();
    let (mut sent, mut skipped) = (0, 0);
    for chunk in first.chunks(CHUNK) {
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::of(app, &rows).await?;
        let now = app.clock.now();
        let (mut expired, mut claims) = (Vec::new(), Vec::new());
        for row in rows {
            match row.entry.clone().expire(now) {
                Some(next) => expired.push(OutboxMove { row, next }),
                None => claims.extend(row.entry.clone().begin_sending(app.entropy.uuid(), now).map(|next| OutboxMove { row, next })),
            }
        }
        skipped += all(parts(expired).into_iter().map(|part| moved(app, part).boxed()).collect()).await;
        sent += all(parts(claims).into_iter().map(|part| send_all(app, mailer, parties, part, until).boxed()).collect()).await;
    }
    // The rest of the granted emails do not count as sent: they have expired, or were edited or
    // claimed by another worker in the meantime, or the time was up, or their task failed.
    let left = granted.saturating_sub(u32::try_from(sent).unwrap_or(granted));
    if left > 0 && app.settings.mails_per_hour.is_some() {
        app.store.give_mail_tokens_back(queue, left).await?;
    }
    Ok(sent + skipped)
}

/// Claims queued emails, sends them in parallel and returns how many it claimed: none after
/// `until`. Outcomes that are available at the same time are written together.
async fn send_all(
    app: &App,
    mailer: &dyn Mailer,
    parties: &Parties,
    claims: Vec<OutboxMove>,
    until: Timestamp,
) -> Result<usize, store::Error> {
    // Rendering may take long, so it comes before the claim: an edit in the meantime wins.
    let queued: Vec<&OutboxRow> = claims.iter().map(|claim| &claim.row).collect();
    let mut opened = content::open_all(app, parties, &queued).await?;
    if app.clock.now() >= until {
        return Ok(0);
    }
    reached("queued", claims.len());
    let rows = app.store.move_outbox_entries(claims).await?;
    reached("claimed", rows.len());
    let count = rows.len();
    let sending = rows.into_iter().map(|row| {
        let opened = opened.remove(&row.entry.id);
        send(app, mailer, parties, row, opened).boxed()
    });
    let mut sent = sending.collect::<FuturesUnordered<_>>().ready_chunks(AT_ONCE);
    while let Some(moves) = sent.next().await {
        let moves = moves.into_iter().flatten().collect();
        for part in parts(moves) {
            settle(app, part).await;
        }
    }
    Ok(count)
}

/// Sends a claimed email, with its codes if it has any, and returns the entry with the outcome.
/// `None` if the recipient cannot be read.
async fn send(app: &App, mailer: &dyn Mailer, parties: &Parties, row: OutboxRow, opened: Option<Opened>) -> Option<OutboxMove> {
    let Stage::Sending { claim, started_at } = row.entry.stage else { return None };
    let (project, user) = parties
        .to(app, &row)
        .await
        .inspect_err(|error| tracing::warn!(%error, "the recipient of an email could not be read from the table"))
        .ok()?;
    let (letter, codes) = match opened {
        Some(Opened { letter, codes }) => (letter, codes),
        None => (Ok(Letter::of(&row.entry)), row.entry.clear_codes()),
    };
    let outcome = match (recipients(&row.entry, user.as_ref()), letter) {
        (Err(reason), _) => Outcome::Skipped(reason),
        (_, Err(failure)) => Outcome::Final(failure),
        (Ok(to), Ok(letter)) => match Envelope::of(app, &row.project, project) {
            Ok(envelope) => mailer.send(&envelope.around(letter, to, &row, started_at)).await,
            Err(error) => {
                let failure = Failure::new(
                    app.clock.now(),
                    "AUTH_FAILED",
                    "the password of the mail server cannot be decrypted: set it again in the project's email settings",
                );
                Outcome::Final(failure.because(error.to_string()))
            }
        },
    };
    reached("sent", 1);
    let (fraction, now) = (app.entropy.fraction(), app.clock.now());
    let next = row.entry.clone().finish_sending(claim, outcome.without(&codes), fraction, now)?;
    Some(OutboxMove { row, next })
}

/// Writes the outcomes of emails. The emails may have been sent, so the write is retried more often
/// than other writes. If a report of the mail provider arrives first, the entry has its outcome
/// already.
async fn settle(app: &App, moves: Vec<OutboxMove>) {
    let count = moves.len();
    for left in (0..=SETTLE_TRIES).rev() {
        match app.store.move_outbox_entries(moves.clone()).await {
            Err(store::Error::Unavailable(reason)) if left > 0 => {
                tracing::warn!(reason, "an attempt to write the outcomes of emails failed");
            }
            Err(error) => return tracing::error!(%error, count, "the outcomes of emails could not be written"),
            Ok(_) => return reached("settled", count),
        }
    }
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

/// The sender of a project's emails, and the project's own mail server, if it has one.
struct Envelope {
    from: Sender,
    server: Option<Server>,
}

impl Envelope {
    fn of(app: &App, id: &ProjectId, project: Option<&SendingProject>) -> Result<Self, seal::Error> {
        let email = project.map(|project| &project.config.email);
        let name = email.and_then(|email| email.sender_name.as_deref()).or(project.map(|project| project.display_name.as_str()));
        let server = email.and_then(|email| email.server.as_ref()).map(|server| Server::open(server, id, &app.sealer)).transpose()?;
        let senders = &app.settings.senders;
        let address = email.and_then(|email| email.sender_email.as_deref()).filter(|address| server.is_some() || senders.allow(address));
        let address = address.unwrap_or(senders.own());
        Ok(Self { from: Sender { name: name.unwrap_or_default().to_owned(), address: address.to_owned() }, server })
    }

    fn around(self, letter: Letter, to: Vec<Email>, row: &OutboxRow, attempt: Millis) -> Mail {
        let Letter { subject, html, text, unsubscribe_url } = letter;
        Mail {
            id: row.entry.id,
            project: row.project.clone(),
            attempt,
            from: self.from,
            to,
            subject,
            html,
            text,
            unsubscribe: unsubscribe_url,
            server: self.server,
        }
    }
}

/// Runs steps until nothing is due, or until `until`.
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
