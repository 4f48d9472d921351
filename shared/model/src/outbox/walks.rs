//! Random walks through an entry's statuses. Whatever callers, workers and the mail service do, in
//! any order, every step is a permitted transition, and an email is sent at most once.

use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::outbox::report::Report;
use crate::outbox::status::{Move, ReportKind, Status};
use crate::outbox::tests::{ME, at, entry, failure, mail, patch};
use crate::outbox::work::Outcome;
use crate::outbox::{OutboxEntry, SendError, Stage};

/// A step of a random walk: an action of a caller, a worker or the mail service, or the passing of
/// time.
#[derive(Debug, Clone)]
enum Step {
    Patch(Value),
    Claim {
        worker: u128,
    },
    Rendered {
        worker: u128,
        good: bool,
    },
    Fold,
    Enqueue,
    Send {
        worker: u128,
    },
    /// The worker learns the outcome of its attempt: 0 and 1 mean sent, 2 retryable, 3 temporarily
    /// refused, and 4 finally failed.
    Told {
        worker: u128,
        outcome: u8,
    },
    Abandon,
    TakeBack,
    /// The mail service reports on the last attempt or an earlier attempt.
    Report {
        kind: ReportKind,
        on_last: bool,
    },
    Wait {
        millis: i64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let worker = 1..3_u128;
    let patch = prop_oneof![
        Just(json!({})),
        Just(json!({ "cancel": true })),
        Just(json!({ "is_paused": true })),
        Just(json!({ "is_paused": false })),
        Just(json!({ "subject_source": "new" })),
        Just(json!({ "scheduled_at_millis": 0 })),
        (0..100_000_i64).prop_map(|millis| json!({ "scheduled_at_millis": at(millis).as_millisecond() })),
    ];
    prop_oneof![
        2 => patch.prop_map(Step::Patch),
        3 => worker.clone().prop_map(|worker| Step::Claim { worker }),
        3 => (worker.clone(), prop::bool::weighted(0.9)).prop_map(|(worker, good)| Step::Rendered { worker, good }),
        1 => Just(Step::Fold),
        2 => Just(Step::Enqueue),
        3 => worker.clone().prop_map(|worker| Step::Send { worker }),
        3 => (worker, 0..5_u8).prop_map(|(worker, outcome)| Step::Told { worker, outcome }),
        1 => Just(Step::Abandon),
        1 => Just(Step::TakeBack),
        4 => (prop::sample::select(&ReportKind::ALL[..]), prop::bool::weighted(0.8)).prop_map(|(kind, on_last)| Step::Report { kind, on_last }),
        2 => prop_oneof![0..1000_i64, 20_000..2_000_000_i64].prop_map(|millis| Step::Wait { millis }),
    ]
}

/// The entry after a step, or `None` if the step does not apply.
fn take(entry: OutboxEntry, step: &Step, now: jiff::Timestamp) -> Option<OutboxEntry> {
    let id = Uuid::from_u128;
    match step {
        Step::Patch(body) => entry.apply(patch(body.clone()), now).ok(),
        Step::Claim { worker } => entry.begin_rendering(id(*worker), now),
        Step::Rendered { worker, good } => entry.finish_rendering(id(*worker), if *good { mail() } else { Err("no".to_owned()) }, now),
        Step::Fold => entry.fold(now),
        Step::Enqueue => entry.enqueue(now),
        Step::Send { worker } => entry.begin_sending(id(*worker), now),
        Step::Told { worker, outcome } => {
            let outcome = match outcome {
                0 | 1 => Outcome::Sent { is_reported_on: true },
                2 => Outcome::Retryable(failure(now)),
                3 => Outcome::Retryable(SendError::new(now, SendError::NOT_NOW, "not now")),
                _ => Outcome::Final(failure(now)),
            };
            entry.finish_sending(id(*worker), outcome, 0.5, now)
        }
        Step::Abandon => entry.abandon_sending(now),
        Step::TakeBack => entry.take_back(now),
        Step::Report { kind, on_last } => {
            let (Stage::Sending { started_at, .. } | Stage::ServerError { started_at, .. } | Stage::Sent { started_at, .. }) = entry.stage
            else {
                return entry.report(Report { attempt: 0, kind: *kind, at: now.as_millisecond() }, now);
            };
            let attempt = if *on_last { started_at } else { started_at - 1 };
            entry.report(Report { attempt, kind: *kind, at: now.as_millisecond() }, now)
        }
        Step::Wait { .. } => None,
    }
}

/// The moves of [`TRANSITIONS`](super::status::TRANSITIONS) to which a step may correspond.
fn moves(step: &Step, to: Status) -> Vec<Move> {
    match step {
        Step::Patch(body) if body.get("cancel").is_some() => vec![Move::Cancel],
        Step::Patch(_) => vec![Move::Patch],
        Step::Claim { .. } => vec![Move::BeginRendering],
        Step::Rendered { .. } => vec![if to == Status::RenderError { Move::FailRendering } else { Move::FinishRendering }],
        Step::Fold => vec![Move::Fold],
        Step::Enqueue => vec![Move::Enqueue],
        Step::Send { .. } => vec![Move::BeginSending],
        Step::Told { .. } => vec![Move::FinishSending, Move::Retry, Move::Fail],
        Step::Abandon => vec![Move::Fail],
        Step::TakeBack => vec![Move::TakeBack],
        Step::Report { kind, .. } => vec![Move::Report(*kind)],
        Step::Wait { .. } => vec![],
    }
}

fn is_final(status: Status) -> bool {
    !status.is_editable() && !matches!(status, Status::Preparing | Status::Rendering | Status::Scheduled | Status::Queued | Status::Sending)
}

/// Performs the steps and checks the entry after each step. Returns how often the entry reached the
/// stage [`Stage::Sent`].
fn walk(steps: &[Step]) -> Result<usize, TestCaseError> {
    let (mut entry, mut millis, mut sent) = (entry(), 0, 0);
    for step in steps {
        if let Step::Wait { millis: more } = step {
            millis += more;
        }
        let before = entry.clone();
        let Some(after) = take(before.clone(), step, at(millis)) else { continue };
        let (from, to) = (before.status(), after.status());
        prop_assert!(moves(step, to).into_iter().any(|by| from.leads_to(by, to)), "{step:?} leads from {from:?} to {to:?}");
        prop_assert!(!is_final(from) || is_final(to), "{step:?} leaves {from:?} for {to:?}");
        match step {
            Step::Send { .. } => prop_assert!(after.rendered.is_some() && before.scheduled_at <= at(millis)),
            Step::Patch(_) => prop_assert!(from.is_editable() && to != Status::Sending),
            Step::Report { .. } => prop_assert_eq!(take(after.clone(), step, at(millis)), None, "the same report changes the entry again"),
            _ => {
                prop_assert!(from != Status::Paused, "{step:?} moves a paused entry");
                prop_assert!(from != Status::ServerError && from != Status::RenderError, "{step:?} leaves {from:?} by itself");
            }
        }
        prop_assert!(!(after.is_paused && to != Status::Paused));
        prop_assert_eq!(
            after.due_at().is_some(),
            matches!(to, Status::Preparing | Status::Rendering | Status::Scheduled | Status::Queued | Status::Sending)
        );
        // Workers and reports never change what callers wrote.
        if !matches!(step, Step::Patch(_)) {
            prop_assert_eq!((&after.source, &after.to, &after.variables), (&before.source, &before.to, &before.variables));
            prop_assert_eq!((after.scheduled_at, after.is_paused), (before.scheduled_at, before.is_paused));
        }
        let went_out = |entry: &OutboxEntry| matches!(entry.stage, Stage::Sent { .. });
        sent += usize::from(went_out(&after) && !went_out(&before));
        entry = after;
    }
    Ok(sent)
}

/// Some reports, and a randomly ordered list that contains each report twice.
fn shuffled() -> impl Strategy<Value = (Vec<Report>, Vec<Report>)> {
    let report = (prop::sample::select(&ReportKind::ALL[..]), 4..50_i64).prop_map(|(kind, millis)| Report {
        attempt: at(3).as_millisecond(),
        kind,
        at: at(millis).as_millisecond(),
    });
    prop::collection::vec(report, 1..8).prop_flat_map(|reports| {
        let twice: Vec<Report> = reports.iter().chain(&reports).copied().collect();
        (Just(reports), Just(twice).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn reports_in_any_order_or_repeated_have_the_same_result((reports, shuffled) in shuffled(), is_unsettled in any::<bool>()) {
        let told = |reports: &[Report]| {
            let sending = crate::outbox::tests::sending();
            let sent = sending.clone().finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.5, at(4)).expect("an outcome");
            let begin = if is_unsettled { sending } else { sent };
            let entry = reports.iter().fold(begin, |entry, report| entry.clone().report(*report, at(100)).unwrap_or(entry));
            let Stage::Sent { reports, .. } = entry.stage else { panic!("reports leave the entry in {:?}", entry.stage) };
            (entry.status(), reports)
        };
        prop_assert_eq!(told(&reports), told(&shuffled));
    }

    #[test]
    fn an_email_is_sent_at_most_once_and_never_while_paused_or_cancelled(steps in prop::collection::vec(step(), 0..60)) {
        prop_assert!(walk(&steps)? <= 1);
    }

    /// If a worker performs every due step, every entry ends in a state without due steps.
    #[test]
    fn an_undisturbed_entry_reaches_a_state_in_which_no_step_is_due(steps in prop::collection::vec(step(), 0..30)) {
        let (mut entry, mut now) = (entry(), at(0));
        for step in &steps {
            entry = take(entry.clone(), step, now).unwrap_or(entry);
        }
        for _ in 0..40 {
            let Some(due) = entry.due_at() else { break };
            now = now.max(due);
            let next = match entry.status() {
                Status::Preparing | Status::Rendering => entry.begin_rendering(ME, now).and_then(|entry| entry.finish_rendering(ME, mail(), now)),
                Status::Scheduled => entry.enqueue(now),
                Status::Queued => entry.begin_sending(ME, now).and_then(|entry| entry.finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.5, now)),
                _ => entry.abandon_sending(now),
            };
            entry = next.expect("an entry that is due can take its next step");
        }
        prop_assert_eq!(entry.due_at(), None);
    }
}
