//! Manipulations that no link covers: entries that do not fit their place in the table, and changes
//! to the project's item.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{SignedDuration, Timestamp};
use model::trail::check::Problem;
use store::Item;
use support::TestApp;

use super::chain::{check, delete, entries, id, items, moved, put, set, text, three_days};
use super::{ACTIVITY, AUDIT_LOG, DAY, page, rename};

/// A change made to a forged entry.
type Forgery<'a> = &'a dyn Fn(&TestApp, &mut Item);

const FORGED: &str = "019b7a2c-0000-7000-8000-000000000003";

#[tokio::test]
async fn an_entry_that_does_not_fit_its_place_is_reported_and_never_listed() {
    let at = |time: Timestamp| AttributeValue::N(time.as_millisecond().to_string());
    let earlier = |app: &TestApp| app.now().checked_sub(SignedDuration::from_mins(5)).unwrap();
    let changes: [Forgery<'_>; 6] = [
        &|app, item| set(item, "at", at(earlier(app))),
        &|app, item| set(item, "at", at(app.now().checked_add(DAY).unwrap())),
        &|_, item| set(item, "id", text("019b7a2c-0000-7000-8000-000000000004")),
        &|app, item| drop(item.insert("gsi1sk".to_owned(), text(&format!("{:015}#{FORGED}", earlier(app).as_millisecond())))),
        &|app, item| drop(item.insert("gsi1pk".to_owned(), text(&format!("P#{}#TRAIL#USER#{FORGED}", app.project_id())))),
        &|_, item| drop(item.remove("ttl")),
    ];
    for (change, linked) in changes.into_iter().zip([1, 1, 1, 1, 1, 0]) {
        let app = TestApp::start_unobserved().await;
        let ada = app.sign_up("ada@example.com").await;
        app.link_trail().await;
        app.advance(SignedDuration::from_mins(8));
        let mut forged = entries(&app).await.remove(0);
        moved(&app, &mut forged, app.now(), FORGED);
        change(&app, &mut forged);
        put(&app, forged).await;
        for linked in [linked, 0] {
            assert_eq!(check(&app).await.problems(), [Problem::EntryMisplaced(FORGED.to_owned())]);
            for (caller, path) in [(app.admin(), AUDIT_LOG), (app.signed_in(&ada), ACTIVITY)] {
                assert_eq!(page(&caller, path).await.0.len(), 1, "{path} has more than the sign-up");
            }
            assert_eq!(app.link_trail().await, linked);
        }
    }
}

#[tokio::test]
async fn entries_that_the_project_would_hide_are_reported() {
    let (app, ada) = three_days().await;
    let of_project = items(&app, &format!("P#{}", app.project_id())).await.into_iter().find(|item| item["sk"] == text("PROJECT")).unwrap();
    let mut younger = of_project.clone();
    set(&mut younger, "created_at", AttributeValue::N(app.now().as_millisecond().to_string()));
    put(&app, younger).await;
    app.advance(SignedDuration::from_mins(6));
    rename(&app, &ada, "Ada").await;
    app.link_trail().await;
    let of_entries = entries(&app).await;
    let hidden = [0, 3, 6].map(|entry: usize| Problem::EntryHidden(id(&of_entries[entry])));
    assert_eq!(check(&app).await.problems(), hidden);
    put(&app, of_project).await;
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test]
async fn a_trail_without_its_project_is_found_and_reported() {
    let (app, _) = three_days().await;
    let found = async || app.app.store.projects_with_trails().await.unwrap().contains(app.project_id());
    for item in items(&app, &format!("P#{}", app.project_id())).await.iter().filter(|item| item["sk"] == text("PROJECT")) {
        delete(&app, item).await;
    }
    assert!(found().await);
    assert_eq!(check(&app).await.problems(), [Problem::ProjectMissing]);
    for item in items(&app, "#LINKS").await {
        delete(&app, &item).await;
    }
    assert!(found().await, "entries without links are found, too");
    for item in entries(&app).await {
        delete(&app, &item).await;
    }
    assert!(!found().await);
}
