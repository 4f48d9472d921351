//! The gate of all emails: a contract test ensures that no other module adds entries to the outbox.
//! This module counts the recipient of each email, at the latest before rendering:
//!
//! | email | counted | beyond the limit |
//! |---|---|---|
//! | code, link or invitation that a client asks for | mailbox; domain, unless the address is proved | the request is refused |
//! | code, link or invitation that a server asks for | mailbox, with a higher quota | the request is refused |
//! | notice to an unproved address | the same mailbox and domain; network of the client | folded |
//! | notice to an address that is verified, but not confirmed | the address, counted separately | folded |
//! | notice to a confirmed address | the mailbox, counted separately | folded |
//! | the way back after "This wasn't me" | no: the link works once | |
//! | emails from a server to its users | no: the project's quota limits them | |
//!
//! The network of a client that requests a code, or signs up with an address to verify, is counted
//! with the client's request ([`Rule::SendCodeNetwork`]). All addresses of a mailbox count under
//! one name ([`Email::mailbox`]), and the domains of mail providers do not count
//! ([`Email::organisation`]).
//!
//! *Folded*: the first notice beyond the limit is sent at the end of the window and says that it is
//! the last notice; later notices are skipped. A change never fails because of its notice, so
//! notices are counted by the worker that renders them. A stranger can cause notices only to
//! unproved addresses. These notices are counted separately, so a stranger cannot use up an owner's
//! notices. Nor can a stranger use up the notices of owners who clicked the link in a verification
//! email without a session, as with the published SDK: only the account with this very address
//! causes notices to the address.

use futures_util::future::join_all;
use jiff::Timestamp;
use model::email::Email;
use model::limit::{Counter, Limits, Rule, Subject};
use model::outbox::notice::Fate;
use model::outbox::notice_count::NoticeCount;
use model::outbox::{NewEntry, OutboxEntry};
use model::place::Place;
use model::user::{Channel, User};
use store::outbox::broadcast;
use store::{Key, Write, limit, outbox};
use wire::id::{BroadcastId, EmailId, ProjectId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;

/// Whether the recipient has proved the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// The address may belong to a stranger.
    Unproved,
    /// Someone who reads the emails to the address has verified it, but without a session of the
    /// account. That person may or may not be the account's owner.
    Verified,
    /// The owner has proved the address, or the response must not reveal whether the address has an
    /// account.
    Proved,
}

impl Address {
    /// Whether a user has proved an address.
    pub fn of(user: &User, email: &Email) -> Self {
        match user.channel_of(email) {
            Some(channel) if channel.is_confirmed() => Self::Proved,
            Some(Channel { is_verified: true, .. }) => Self::Verified,
            _ => Self::Unproved,
        }
    }
}

/// The counts of a recipient, required to queue an email with a code or link.
#[derive(Debug)]
#[must_use]
pub struct RecipientCounts(Vec<Write>);

/// The counters for the recipient of a code, link or invitation.
fn counters(app: &App, level: Level, email: &Email, address: Address) -> impl Iterator<Item = Counter> {
    let (limits, now) = (&app.settings.limits, app.clock.now());
    let is_client = level == Level::Client;
    let rule = if is_client { Rule::SendCodeRecipient } else { Rule::SendCodeRecipientServer };
    let has_domain = is_client && address == Address::Unproved;
    let domain = has_domain.then(|| domain_counter(limits, email, now)).flatten();
    mailbox_counter(limits, rule, email, now).into_iter().chain(domain)
}

fn mailbox_counter(limits: &Limits, rule: Rule, email: &Email, now: Timestamp) -> Option<Counter> {
    limits.counter(rule, &Subject::email(&email.mailbox()), now)
}

fn domain_counter(limits: &Limits, email: &Email, now: Timestamp) -> Option<Counter> {
    limits.counter(Rule::SendCodeDomain, &Subject::email(&email.organisation()?), now)
}

/// The keys that [`recipient`] reads.
pub fn keys(app: &App, project: &ProjectId, level: Level, email: &Email) -> Vec<Key> {
    counters(app, level, email, Address::Unproved).map(|counter| limit::key_before(project, &counter)).collect()
}

/// The counts of the recipient of a code, link or invitation, to be written in the transaction with
/// the email. The transaction fails if a limit is reached. Costs a unit to read for each counter
/// that is not prefetched ([`keys`]).
pub async fn recipient(context: &Context, email: &Email, address: Address) -> Result<RecipientCounts, store::Error> {
    let project = &context.project.id;
    let mut writes = Vec::new();
    for counter in counters(&context.app, context.level, email, address) {
        writes.push(context.prefetched.window(project, &counter).await?.count(project));
    }
    Ok(RecipientCounts(writes))
}

/// The counts of a recipient who was counted before the transaction with the email, while the
/// operation was waiting for something else. Counting early costs half as much as counting in the
/// transaction. If the email is not queued after all, the counts must be taken back.
#[must_use]
pub struct CountedRecipient<'a> {
    app: &'a App,
    project: &'a ProjectId,
    counters: Vec<Counter>,
}

/// Counts the recipient now. Fails if a limit is reached; in this case, nothing stays counted. Each
/// request is counted before its count is compared with the limit, so concurrent requests cannot
/// exceed the limit.
pub async fn count_before<'a>(context: &'a Context, email: &Email, address: Address) -> Result<CountedRecipient<'a>, store::Error> {
    let (app, project) = (&context.app, &context.project.id);
    let counters: Vec<Counter> = counters(app, context.level, email, address).collect();
    let results = join_all(counters.iter().map(|counter| count_one(app, project, counter))).await;
    let (mut counted, mut failed) = (CountedRecipient { app, project, counters: Vec::new() }, None);
    for (counter, result) in counters.into_iter().zip(results) {
        match result {
            Ok(()) => counted.counters.push(counter),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let Some(error) = failed else { return Ok(counted) };
    counted.take_back().await;
    Err(error)
}

async fn count_one(app: &App, project: &ProjectId, counter: &Counter) -> Result<(), store::Error> {
    let (window, counted) = tokio::try_join!(app.store.window(project, counter), app.store.count_alone(project, counter))?;
    let judged = window.judge(counted);
    if judged.is_err() {
        take_back(app, project, counter).await;
    }
    judged
}

/// Takes back a count. If taking the count back fails, the recipient gets one email less in this
/// window.
async fn take_back(app: &App, project: &ProjectId, counter: &Counter) {
    if let Err(error) = app.store.write_unrecorded(limit::take_back(project, counter)).await {
        tracing::warn!(%error, "an email that was not queued stays counted");
    }
}

impl CountedRecipient<'_> {
    /// Permits queuing the email without counting the recipient again.
    pub fn counts(&self) -> RecipientCounts {
        RecipientCounts(Vec::new())
    }

    /// Takes back the counts of an email that was not queued.
    pub async fn take_back(self) {
        join_all(self.counters.iter().map(|counter| take_back(self.app, self.project, counter))).await;
    }
}

/// Counts the recipient of an email sent immediately, without the outbox.
pub async fn count_recipient(context: &Context, email: &Email) -> Result<(), store::Error> {
    for counter in counters(&context.app, context.level, email, Address::Proved) {
        context.app.store.count(&context.project.id, &counter).await?;
    }
    Ok(())
}

impl RecipientCounts {
    /// For an email that was requested through a link in an earlier email: does not count the
    /// recipient. The link works only once, and someone who uses up the recipient's quota must not
    /// be able to lock the owner out.
    pub(crate) fn by_link() -> Self {
        Self(Vec::new())
    }

    /// The writes that queue an email about a user.
    pub fn queue(self, project: &ProjectId, entry: &OutboxEntry, about: Option<UserId>) -> Result<Vec<Write>, store::Error> {
        let mail = outbox::create(project, entry)?.about(about);
        Ok([mail].into_iter().chain(self.0).collect())
    }

    /// Writes that look and cost like the writes that queue an email, but do not send one.
    pub(crate) fn decoy(self, project: &ProjectId, entry: &OutboxEntry, now: Timestamp) -> Result<Vec<Write>, store::Error> {
        Ok([outbox::create_decoy(project, entry, now)?].into_iter().chain(self.0).collect())
    }
}

/// The cause of a notice, for the limits.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'a> {
    /// Whether the recipient has proved the address.
    pub address: Address,
    /// The place of the client; `None` if a server or the service itself causes the notice.
    pub place: Option<&'a Place>,
}

/// The write that queues a notice.
pub fn notice(app: &App, project: &ProjectId, cause: Cause<'_>, new: NewEntry) -> Result<Write, store::Error> {
    notice_entry(project, cause, OutboxEntry::new(EmailId::from(app.entropy.uuid()), new, app.clock.now()))
}

/// The write that queues a notice with a code.
pub(crate) fn notice_entry(project: &ProjectId, Cause { address, place }: Cause<'_>, entry: OutboxEntry) -> Result<Write, store::Error> {
    let network = place.map(|place| Subject::network(place.ip).to_string());
    let notice = Some(NoticeCount { is_proved: address == Address::Proved, is_verified: address != Address::Unproved, network });
    outbox::create(project, &OutboxEntry { notice, ..entry })
}

/// Counts a notice before it is rendered, and decides whether the notice is sent, folded or
/// skipped.
pub async fn fate(app: &App, project: &ProjectId, entry: &OutboxEntry) -> Result<Fate, store::Error> {
    let (limits, now) = (&app.settings.limits, app.clock.now());
    let (Some(count), Some(to)) = (&entry.notice, entry.to.addresses().first()) else { return Ok(Fate::Sent) };
    let network = count.network.as_deref().filter(|_| !count.is_proved && !count.is_verified);
    let recipient = match (count.is_proved, count.is_verified, network) {
        (true, ..) => mailbox_counter(limits, Rule::Notice, to, now),
        (false, true, _) => limits.counter(Rule::Notice, &Subject::email(&format!("verified {to}")), now),
        (false, false, Some(_)) => mailbox_counter(limits, Rule::SendCodeRecipient, to, now),
        (false, false, None) => mailbox_counter(limits, Rule::SendCodeRecipientServer, to, now),
    };
    let of_network = network.and_then(|network| limits.counter(Rule::SendCodeNetwork, &Subject::named(network), now));
    let of_domain = network.and_then(|_| domain_counter(limits, to, now));
    for counter in [of_network, of_domain].into_iter().flatten() {
        let (before, counted) = app.store.add(project, &counter, 1).await?;
        if counted > counter.quota_after(before) {
            return Ok(Fate::Folded);
        }
    }
    let Some(recipient) = recipient else { return Ok(Fate::Sent) };
    // The windows of notices do not slide, so exactly one notice is the first beyond the quota.
    let (_, counted) = app.store.add(project, &recipient, 1).await?;
    Ok(match counted.saturating_sub(recipient.quota()) {
        0 => Fate::Sent,
        1 => Fate::Last(recipient.resets_at),
        _ => Fate::Folded,
    })
}

/// Queues a server's email to users: as entries or, if there are many recipients, as a broadcast
/// that a worker turns into entries. `other` is written in the same transaction.
pub async fn to_users(app: &App, project: &ProjectId, mail: &OutboxEntry, to: &[UserId], other: Option<Write>) -> Result<(), store::Error> {
    if to.len() > broadcast::entries_at_once(mail) {
        return app.store.create_broadcast(project, BroadcastId::from(mail.id.uuid()), mail, to, other).await;
    }
    let entries = to.iter().map(|user_id| broadcast::entry_for(mail, EmailId::from(app.entropy.uuid()), *user_id));
    let writes = entries.map(|entry| outbox::create(project, &entry)).collect::<Result<Vec<_>, _>>()?;
    app.store.transact(writes.into_iter().chain(other)).await
}
