//! Tests of which entries and links are reported, and when. Complete trails are checked in
//! `tests/api/audit`.

use super::*;

const DAY: &str = "2026-01-02";

fn time(text: &str) -> Timestamp {
    format!("{DAY}T{text}Z").parse().expect("a time")
}

fn entry(at: &str) -> CoveredEntry {
    let (at, until) = (time(at).as_millisecond(), time("23:59:59").as_second() + 90 * 86_400);
    CoveredEntry { position: format!("{at:015}#0197"), digest: Digest::of("entry"), count: None, until }
}

/// The problem of an entry in a trail that is linked up to a position.
fn problem(entry: CoveredEntry, linked: &str, now: &str) -> Option<Problem> {
    let found = FoundEntry { covered: entry, is_misplaced: false, is_hidden: false };
    CoveredDay::default().check(DAY.parse().expect("a day"), [found], linked, now.parse().expect("a time")).problem
}

#[test]
fn an_entry_without_a_link_is_added_overdue_or_too_new() {
    let (id, entry) = (|| "0197".to_owned(), || entry("12:00:00"));
    let (before, later) = (entry().position.replace("0197", "0196"), entry().position);
    for linked in ["", &before] {
        assert_eq!(problem(entry(), linked, "2026-01-03T14:00:00Z"), None);
        assert_eq!(problem(entry(), linked, "2026-01-03T14:00:01Z"), Some(Problem::EntryOverdue(id())));
    }
    assert_eq!(problem(entry(), &later, "2026-01-02T12:00:00Z"), Some(Problem::EntryAdded(id())));
    assert_eq!(problem(entry(), &later, "2026-05-01T12:00:00Z"), None, "the entry's link may have expired");
    let endless = CoveredEntry { until: 0, ..entry() };
    assert_eq!(problem(endless, &later, "2026-05-01T12:00:00Z"), Some(Problem::EntryAdded(id())));
}

#[test]
fn misplaced_and_hidden_entries_are_problems_until_they_expire() {
    let check = |is_misplaced: bool, is_hidden: bool, now: &str| {
        let found = FoundEntry { covered: entry("12:00:00"), is_misplaced, is_hidden };
        CoveredDay::default().check(DAY.parse().expect("a day"), [found], "", now.parse().expect("a time")).problem
    };
    let now = "2026-01-02T12:00:00Z";
    assert_eq!(check(false, false, now), None);
    assert_eq!(check(true, true, now), Some(Problem::EntryMisplaced("0197".to_owned())));
    assert_eq!(check(false, true, now), Some(Problem::EntryHidden("0197".to_owned())));
    assert_eq!(check(false, true, "2026-05-01T12:00:00Z"), None);
}

#[test]
fn a_link_is_late_if_it_was_made_long_after_an_entry_that_still_exists() {
    let project = ProjectId::internal();
    let day = DAY.parse().expect("a day");
    let made =
        |linked_at: &str| Link::after(None, &project, day, vec![entry("01:00:00"), entry("23:00:00")], linked_at.parse().expect("a time"));
    let now = "2026-02-01T00:00:00Z".parse().expect("a time");
    assert!(!made("2026-01-03T03:00:00Z").is_late(now));
    let late = made("2026-01-03T03:00:01Z");
    assert!(late.is_late(now) && !late.is_late("2026-05-01T00:00:00Z".parse().expect("a time")));
}
