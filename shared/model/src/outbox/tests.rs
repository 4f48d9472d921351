//! Tests of the transitions of an entry by callers, workers and the mail service.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wire::id::EmailId;

use crate::document::theme::DEFAULT_THEME;
use crate::email::Email;
use crate::email::category::Category;
use crate::outbox::patch::{OutboxPatch, Refusal};
use crate::outbox::report::Report;
use crate::outbox::status::{ReportKind, Status};
use crate::outbox::work::{Outcome, Rendering};
use crate::outbox::{
    CreatedWith, MAX_ATTEMPTS, NewEntry, OutboxEntry, RENDERING_LEASE, Recipients, SENDING_LEASE, SendError, SkippedReason, Source, Stage,
};

pub(crate) const ME: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);

/// The time `millis` milliseconds after the creation of every entry in these tests.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(1_000_000_000_000 + millis).expect("a time")
}

pub(crate) fn entry() -> OutboxEntry {
    let emails = vec![Email::parse("ada@example.com").expect("an address")];
    let new = NewEntry {
        to: Recipients::CustomEmails { emails },
        source: Source { subject: Some("Hi".into()), html: Some("<p>Hi".into()), theme_id: Some(DEFAULT_THEME), ..Source::default() },
        variables: Map::new(),
        category: Category::Transactional,
        is_high_priority: false,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    OutboxEntry::new(EmailId::from(Uuid::nil()), new, at(0))
}

pub(crate) fn patch(body: Value) -> OutboxPatch {
    deserr::deserialize::<OutboxPatch, _, wire::problem::Problems>(body).expect("a patch")
}

#[expect(clippy::unnecessary_wraps, reason = "callers expect the type Rendering")]
pub(crate) fn mail() -> Rendering {
    Ok(("Hi".to_owned(), Some("<p>Hi".to_owned()), Some("Hi".to_owned())))
}

pub(crate) fn failure(now: Timestamp) -> SendError {
    SendError::new(now, "TEMPORARY", "later")
}

fn rendering() -> OutboxEntry {
    entry().begin_rendering(ME, at(1)).expect("a claim")
}

fn queued() -> OutboxEntry {
    rendering().finish_rendering(ME, mail(), at(2)).expect("a mail")
}

pub(crate) fn sending() -> OutboxEntry {
    queued().begin_sending(ME, at(3)).expect("a claim")
}

fn apply(entry: OutboxEntry, body: Value) -> OutboxEntry {
    entry.apply(patch(body), at(10)).expect("an editable entry")
}

#[test]
fn an_email_goes_from_preparing_to_sent() {
    let sent = sending().finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.0, at(4)).expect("an outcome");
    let path = [entry(), rendering(), queued(), sending(), sent].map(|entry| entry.status().name());
    assert_eq!(path, ["preparing", "rendering", "queued", "sending", "sent"]);
}

#[test]
fn a_later_email_is_scheduled_until_its_time() {
    let later = apply(entry(), json!({ "scheduled_at_millis": at(1000).as_millisecond() }));
    let scheduled = later.begin_rendering(ME, at(11)).and_then(|entry| entry.finish_rendering(ME, mail(), at(12))).expect("a mail");
    assert_eq!((scheduled.status(), scheduled.due_at()), (Status::Scheduled, Some(at(1000))));
    assert_eq!(scheduled.clone().enqueue(at(999)), None);
    assert_eq!(scheduled.enqueue(at(1000)).map(|entry| entry.status()), Some(Status::Queued));
}

#[test]
fn a_rendering_belongs_to_the_claiming_worker_until_its_lease_expires() {
    assert_eq!(rendering().finish_rendering(OTHER, mail(), at(2)), None);
    let lease = RENDERING_LEASE.as_millis();
    let end = 1 + i64::try_from(lease).expect("a lease");
    assert_eq!(rendering().due_at(), Some(at(end)));
    assert_eq!(rendering().begin_rendering(OTHER, at(end - 1)), None);
    let taken = rendering().begin_rendering(OTHER, at(end)).expect("the lease is over");
    assert_eq!(taken.clone().finish_rendering(ME, mail(), at(end + 1)), None);
    assert!(taken.finish_rendering(OTHER, mail(), at(end + 1)).is_some());
}

#[test]
fn a_source_that_does_not_render_is_a_render_error() {
    let entry = rendering().finish_rendering(ME, Err("line 1".to_owned()), at(2)).expect("a result");
    assert_eq!((entry.status(), entry.due_at(), entry.rendered.is_some()), (Status::RenderError, None, false));
    let Stage::RenderError { started_at, at: failed_at, message } = entry.stage else { panic!("{:?}", entry.stage) };
    assert_eq!((started_at, failed_at, message.as_str()), (at(1).as_millisecond(), at(2).as_millisecond(), "line 1"));
}

#[test]
fn an_edit_during_rendering_wins_over_the_worker() {
    for body in [json!({ "subject_source": "New" }), json!({ "is_paused": true }), json!({ "scheduled_at_millis": 0 })] {
        let edited = apply(rendering(), body);
        assert_eq!(edited.stage, Stage::Preparing);
        assert_eq!(edited.finish_rendering(ME, mail(), at(11)), None);
    }
    let cancelled = apply(rendering(), json!({ "cancel": true }));
    assert_eq!(cancelled.finish_rendering(ME, mail(), at(11)), None);
}

#[test]
fn a_queued_email_that_is_paused_or_changed_is_not_sent() {
    for body in
        [json!({ "is_paused": true }), json!({ "cancel": true }), json!({ "html_source": "x" }), json!({ "scheduled_at_millis": 0 })]
    {
        assert_eq!(apply(queued(), body).begin_sending(ME, at(11)), None);
    }
    let resumed = apply(apply(queued(), json!({ "is_paused": true })), json!({ "is_paused": false }));
    assert_eq!((resumed.status(), resumed.rendered.is_some()), (Status::Scheduled, true));
}

#[test]
fn a_paused_entry_is_never_due() {
    let later =
        queued().begin_sending(ME, at(3)).and_then(|entry| entry.finish_sending(ME, Outcome::Retryable(failure(at(4))), 0.5, at(4)));
    for entry in [entry(), rendering(), queued(), later.expect("a retry")] {
        let paused = apply(entry, json!({ "is_paused": true }));
        assert_eq!((paused.status(), paused.due_at()), (Status::Paused, None));
        let day = at(86_400_000);
        assert_eq!(
            (paused.clone().begin_rendering(ME, day), paused.clone().enqueue(day), paused.begin_sending(ME, day)),
            (None, None, None)
        );
    }
}

#[test]
fn nothing_can_be_changed_once_sending_has_started() {
    for body in [json!({}), json!({ "cancel": true }), json!({ "is_paused": true }), json!({ "subject_source": "x" })] {
        assert_eq!(sending().apply(patch(body), at(10)), Err(Refusal::NotEditable(Status::Sending)));
    }
}

#[test]
fn an_email_is_tried_five_times_with_growing_pauses() {
    let mut entry = queued();
    let mut now = at(3);
    for (min, max) in [(20, 60), (40, 120), (80, 240), (160, 480)] {
        let sending = entry.begin_sending(ME, now).expect("a claim");
        for (jitter, seconds) in [(0.0, min), (0.5, i32::midpoint(min, max)), (0.999_999, max)] {
            let failed = sending.clone().finish_sending(ME, Outcome::Retryable(failure(now)), jitter, now).expect("an outcome");
            let wait = failed.next_retry_at.expect("a retry").duration_since(now).as_secs_f64();
            assert!((wait - f64::from(seconds)).abs() < 0.01, "{wait} s, not {seconds} s");
        }
        let failed = sending.finish_sending(ME, Outcome::Retryable(failure(now)), 0.5, now).expect("an outcome");
        let retry = failed.next_retry_at.expect("a retry");
        assert_eq!((failed.status(), failed.due_at()), (Status::Scheduled, Some(retry)));
        assert_eq!(failed.clone().enqueue(retry - SignedDuration::from_millis(1)), None);
        entry = failed.enqueue(retry).expect("its time has come");
        assert_eq!(entry.next_retry_at, None);
        now = retry;
    }
    let last = entry.begin_sending(ME, now).and_then(|entry| entry.finish_sending(ME, Outcome::Retryable(failure(now)), 0.5, now));
    let last = last.expect("an outcome");
    assert_eq!((last.status(), last.due_at(), last.next_retry_at), (Status::ServerError, None, None));
    assert_eq!(last.failures.len(), MAX_ATTEMPTS);
}

/// The queued entry after a temporary refusal by the mail service at this time.
fn not_now(entry: OutboxEntry, jitter: f64, now: Timestamp) -> OutboxEntry {
    let refusal = Outcome::Retryable(SendError::new(now, SendError::NOT_NOW, "not now"));
    entry.begin_sending(ME, now).and_then(|entry| entry.finish_sending(ME, refusal, jitter, now)).expect("an outcome")
}

#[test]
fn refusals_for_now_are_repeated_for_a_day_and_are_no_attempts() {
    let (mut entry, begin, mut now, mut refusals) = (queued(), at(3), at(3), 0);
    let last = loop {
        let waits = [0.0, 0.5, 0.999_999].map(|jitter| {
            let refused = not_now(entry.clone(), jitter, now);
            refused.next_retry_at.map(|retry| retry.duration_since(now).as_secs_f64())
        });
        let refused = not_now(entry, 0.5, now);
        refusals += 1;
        let Some(retry) = refused.next_retry_at else { break refused };
        let mean = now.duration_since(begin).as_secs_f64().clamp(40.0, 400.0);
        for (wait, factor) in waits.into_iter().zip([0.5, 1.0, 1.5]) {
            assert!((wait.expect("a retry") - mean * factor).abs() < 0.01, "{waits:?} around {mean} s");
        }
        assert_eq!((refused.status(), refused.due_at(), refused.failures.len()), (Status::Scheduled, Some(retry), refusals.min(2)));
        (entry, now) = (refused.enqueue(retry).expect("its time has come"), retry);
    };
    assert!(now.duration_since(begin) >= SignedDuration::from_hours(24) && refusals > 200, "{refusals} until {now}");
    assert_eq!((last.status(), last.due_at(), last.failures.len()), (Status::ServerError, None, 2));
    let Stage::ServerError { message, .. } = &last.stage else { panic!("{:?}", last.stage) };
    assert_eq!((message.as_str(), &last.failures[1].message), ("the email service has not accepted any emails for a day", message));
}

#[test]
fn refusals_for_now_leave_all_five_attempts() {
    let (mut entry, mut now) = (queued(), at(3));
    for attempt in 1..=MAX_ATTEMPTS {
        for _ in 0..6 {
            entry = not_now(entry, 0.5, now);
            now = entry.due_at().expect("a retry");
            entry = entry.enqueue(now).expect("its time has come");
        }
        let failed = entry.begin_sending(ME, now).and_then(|entry| entry.finish_sending(ME, Outcome::Retryable(failure(now)), 0.5, now));
        entry = failed.expect("an outcome");
        assert_eq!(entry.failures.len(), 3 * attempt);
        if let Some(due) = entry.due_at() {
            now = due;
            entry = entry.enqueue(now).expect("its time has come");
        }
    }
    assert_eq!(entry.status(), Status::ServerError);
}

#[test]
fn an_email_that_waited_for_something_else_has_another_day() {
    let refused = not_now(queued(), 0.5, at(3));
    let later = at(3) + SignedDuration::from_hours(30);
    let paused = apply(refused.clone(), json!({ "is_paused": true }));
    let resumed = apply(paused, json!({ "is_paused": false }));
    for entry in [refused, resumed] {
        let again = not_now(entry.enqueue(later).expect("its time has come"), 0.5, later);
        assert_eq!((again.status(), again.failures.len()), (Status::Scheduled, 1));
    }
}

#[test]
fn a_permanent_failure_is_not_retried() {
    let failed = sending().finish_sending(ME, Outcome::Final(failure(at(4))), 0.0, at(4)).expect("an outcome");
    assert_eq!((failed.status(), failed.due_at(), failed.failures.len()), (Status::ServerError, None, 1));
    for move_on in [failed.clone().begin_rendering(ME, at(5)), failed.clone().enqueue(at(5)), failed.begin_sending(ME, at(5))] {
        assert_eq!(move_on, None);
    }
}

#[test]
fn an_attempt_with_unknown_outcome_is_a_server_error_and_not_retried() {
    let end = 3 + i64::try_from(SENDING_LEASE.as_millis()).expect("a lease");
    assert_eq!(sending().due_at(), Some(at(end)));
    assert_eq!(sending().abandon_sending(at(end - 1)), None);
    let abandoned = sending().abandon_sending(at(end)).expect("the lease is over");
    assert_eq!((abandoned.status(), abandoned.due_at()), (Status::ServerError, None));
    assert_eq!(abandoned.failures[0].class, "UNKNOWN");
    // The worker whose lease expired can no longer change the entry.
    assert_eq!(abandoned.clone().finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.0, at(end + 1)), None);
    assert_eq!(abandoned.begin_sending(OTHER, at(end + 1)), None);
    assert_eq!(sending().begin_sending(OTHER, at(end)), None);
}

fn sent() -> OutboxEntry {
    sending().finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.0, at(4)).expect("an outcome")
}

fn report(kind: ReportKind, millis: i64) -> Report {
    Report { attempt: at(3).as_millisecond(), kind, at: at(millis).as_millisecond() }
}

#[test]
fn a_report_determines_the_status_of_an_email() {
    let names = ReportKind::ALL.map(|kind| sent().report(report(kind, 9), at(10)).map(|entry| entry.status().name()));
    let expected = [None, Some("delivery-delayed"), Some("sent"), Some("bounced"), Some("opened"), Some("clicked"), Some("marked-as-spam")];
    assert_eq!(names, expected, "the entry already records that SES accepted the email");
}

#[test]
fn a_report_resolves_an_unknown_outcome() {
    let unknown = sending().finish_sending(ME, Outcome::Final(SendError::unknown(at(4), "cut off")), 0.0, at(4)).expect("an outcome");
    for kind in ReportKind::ALL {
        let told = unknown.clone().report(report(kind, 9), at(10)).expect("news");
        assert!(!told.status().is_editable(), "{kind:?}");
        let faster = sending().report(report(kind, 9), at(10)).expect("news");
        assert_eq!(
            (faster.status(), faster.clone().finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.0, at(11))),
            (told.status(), None)
        );
    }
}

#[test]
fn a_report_on_another_attempt_changes_nothing() {
    let other = Report { attempt: at(2).as_millisecond(), ..report(ReportKind::Bounced, 9) };
    for entry in [sending(), sent(), queued(), entry()] {
        assert_eq!(entry.report(other, at(10)), None);
    }
    assert_eq!(queued().report(report(ReportKind::Delivered, 9), at(10)), None);
    let cancelled = apply(queued(), json!({ "cancel": true }));
    assert_eq!(cancelled.report(report(ReportKind::Delivered, 9), at(10)), None);
}

#[test]
fn an_outcome_belongs_to_the_worker_that_sends() {
    assert_eq!(sending().finish_sending(OTHER, Outcome::Sent { is_reported_on: true }, 0.0, at(4)), None);
    let skipped = sending().finish_sending(ME, Outcome::Skipped(SkippedReason::UserHasNoPrimaryEmail), 0.0, at(4)).expect("an outcome");
    assert_eq!((skipped.status(), skipped.due_at()), (Status::Skipped, None));
}

#[test]
fn rescheduling_keeps_the_rendering_and_editing_does_not() {
    let rescheduled = apply(queued(), json!({ "scheduled_at_millis": at(5000).as_millisecond() }));
    assert_eq!((rescheduled.status(), rescheduled.rendered.is_some(), rescheduled.due_at()), (Status::Scheduled, true, Some(at(5000))));
    let failed = sending().finish_sending(ME, Outcome::Retryable(failure(at(4))), 0.5, at(4)).expect("an outcome");
    for body in [
        json!({ "subject_source": "x" }),
        json!({ "html_source": "x" }),
        json!({ "text_source": null }),
        json!({ "theme_id": null }),
        json!({ "to": { "type": "custom-emails", "emails": [] } }),
        json!({ "variables": {} }),
    ] {
        let edited = apply(failed.clone(), body);
        assert_eq!((edited.status(), edited.rendered, edited.next_retry_at), (Status::Preparing, None, None));
        assert!(edited.failures.is_empty());
    }
}

#[test]
fn an_empty_update_leaves_the_claim_of_a_worker_valid() {
    let touched = apply(rendering(), json!({}));
    assert_eq!((&touched.stage, touched.updated_at), (&rendering().stage, at(10)));
    assert!(touched.finish_rendering(ME, mail(), at(11)).is_some());
}

#[test]
fn an_entry_that_is_due_can_be_moved() {
    // Workers rely on this property: they continue with an entry while the entry is due.
    let far = at(86_400_000);
    assert!(entry().due_at().is_some_and(|due| due <= far) && entry().begin_rendering(ME, far).is_some());
    assert!(rendering().begin_rendering(OTHER, far).is_some());
    assert!(queued().begin_sending(ME, far).is_some());
    assert!(sending().abandon_sending(far).is_some());
}
