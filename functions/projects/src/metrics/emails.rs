//! Figures about emails. Figures by day are from the delivery counters of the last 30 days. Figures
//! by status are from the newest entries of the outbox.

use std::collections::BTreeMap;

use flows::App;
use model::metrics::activity::{Day, day};
use model::outbox::delivery::DeliveryCounts;
use model::outbox::status::{SimpleStatus, Status};
use model::outbox::{OutboxEntry, Stage};
use model::project::Project;
use serde::Serialize;
use store::outbox::list::OutboxListing;
use utoipa::ToSchema;
use wire::clock::Millis;
use wire::id::EmailId;

use crate::metrics::series::{Point, date, days, points};

/// The number of outbox entries to read.
const NEWEST: usize = 100;
/// The number of emails to show.
const SHOWN: usize = 10;
const MINUTES: i64 = 24 * 60;

/// The emails of the project.
#[derive(Serialize, ToSchema)]
pub(crate) struct EmailOverview {
    /// The newest 100 emails by status.
    emails_by_status: BTreeMap<&'static str, u64>,
    /// The number of emails that the mail service accepted in the last 30 days, plus the number of
    /// emails among the newest 100 that it has not accepted.
    total_emails: u64,
    /// The number of emails that the mail service accepted, by day.
    daily_emails: Vec<Point>,
    /// The number of emails of each day, by outcome.
    daily_emails_by_status: Vec<DayOfEmails>,
    /// The number of emails that the mail service accepted in the last 30 days.
    emails_sent: u64,
    /// The newest ten emails.
    recent_emails: Vec<RecentEmail>,
    deliverability_status: Deliverability,
    /// The share of accepted emails that did not bounce. The share is 0 if there are no emails.
    deliverability_rate: f64,
    /// The share of accepted emails that bounced.
    bounce_rate: f64,
    /// Of the accepted emails among the newest 100, the share whose recipient followed a link.
    click_rate: f64,
}

/// The emails of a day.
#[derive(Serialize, ToSchema)]
pub(crate) struct DayOfEmails {
    /// The day (UTC).
    date: String,
    /// The number of emails that the mail service accepted on this day, minus the number of emails
    /// that bounced on this day.
    ok: u64,
    /// The number of emails that bounced on this day, plus the emails of this day among the newest
    /// 100 that were not sent because of an error.
    error: u64,
    /// The number of emails of this day among the newest 100 that are in progress or paused.
    in_progress: u64,
}

/// A summary of an email.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecentEmail {
    id: EmailId,
    status: Status,
    /// The subject line, which is empty until the email is rendered.
    subject: String,
    created_at_millis: Millis,
}

/// Emails by outcome.
#[derive(Serialize, ToSchema)]
pub(crate) struct Deliverability {
    /// The number of emails accepted in the last 30 days, minus the number of emails that bounced.
    delivered: u64,
    /// The number of emails that bounced in the last 30 days.
    bounced: u64,
    /// The number of emails among the newest 100 that were not sent because of an error.
    error: u64,
    /// The number of emails among the newest 100 that are in progress or paused.
    in_progress: u64,
}

/// The figures about a project's emails.
pub(crate) async fn overview(app: &App, project: &Project) -> Result<EmailOverview, store::Error> {
    let now = app.clock.now();
    let listing = OutboxListing { start: None, oldest: project.created_at, limit: NEWEST, read: NEWEST + 1, now };
    let newest = app.store.outbox_entries(&project.id, listing, |entry| {
        let entry = entry.without_content();
        let size = entry.rendered.as_ref().map_or(0, |mail| mail.subject.len());
        Some((entry, size))
    });
    let (deliveries, newest) = tokio::try_join!(app.store.deliveries(&project.id, now), newest)?;
    let mut by_day: BTreeMap<Day, DeliveryCounts> = BTreeMap::new();
    for (minute, counts) in deliveries {
        *by_day.entry(minute.div_euclid(MINUTES)).or_default() += counts;
    }
    Ok(EmailOverview::count(&by_day, &newest.entries, day(now)))
}

impl EmailOverview {
    fn count(by_day: &BTreeMap<Day, DeliveryCounts>, newest: &[OutboxEntry], today: Day) -> Self {
        let of_day = |day: Day| by_day.get(&day).copied().unwrap_or_default();
        let mut all = DeliveryCounts::default();
        days(today).for_each(|day| all += of_day(day));
        let unsent = |status: SimpleStatus| newest.iter().filter(move |entry| !is_accepted(entry) && entry.status().simple() == status);
        let on = |day_of: Day, status| amount(unsent(status).filter(|entry| day(entry.created_at) == day_of));
        let mut emails_by_status = BTreeMap::new();
        for entry in newest {
            *emails_by_status.entry(entry.status().into()).or_default() += 1;
        }
        let delivered = all.sent.saturating_sub(all.bounced);
        let accepted = amount(newest.iter().filter(|entry| is_accepted(entry)));
        Self {
            emails_by_status,
            total_emails: all.sent + amount(newest.iter()) - accepted,
            daily_emails: points(today, |day| of_day(day).sent),
            daily_emails_by_status: days(today)
                .map(|day| DayOfEmails {
                    date: date(day),
                    ok: of_day(day).sent.saturating_sub(of_day(day).bounced),
                    error: of_day(day).bounced + on(day, SimpleStatus::Error),
                    in_progress: on(day, SimpleStatus::InProgress),
                })
                .collect(),
            emails_sent: all.sent,
            recent_emails: newest.iter().take(SHOWN).map(RecentEmail::of).collect(),
            deliverability_status: Deliverability {
                delivered,
                bounced: all.bounced,
                error: amount(unsent(SimpleStatus::Error)),
                in_progress: amount(unsent(SimpleStatus::InProgress)),
            },
            deliverability_rate: share(delivered, all.sent),
            bounce_rate: share(all.bounced.min(all.sent), all.sent),
            click_rate: share(amount(newest.iter().filter(|entry| is_clicked(entry))), accepted),
        }
    }
}

impl RecentEmail {
    fn of(entry: &OutboxEntry) -> Self {
        Self {
            id: entry.id,
            status: entry.status(),
            subject: entry.rendered.as_ref().map(|rendered| rendered.subject.clone()).unwrap_or_default(),
            created_at_millis: entry.created_at.as_millisecond(),
        }
    }
}

fn is_accepted(entry: &OutboxEntry) -> bool {
    matches!(entry.stage, Stage::Sent { .. })
}

fn is_clicked(entry: &OutboxEntry) -> bool {
    matches!(entry.stage, Stage::Sent { reports, .. } if reports.clicked_at.is_some())
}

fn amount<T>(of: impl Iterator<Item = T>) -> u64 {
    u64::try_from(of.count()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "no project has sent 2^52 emails")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
