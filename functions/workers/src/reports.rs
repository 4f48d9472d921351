//! What SES reports of mails, as EventBridge brings it: entries of the outbox move on by it.
//!
//! A report is found to belong to an attempt by the tags of its mail. Reports come late, in any order, and more than once: an entry takes
//! from each what is new ([`model::outbox::reports`]).

use email::send::tags;
use flows::App;
use jiff::Timestamp;
use model::outbox::report::Report;
use model::outbox::status::ReportKind;
use serde_json::Value;
use store::outbox::transition::OutboxMove;
use store::{Contention as _, optimistic};
use wire::id::{EmailId, ProjectId};

/// How often a report is tried on an entry that others move at the same time.
const ROUNDS: u32 = 10;

/// A report, and which entry it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub project: ProjectId,
    pub entry: EmailId,
    pub report: Report,
}

/// Reads an event of SES. None: it is of a mail that is not ours, or of a kind that changes nothing.
pub fn read(event: &Value) -> Option<Told> {
    let detail = &event["detail"];
    let tag = |name: &str| detail["mail"]["tags"][name][0].as_str();
    let (kind, part) = match detail["eventType"].as_str()? {
        "Send" => (ReportKind::Accepted, "mail"),
        "Delivery" => (ReportKind::Delivered, "delivery"),
        "DeliveryDelay" => (ReportKind::Delayed, "deliveryDelay"),
        "Bounce" => (ReportKind::Bounced, "bounce"),
        // SES took the mail, found that it was malicious, and dropped it.
        "Reject" => (ReportKind::Bounced, "reject"),
        "Complaint" => (ReportKind::MarkedAsSpam, "complaint"),
        "Open" => (ReportKind::Opened, "open"),
        "Click" => (ReportKind::Clicked, "click"),
        _ => return None,
    };
    let times = [&detail[part]["timestamp"], &detail["mail"]["timestamp"], &event["time"]];
    let at: Timestamp = times.into_iter().find_map(|time| time.as_str()?.parse().ok())?;
    let report = Report { attempt: tag(tags::ATTEMPT)?.parse().ok()?, kind, at: at.as_millisecond() };
    Some(Told { project: ProjectId::parse(tag(tags::PROJECT)?).ok()?, entry: EmailId::parse(tag(tags::ENTRY)?).ok()?, report })
}

/// Moves the entry of a report on; says whether there was something new in it.
pub async fn take(app: &App, told: &Told) -> Result<bool, store::Error> {
    optimistic!(ROUNDS, |_| {
        let Some(row) = app.store.outbox_entry(&told.project, told.entry).await? else { return Ok(false) };
        let Some(next) = row.entry.clone().report(told.report, app.clock.now()) else { return Ok(false) };
        let moved = app.store.move_outbox_entries(vec![OutboxMove { row, next }]).await?;
        if moved.is_empty() { Err(store::Error::conflict()) } else { Ok(true) }
    })
}
