//! Sends the emails of one queue.

use std::sync::atomic::{AtomicUsize, Ordering};

use crypto::seal;
use email::sandbox;
use email::send::{Mail, Mailer, Sender, Server};
use email::smtp::CONNECTIONS;
use flows::App;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use model::email::Email;
use model::outbox::quota::tokens;
use model::outbox::work::Outcome;
use model::outbox::{MAX_ADDRESSES, OutboxEntry, Recipients, SendError, SkippedReason, Stage};
use model::project::SendingProject;
use model::user::User;
use store::outbox::OutboxRow;
use store::outbox::moves::{AT_ONCE, parts};
use store::outbox::transition::OutboxMove;
use store::outbox::work::Queue;
use tokio::time::{Instant, sleep};
use wire::clock::Millis;
use wire::id::ProjectId;

use crate::content::{self, Letter, OpenedEmail};
use crate::fail_point::reached;
use crate::parties::Parties;
use crate::tokens::Tokens;
use crate::turns::{CHUNK, COOLDOWN, SHARE, Turns};

const MAX_SETTLE_RETRIES: u32 = 5;
/// The number of parallel tasks. While one task waits for the table, other tasks render or send.
const PARALLEL: usize = 3;

/// The number of entries that a task has advanced or created. Zero if the task failed. The
/// remaining entries of a failed task stay due for a later step.
pub(crate) fn counted(result: Result<usize, store::Error>) -> usize {
    result.inspect_err(|error| tracing::warn!(%error, "a task of the outbox failed; its entries stay due")).unwrap_or(0)
}

/// Runs tasks in parallel and adds up their results.
pub(crate) async fn all(works: Vec<BoxFuture<'_, Result<usize, store::Error>>>) -> usize {
    let works = futures_util::stream::iter(works).buffer_unordered(PARALLEL);
    works.fold(0, |moved, result| async move { moved + counted(result) }).await
}

pub(crate) async fn moved(app: &App, moves: Vec<OutboxMove>) -> Result<usize, store::Error> {
    Ok(app.store.move_outbox_entries(moves).await?.len())
}

/// Sends as many of the queue's first emails as the project may send now, when it is the queue's
/// turn. Returns the number of emails that were claimed or skipped. A claimed email counts once for
/// each of its addresses. Emails with expired codes are skipped. A project's mail server gets at
/// most [`CONNECTIONS`] emails of the queue at the same time. After [`SHARE`], the remaining emails
/// stay queued. The remaining emails also stay queued if the mail service stops accepting emails.
/// The turn then ends after [`COOLDOWN`]. Refused emails are not counted, and their tokens are
/// returned. The next turns begin with a single email, and continue only if the mail service
/// accepts it ([`Mailer::is_refused`]).
pub(crate) async fn serve(app: &App, mailer: &dyn Mailer, turns: &Turns, queue: &Queue, until: Timestamp) -> Result<usize, store::Error> {
    let Queue { project, entries, .. } = queue;
    let (projects, _) = app.store.parties([project.clone()].into(), [].into()).await?;
    let is_own = has_server(projects.get(project));
    let (turns, size) = match sandbox::is_slow(project.as_str()) {
        _ if is_own => (&turns.own, CONNECTIONS),
        true => (&turns.slow, CONNECTIONS),
        false => (&turns.deployments, CHUNK),
    };
    let Ok(_turn) = turns.acquire().await else { return Ok(0) };
    let began = Instant::now();
    let mut tokens = Tokens::take(app, queue).await?;
    let first: Vec<_> = entries.iter().take(tokens.left()).map(|id| (project.clone(), *id)).collect();
    let (mut sent, mut skipped, refused, mut left) = (0, 0, AtomicUsize::new(0), &first[..]);
    while !left.is_empty() {
        let size = if !is_own && mailer.is_refused() { 1 } else { size.min(left.len()) };
        let (chunk, others) = left.split_at(size);
        left = others;
        if turns.is_closed() || sent > 0 && began.elapsed() >= SHARE {
            break;
        }
        let rows = app.store.outbox_rows(chunk).await?;
        let parties = &Parties::read(app, &rows).await?;
        // If the project's mail server was added or removed in the meantime, this turn is for the
        // wrong sender.
        if has_server(parties.project(project)) != is_own {
            break;
        }
        let sending = &SendingRun { app, mailer, parties, until, refused: &refused };
        let now = app.clock.now();
        let (mut expired, mut claims) = (Vec::new(), Vec::new());
        for row in rows {
            match row.entry.clone().expire(now) {
                Some(next) => expired.push(OutboxMove::new(row, next)),
                None => claims.extend(row.entry.clone().begin_sending(app.entropy.uuid(), now).map(|next| OutboxMove::new(row, next))),
            }
        }
        skipped += all(parts(expired).into_iter().map(|part| moved(app, part).boxed()).collect()).await;
        let wanted = claims.len();
        let claims = tokens.spend(claims).await?;
        let is_last = claims.len() < wanted;
        sent += all(parts(claims).into_iter().map(|part| send_all(sending, part).boxed()).collect()).await;
        if is_last || refused.load(Ordering::Relaxed) > 0 {
            break;
        }
    }
    let refused = refused.into_inner();
    sent -= refused;
    tokens.give_back(sent).await?;
    if refused > 0 {
        sleep(COOLDOWN).await;
    }
    Ok(sent + skipped)
}

/// Whether a project has a mail server.
fn has_server(project: Option<&SendingProject>) -> bool {
    project.is_some_and(|project| project.config.email.server.is_some())
}

/// All data that is needed to send a project's emails.
struct SendingRun<'a> {
    app: &'a App,
    mailer: &'a dyn Mailer,
    parties: &'a Parties,
    /// The time after which no more emails are claimed.
    until: Timestamp,
    /// The number of emails that the mail service is currently refusing.
    refused: &'a AtomicUsize,
}

/// Claims queued emails, sends them in parallel, and returns the number of claimed emails. Here and
/// in [`SendingRun::refused`], an email counts once for each of its addresses. Outcomes that are
/// available at the same time are written together.
async fn send_all(sending: &SendingRun<'_>, mut claims: Vec<OutboxMove>) -> Result<usize, store::Error> {
    let SendingRun { app, parties, until, .. } = *sending;
    // Rendering may be slow, so it is done before the claim. An edit in the meantime takes
    // precedence.
    let queued: Vec<&OutboxRow> = claims.iter().map(|claim| &claim.row).collect();
    let mut opened = content::open_all(app, parties, &queued).await?;
    // Emails that were not rendered in time stay queued.
    claims.retain(|claim| opened.iter().any(|opened| opened.id == claim.row.entry.id));
    if app.clock.now() >= until {
        return Ok(0);
    }
    reached("queued", claims.len());
    let rows = app.store.move_outbox_entries(claims).await?;
    reached("claimed", rows.len());
    let count = rows.iter().map(|row| tokens(&row.entry)).sum();
    let sent = rows.into_iter().filter_map(|row| {
        let place = opened.iter().position(|opened| opened.id == row.entry.id)?;
        Some(send(sending, row, opened.swap_remove(place)).boxed())
    });
    let mut sent = sent.collect::<FuturesUnordered<_>>().ready_chunks(AT_ONCE);
    while let Some(moves) = sent.next().await {
        let moves = moves.into_iter().flatten().collect();
        for part in parts(moves) {
            settle(app, part).await;
        }
    }
    Ok(count)
}

/// Sends a claimed email, and returns the entry with the outcome. `None` if the recipient cannot be
/// read.
async fn send(sending: &SendingRun<'_>, row: OutboxRow, opened: OpenedEmail) -> Option<OutboxMove> {
    let SendingRun { app, mailer, parties, refused, .. } = *sending;
    let Stage::Sending { claim, started_at } = row.entry.stage else { return None };
    let (project, user) = parties
        .to(app, &row)
        .await
        .inspect_err(|error| tracing::warn!(%error, "the recipient of an email could not be read from the table"))
        .ok()?;
    let OpenedEmail { letter, codes, .. } = opened;
    let outcome = match (recipients(&row.entry, user.as_ref()), letter) {
        (Err(reason), _) => Outcome::Skipped(reason),
        (_, Err(failure)) => Outcome::Final(failure),
        (Ok(to), _) if to.len() > MAX_ADDRESSES => {
            let message = format!("an email can have at most {MAX_ADDRESSES} addresses: send several emails");
            Outcome::Final(SendError::new(app.clock.now(), "REJECTED", message))
        }
        (Ok(to), Ok(letter)) => match Envelope::open(app, &row.project, project) {
            Ok(envelope) => mailer.send(&envelope.around(letter, to, &row, started_at)).await,
            Err(error) => {
                let failure = SendError::new(
                    app.clock.now(),
                    "AUTH_FAILED",
                    "the password of the mail server cannot be decrypted: set it again in the project's email settings",
                );
                Outcome::Final(failure.because(error.to_string()))
            }
        },
    };
    if matches!(&outcome, Outcome::Retryable(failure) if failure.class == SendError::NOT_NOW) {
        refused.fetch_add(tokens(&row.entry), Ordering::Relaxed);
    }
    reached("sent", 1);
    let (fraction, now) = (app.entropy.fraction(), app.clock.now());
    let next = row.entry.clone().finish_sending(claim, outcome.without(&codes), fraction, now)?;
    Some(OutboxMove::new(row, next))
}

/// Writes the outcomes of emails. The emails may already have been sent, so the write of an outcome
/// is retried more often than other writes. If a report from the mail provider arrived first, the
/// entry already has its outcome.
async fn settle(app: &App, moves: Vec<OutboxMove>) {
    let count = moves.len();
    for left in (0..=MAX_SETTLE_RETRIES).rev() {
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

/// The sender of a project's emails, and the project's mail server, if there is one.
struct Envelope {
    from: Sender,
    server: Option<Server>,
}

impl Envelope {
    fn open(app: &App, id: &ProjectId, project: Option<&SendingProject>) -> Result<Self, seal::Error> {
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
            is_automatic: row.entry.is_of_service(),
            server: self.server,
        }
    }
}
