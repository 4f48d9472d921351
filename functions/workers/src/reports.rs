//! Handles SES events from EventBridge, which advance outbox entries.
//!
//! The tags of an email identify the attempt to which a report belongs. Reports may arrive late, in
//! any order, and repeatedly. Only new facts are added to the entry ([`model::outbox::reports`]).

use email::send::tags;
use flows::App;
use jiff::Timestamp;
use model::outbox::report::Report;
use model::outbox::status::ReportKind;
use serde_json::Value;
use store::outbox::transition::OutboxMove;
use store::{Contention as _, optimistic};
use wire::id::{EmailId, ProjectId};

/// The maximum number of attempts to apply a report whose entry changes concurrently.
const MAX_ATTEMPTS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryReport {
    pub project: ProjectId,
    pub entry: EmailId,
    pub report: Report,
}

/// Parses an SES event. `None` if the event is malformed, is of a kind that changes nothing, or
/// concerns an email that this service did not send.
pub fn read(event: &Value) -> Option<EntryReport> {
    let detail = &event["detail"];
    let tag = |name: &str| detail["mail"]["tags"][name][0].as_str();
    let (kind, part) = match detail["eventType"].as_str()? {
        "Send" => (ReportKind::Accepted, "mail"),
        "Delivery" => (ReportKind::Delivered, "delivery"),
        "DeliveryDelay" => (ReportKind::Delayed, "deliveryDelay"),
        "Bounce" => (ReportKind::Bounced, "bounce"),
        // SES accepted the email, but dropped it as malicious.
        "Reject" => (ReportKind::Bounced, "reject"),
        "Complaint" => (ReportKind::MarkedAsSpam, "complaint"),
        "Open" => (ReportKind::Opened, "open"),
        "Click" => (ReportKind::Clicked, "click"),
        _ => return None,
    };
    let times = [&detail[part]["timestamp"], &detail["mail"]["timestamp"], &event["time"]];
    let at: Timestamp = times.into_iter().find_map(|time| time.as_str()?.parse().ok())?;
    let report = Report { attempt: tag(tags::ATTEMPT)?.parse().ok()?, kind, at: at.as_millisecond() };
    Some(EntryReport { project: ProjectId::parse(tag(tags::PROJECT)?).ok()?, entry: EmailId::parse(tag(tags::ENTRY)?).ok()?, report })
}

/// Applies a report to its entry. Returns whether the entry exists and the report contained new
/// facts.
pub async fn take(app: &App, told: &EntryReport) -> Result<bool, store::Error> {
    optimistic!(MAX_ATTEMPTS, |_| {
        let Some(row) = app.store.outbox_entry(&told.project, told.entry).await? else { return Ok(false) };
        let Some(next) = row.entry.clone().report(told.report, app.clock.now()) else { return Ok(false) };
        let moved = app.store.move_outbox_entries(vec![OutboxMove::new(row, next)]).await?;
        if moved.is_empty() { Err(store::Error::conflict()) } else { Ok(true) }
    })
}
