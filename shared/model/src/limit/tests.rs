//! Windows, rates and subjects.

use jiff::Timestamp;

use crate::limit::{Counter, Limits, Rate, RateError, Rule, Subject};
fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).expect("in range")
}

#[test]
fn ipv6_addresses_count_by_their_slash_64_and_mapped_ones_as_ipv4() {
    let subject = |text: &str| Subject::address(text.parse().expect("an address"));
    assert_eq!(subject("2001:db8:1:2:3::4"), subject("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_ne!(subject("2001:db8:1:2::1"), subject("2001:db8:1:3::1"));
    assert_eq!(subject("::ffff:203.0.113.7"), subject("203.0.113.7"));
    assert_ne!(subject("203.0.113.7"), subject("203.0.113.8"));
}

#[test]
fn windows_have_their_length_and_follow_each_other() {
    let limits = Limits::standard();
    for name in ["a@example.com", "b@example.com", "c@example.com"] {
        let counter = |now| limits.counter(Rule::SignInFailures, &Subject::email(name), now).expect("it is on");
        let first = counter(at(1_767_268_800_000));
        let last = counter(at(first.resets_at.as_millisecond() - 1));
        assert_eq!((first.to_string(), last.refusal(0).retry_after_seconds), (last.to_string(), 1));
        let next = counter(first.resets_at);
        assert_eq!(next.before(), first.to_string());
        assert_eq!(next.resets_at.as_millisecond() - first.resets_at.as_millisecond(), 600_000);
        assert_eq!(next.refusal(0).retry_after_seconds, 600);
    }
}

/// A counter with the rate 10/600, this many milliseconds after the start of a window.
fn counter_at(millis: i64) -> Counter {
    let new = |now| Counter::new(Rule::Code, Rate::new(10, 600), &Subject::project(), now);
    new(at(new(at(0)).resets_at.as_millisecond() + millis))
}

#[test]
fn the_previous_window_counts_in_proportion() {
    let quotas = |before| [0, 1, 60_000, 60_001, 300_000, 300_001, 599_999].map(|millis| counter_at(millis).quota_after(before));
    assert_eq!(quotas(0), [10; 7]);
    assert_eq!(quotas(10), [1, 1, 2, 2, 6, 6, 10]);
    assert_eq!(quotas(1), [10; 7]);
    // The quota has been lowered since the previous window.
    assert_eq!(quotas(1000)[0], 0);
}

#[test]
fn the_reported_wait_is_sufficient_and_at_most_a_second_too_long() {
    for (millis, before, counted) in
        [(0, 10, 1), (0, 10, 10), (59_000, 10, 5), (100_000, 7, 10), (250_500, 10, 9), (599_999, 3, 10), (0, 1000, 0), (5, 10, 4)]
    {
        let counter = counter_at(millis);
        let seconds = i64::try_from(counter.refusal_at(before, counted).retry_after_seconds).expect("small");
        let has_room = |wait: i64| {
            let then = counter_at(millis + wait);
            let (before, counted) = if then.window == counter.window { (before, counted) } else { (counted, 0) };
            counted < then.quota_after(before)
        };
        let what = (millis, before, counted, seconds);
        assert!(has_room(seconds * 1000), "{what:?}");
        assert!(seconds == 1 || !has_room((seconds - 1) * 1000), "{what:?}");
        assert!((1..=600).contains(&seconds), "{what:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_minute_has_over_11_requests_and_no_ten_minutes_over_20(steps in proptest::collection::vec(0_i64..40_000, 1..400)) {
        let (mut now, mut counts, mut passed) = (0, std::collections::HashMap::<i64, u32>::new(), Vec::new());
        for step in steps {
            now += step;
            let counter = counter_at(now);
            let before = counts.get(&(counter.window - 1)).copied().unwrap_or_default();
            let count = counts.entry(counter.window).or_default();
            if *count < counter.quota_after(before) {
                *count += 1;
                passed.push(now);
            }
        }
        for &begin in &passed {
            let in_span = |length: i64| passed.iter().filter(|time| (begin..begin + length).contains(*time)).count();
            proptest::prop_assert!(in_span(60_000) <= 11 && in_span(600_000) <= 20, "after {begin}: {passed:?}");
        }
    }
}

#[test]
fn windows_of_different_subjects_begin_at_different_moments() {
    let end = |name: &str| Counter::new(Rule::Code, Rate::new(1, 600), &Subject::email(name), at(0)).resets_at;
    assert_ne!(end("a"), end("b"));
}

#[test]
fn a_rate_has_two_positive_numbers() {
    assert_eq!("60/600".parse(), Ok(Rate::new(60, 600)));
    assert_eq!(Rate::new(60, 600).to_string(), "60/600");
    for text in ["", "60", "0/600", "60/0", "-1/600", "a/b", "60/600/1"] {
        assert_eq!(text.parse::<Rate>(), Err(RateError), "{text}");
    }
}

#[test]
fn each_rule_has_its_own_rate_and_variable() {
    let names: std::collections::BTreeSet<String> = Rule::ALL.into_iter().map(Rule::variable).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert_eq!(Limits::off().with(rule, Some(Rate::new(7, 8))).rate(rule), Some(Rate::new(7, 8)));
        assert!(rule.name().starts_with(rule.limit().name()), "{}", rule.name());
        assert_eq!(Limits::standard().with(rule, None).rate(rule), None);
    }
}
