//! Links that are made too late because no worker ran, or are missing because someone removed them.

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use jiff::SignedDuration;
use model::trail::check::{ExpectedLink, Problem, RecordedLinks};
use support::TestApp;

use super::chain::{check, check_with, delete, entries, id, items, put, set, three_days};
use super::{DAY, rename};

#[tokio::test]
async fn a_trail_that_loses_all_links_is_reported_and_cannot_be_linked_unnoticed() {
    let (app, ada) = three_days().await;
    app.advance(SignedDuration::from_hours(1));
    let of_entries = entries(&app).await;
    for item in items(&app, "#LINKS").await {
        delete(&app, &item).await;
    }
    // The entries of the first two days are too old to have no link.
    let overdue = |entry: usize| Problem::EntryOverdue(id(&of_entries[entry]));
    assert_eq!(check(&app).await.problems(), [overdue(0), overdue(3), Problem::HeadMissing]);
    delete(&app, &of_entries[1]).await;
    let mut changed = of_entries[4].clone();
    set(&mut changed, "operation", AttributeValue::S("users-me-read".to_owned()));
    put(&app, changed).await;
    assert_eq!(check(&app).await.problems(), [overdue(0), overdue(3), Problem::HeadMissing]);

    rename(&app, &ada, "Ada").await;
    assert_eq!(app.link_trail().await, 9, "no entry is lost");
    for _ in 0..3 {
        assert_eq!(check(&app).await.problems(), [Problem::LinkLate(1), Problem::LinkLate(2)]);
        app.advance(DAY);
        rename(&app, &ada, "Ada").await;
        app.link_trail().await;
    }
}

#[tokio::test]
async fn an_entry_may_be_without_a_link_for_a_day() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let entry = id(&entries(&app).await[0]);
    for hours in [0, 25] {
        app.advance(SignedDuration::from_hours(hours));
        let found = check(&app).await;
        assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(1, 0, 1)]));
    }
    app.advance(SignedDuration::from_hours(2));
    assert_eq!(check(&app).await.problems(), [Problem::EntryOverdue(entry), Problem::HeadMissing]);
    app.advance(DAY * 90);
    assert_eq!(check(&app).await.problems(), [], "expired entries are not linked");
}

#[tokio::test]
async fn a_project_without_entries_can_begin_its_chain_at_any_time() {
    let app = TestApp::start().await;
    app.advance(DAY * 200);
    assert_eq!((app.link_trail().await, check(&app).await.problems()), (0, Vec::new()));
    app.sign_up("ada@example.com").await;
    assert_eq!((app.link_trail().await, check(&app).await.problems()), (1, Vec::new()));
}

#[tokio::test]
async fn links_are_accepted_late_up_to_the_one_that_the_operator_has_checked() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.link_trail().await;
    // No worker runs for three days.
    let stop = async |name: &str| {
        rename(&app, &ada, name).await;
        app.advance(DAY * 3);
        assert!(matches!(check(&app).await.problems().last(), Some(Problem::EntryOverdue(_))));
        assert_eq!(app.link_trail().await, 1);
    };
    stop("A").await;
    assert_eq!(check(&app).await.problems(), [Problem::LinkLate(2)]);
    let (number, digest) = check(&app).await.report.last.unwrap();
    let with = async |digest: &Digest| {
        let accepted = Some(ExpectedLink { number, digest: digest.clone() });
        check_with(&app, app.project_id(), RecordedLinks { expected: None, accepted }).await.problems()
    };
    assert_eq!(with(&digest).await, []);
    assert_eq!(with(&Digest::of("another link")).await, [Problem::Unexpected(number)]);
    app.advance(DAY);
    stop("B").await;
    assert_eq!(with(&digest).await, [Problem::LinkLate(3)], "a later link is not accepted");
    assert_eq!(check(&app).await.problems(), [Problem::LinkLate(2), Problem::LinkLate(3)]);
    app.advance(DAY * 100);
    assert_eq!(check(&app).await.problems(), [], "a late link is reported for as long as its entries exist");
}
