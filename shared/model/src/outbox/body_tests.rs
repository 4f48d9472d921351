//! Tests of when an email's bodies are stored and when they expire.

use std::collections::BTreeMap;

use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use wire::clock::after;

use crate::outbox::body::{BODY_LIFE, Body, BodyChange, MAX_WAIT};
use crate::outbox::codes::HIDDEN;
use crate::outbox::kept::{KeptBodies, SLACK};
use crate::outbox::status::Status;
use crate::outbox::tests::{ME, at, entry, failure, mail, patch};
use crate::outbox::work::Outcome;
use crate::outbox::{OutboxEntry, Stage};

const CODE: &str = "2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";

fn body() -> Body {
    Body { html: Some("<p>Hi".to_owned()), text: Some("Hi".to_owned()) }
}

/// An email with a code.
fn with_code(scheduled_at: Timestamp) -> OutboxEntry {
    let codes = BTreeMap::from([("otp".to_owned(), SealedText::from_text("sealed".to_owned()))]);
    OutboxEntry { scheduled_at, codes: Some(codes), ..entry() }
}

/// The email as stored after rendering at 2 ms, and its bodies.
fn rendered(entry: OutboxEntry) -> (OutboxEntry, BodyChange) {
    let entry = entry.begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, mail(), at(2))).expect("a mail");
    let (entry, change) = entry.parted();
    (entry, change.expect("bodies"))
}

fn finished(queued: OutboxEntry, outcome: Outcome, now: Timestamp) -> OutboxEntry {
    let sending = queued.begin_sending(ME, now).expect("a claim");
    let (sending, change) = sending.parted();
    assert_eq!(change, None);
    sending.finish_sending(ME, outcome, 0.0, now).expect("an outcome")
}

fn sent(queued: OutboxEntry, now: Timestamp) -> OutboxEntry {
    finished(queued, Outcome::Sent { is_reported_on: true }, now)
}

fn kept(entry: &OutboxEntry) -> Option<KeptBodies> {
    entry.rendered.as_ref().and_then(|mail| mail.kept)
}

#[test]
fn the_bodies_are_stored_once_if_an_email_is_sent_in_time() {
    let whole = entry().begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, mail(), at(2))).expect("a mail");
    let (entry, change) = rendered(with_code(at(0)));
    let until = after(at(2), BODY_LIFE + SLACK);
    assert_eq!(change, BodyChange::Store(body(), until));
    assert!(entry.rendered.as_ref().is_some_and(|mail| mail.html.is_none() && mail.text.is_none() && mail.subject == "Hi"));
    assert_eq!(entry.bytes(), whole.bytes(), "the size still includes the bodies, because list responses do");

    let (ended, change) = sent(entry, at(4)).parted();
    assert_eq!((change, kept(&ended)), (None, Some(KeptBodies { until: Some(until.as_millisecond()), bytes: 7 })));
    let erased = after(at(4), BODY_LIFE);
    let last = erased - SignedDuration::from_millis(1);
    assert_eq!([last, erased].map(|now| (ended.has_kept_bodies(now), ended.is_erased(now))), [(true, false), (false, true)]);
    let mut joined = ended;
    joined.join(body());
    assert_eq!(joined.rendered.map(|mail| (mail.html, mail.text)), Some((body().html, body().text)));
}

#[test]
fn the_bodies_of_an_email_without_codes_expire_once_it_has_ended() {
    let (entry, change) = rendered(entry());
    assert_eq!(change, BodyChange::Store(body(), after(at(2), MAX_WAIT)));
    let late = after(at(4), SignedDuration::from_hours(100));
    assert!(entry.has_kept_bodies(late));
    let (ended, change) = sent(entry, late).parted();
    assert_eq!((change, ended.has_kept_bodies(late)), (Some(BodyChange::Expire(after(late, BODY_LIFE))), true));
    assert_eq!(ended.parted().1, None, "only once");
}

#[test]
fn the_bodies_of_a_later_email_expire_after_its_time() {
    let (entry, change) = rendered(with_code(at(5000)));
    assert_eq!((entry.status(), change), (Status::Scheduled, BodyChange::Store(body(), after(at(5000), BODY_LIFE + SLACK))));
    let queued = entry.enqueue(at(5000)).expect("a due email").parted();
    assert_eq!(queued.1, None);
    assert_eq!(sent(queued.0, at(6000)).parted().1, None);
}

#[test]
fn an_email_that_ends_late_changes_the_expiry_of_its_bodies() {
    for hours in [2, 24] {
        let (entry, _) = rendered(with_code(at(0)));
        let late = after(at(4), SignedDuration::from_hours(hours));
        let (ended, change) = sent(entry, late).parted();
        let until = after(late, BODY_LIFE);
        assert_eq!((change, ended.has_kept_bodies(late)), (Some(BodyChange::Expire(until)), true));
        assert_eq!(ended.parted().1, None, "only once");
    }
    let (entry, _) = rendered(with_code(at(0)));
    let too_late = after(at(2), BODY_LIFE + SLACK);
    assert!(!entry.has_kept_bodies(too_late));
    assert_eq!(sent(entry, too_late).parted().1, None, "expired bodies are gone");
}

#[test]
fn pausing_an_email_does_not_change_the_expiry_of_its_bodies() {
    for entry in [entry(), with_code(at(0))] {
        let (entry, _) = rendered(entry);
        let kept_before = kept(&entry);
        let (paused, change) = entry.apply(patch(json!({ "is_paused": true })), at(3)).expect("an edit").parted();
        assert_eq!((change, kept(&paused)), (None, kept_before));
        let (resumed, change) = paused.apply(patch(json!({ "is_paused": false })), at(4)).expect("an edit").parted();
        assert_eq!((change, kept(&resumed)), (None, kept_before));
    }
}

#[test]
fn a_failed_attempt_does_not_change_the_bodies() {
    let (entry, _) = rendered(with_code(at(0)));
    let (retried, change) = finished(entry, Outcome::Retryable(failure(at(4))), at(4)).parted();
    assert_eq!((retried.status(), change), (Status::Scheduled, None));
}

#[test]
fn an_edit_discards_the_bodies_and_a_new_rendering_replaces_them() {
    let (entry, _) = rendered(with_code(at(0)));
    let (edited, change) = entry.clone().apply(patch(json!({ "html_source": "<p>Ho" })), at(3)).expect("an edit").parted();
    assert_eq!((&edited.rendered, change), (&None, None));
    assert_eq!(entry.discarded_bodies(&edited), Some(BodyChange::Expire(after(at(3), BODY_LIFE))));
    assert_eq!((edited.discarded_bodies(&edited), entry.discarded_bodies(&entry)), (None, None));
    let again = edited.begin_rendering(ME, at(4)).and_then(|entry| entry.finish_rendering(ME, mail(), at(5))).expect("a mail");
    assert!(matches!(again.parted().1, Some(BodyChange::Store(..))));
}

#[test]
fn an_unsubscribe_link_is_stored_without_its_code() {
    let url = format!("https://a.test/unsubscribe-link?code={CODE}");
    let with_link = |url: &str| Some(format!("<a href='{url}'>Unsubscribe</a>"));
    let (mut entry, _) = rendered(with_code(at(0)));
    let mail = entry.rendered.as_mut().expect("a rendering");
    (mail.html, mail.kept, mail.unsubscribe_url) = (with_link(&url), None, Some(url.clone()));
    let (mut entry, change) = entry.parted();
    let Some(BodyChange::Store(stored, _)) = change else { panic!("{change:?}") };
    assert!(!stored.html.as_ref().is_some_and(|html| html.contains(CODE)));
    assert_eq!(stored.clone().with_unsubscribe_link(Some(&url)).html, with_link(&url));
    let (ended, _) = sent(entry.clone(), at(4)).parted();
    entry.join(stored);
    let shown = entry.rendered.and_then(|mail| mail.html);
    assert_eq!(shown, with_link(&url.replace(CODE, HIDDEN)));
    assert!(ended.rendered.is_some_and(|mail| mail.unsubscribe_url.is_none()));
}

#[test]
fn empty_bodies_are_bodies() {
    let empty = Ok(("Hi".to_owned(), Some(String::new()), Some(String::new())));
    let entry = entry().begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, empty, at(2))).expect("a mail");
    let stored = Body { html: Some(String::new()), text: Some(String::new()) };
    assert_eq!(entry.parted().1, Some(BodyChange::Store(stored, after(at(2), MAX_WAIT))));
}

/// An entry from an earlier version contains the bodies until the email is sent, skipped or given
/// up.
#[test]
fn the_bodies_of_an_earlier_version_move_at_the_next_change() {
    let whole = entry().begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, mail(), at(2))).expect("a mail");
    let (sending, change) = whole.clone().begin_sending(ME, at(3)).expect("a claim").parted();
    assert!(matches!(change, Some(BodyChange::Store(..))));
    assert_eq!(kept(&sending).map(|kept| kept.bytes), Some(7));
    let stage = Stage::Sent {
        started_at: 3,
        at: at(4).as_millisecond(),
        reports: crate::outbox::reports::Reports::default(),
        is_reported_on: true,
    };
    let ended = OutboxEntry { stage, updated_at: after(at(4), BODY_LIFE), ..whole };
    let (ended, change) = ended.parted();
    assert!(change.is_none() && ended.rendered.is_some_and(|mail| mail.html.is_none()), "it ended long ago");
}
