//! The chain of links, as checked by the library behind `gateway audit verify`. The check detects
//! manipulations of the trail by someone who can write to the table but does not have the
//! deployment secret. If the whole trail is reset to an earlier state, the check detects this only
//! by comparing the trail with a link that was recorded earlier.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::trail_keys::TrailKeys;
use jiff::{SignedDuration, Timestamp};
use model::trail::check::{DayReport, ExpectedLink, Problem, RecordedLinks};
use store::Item;
use store::trail::check::TrailReport;
use support::{SignedInUser, TestApp};
use wire::id::ProjectId;

use super::rename;

/// The results of a check for each day and for the whole chain.
pub(crate) struct CheckResult {
    pub(super) days: Vec<DayReport>,
    pub(super) report: TrailReport,
}

impl CheckResult {
    /// The problems of all days and of the chain.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.days.iter().filter_map(|day| day.problem.clone()).chain(self.report.problems.iter().cloned()).collect()
    }

    /// The numbers of entries, links and unlinked entries of each day.
    pub(crate) fn counts(&self) -> Vec<(usize, usize, usize)> {
        self.days.iter().map(|day| (day.entries, day.links, day.unlinked)).collect()
    }
}

pub(crate) async fn check(app: &TestApp) -> CheckResult {
    check_with(app, app.project_id(), RecordedLinks::default()).await
}

pub(super) async fn check_with(app: &TestApp, project: &ProjectId, recorded: RecordedLinks) -> CheckResult {
    let (keys, mut days) = (TrailKeys::new(&app.app.settings.secret), Vec::new());
    let report = app.app.store.check_trail(project, &keys, recorded, app.now(), |day| days.push(day)).await.unwrap();
    CheckResult { days, report }
}

/// The items whose partition key contains `part`, in order.
pub(super) async fn items(app: &TestApp, part: &str) -> Vec<Item> {
    let (items, next) = app.app.store.items(None).await.unwrap();
    assert!(next.is_none());
    let key = |item: &Item| (item["pk"].as_s().unwrap().clone(), item["sk"].as_s().unwrap().clone());
    let found = items.into_iter().filter(|item| key(item).0.contains(part));
    found.map(|item| (key(&item), item)).collect::<BTreeMap<_, _>>().into_values().collect()
}

pub(super) async fn entries(app: &TestApp) -> Vec<Item> {
    items(app, "#TRAIL#").await
}

/// All links of the chain, and its head.
async fn chain(app: &TestApp) -> (Vec<Item>, Item) {
    let mut all = items(app, "#LINKS").await;
    let head = all.remove(0);
    assert_eq!(head["sk"].as_s().unwrap(), "HEAD");
    (all, head)
}

pub(super) async fn put(app: &TestApp, item: Item) {
    let store = &app.app.store;
    store.client().call(PutItemInput::builder().table_name(store.table()).set_item(Some(item))).await.unwrap();
}

pub(super) async fn delete(app: &TestApp, item: &Item) {
    let store = &app.app.store;
    let delete = DeleteItemInput::builder().table_name(store.table());
    store.client().call(delete.key("pk", item["pk"].clone()).key("sk", item["sk"].clone())).await.unwrap();
}

pub(super) fn id(item: &Item) -> String {
    item["d"].as_m().unwrap()["id"].as_s().unwrap().clone()
}

pub(super) fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// Sets a field in the entity of an item.
pub(super) fn set(item: &mut Item, name: &str, value: AttributeValue) {
    let mut entity = item["d"].as_m().unwrap().clone();
    entity.insert(name.to_owned(), value);
    item.insert("d".to_owned(), AttributeValue::M(entity));
}

/// Gives an entry another time and id, as if it had been written at that time.
pub(super) fn moved(app: &TestApp, entry: &mut Item, at: Timestamp, id: &str) {
    let position = text(&format!("{:015}#{id}", at.as_millisecond()));
    entry.insert("pk".to_owned(), text(&format!("P#{}#TRAIL#{}", app.project_id(), store::trail::day(at))));
    entry.insert("sk".to_owned(), position.clone());
    if entry.contains_key("gsi1sk") {
        entry.insert("gsi1sk".to_owned(), position);
    }
    set(entry, "at", AttributeValue::N(at.as_millisecond().to_string()));
    set(entry, "id", text(id));
}

/// Three days with three entries each, linked as they are written, and the user whom the entries
/// belong to.
pub(super) async fn three_days() -> (TestApp, SignedInUser) {
    let app = TestApp::start_unobserved().await;
    let ada = app.sign_up("ada@example.com").await;
    app.link_trail().await;
    for number in 1..9 {
        app.advance(SignedDuration::from_hours(if number % 3 == 0 { 22 } else { 1 }));
        rename(&app, &ada, &format!("Ada {number}")).await;
        app.link_trail().await;
    }
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(3, 3, 0); 3]));
    (app, ada)
}

#[tokio::test]
async fn an_untouched_trail_is_in_order() {
    let (app, ada) = three_days().await;
    rename(&app, &ada, "Countess").await;
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(3, 3, 0), (3, 3, 0), (4, 3, 1)]));
    assert_eq!(app.link_trail().await, 1);
    assert_eq!(app.link_trail().await, 0, "entries are not linked twice");
    assert_eq!(check(&app).await.counts()[2], (4, 4, 0));
    assert_eq!(check(&app).await.report.last.unwrap().0, 10);
}

#[tokio::test]
async fn a_removed_entry_is_detected() {
    let (app, _) = three_days().await;
    for entry in entries(&app).await {
        delete(&app, &entry).await;
        assert_eq!(check(&app).await.problems(), [Problem::EntryMissing(id(&entry))]);
        app.link_trail().await;
        assert_eq!(check(&app).await.problems(), [Problem::EntryMissing(id(&entry))], "linking again hides the removal");
        put(&app, entry).await;
    }
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test]
async fn any_change_to_an_entry_is_detected() {
    let (app, ada) = three_days().await;
    let original = entries(&app).await.remove(4);
    let problem = Problem::EntryChanged(id(&original));
    let changed = |change: &dyn Fn(&mut Item)| {
        let mut item = original.clone();
        change(&mut item);
        assert_ne!(item, original);
        item
    };
    let of_entity = |name: &'static str, value: AttributeValue| {
        changed(&|item| {
            let mut entity = item["d"].as_m().unwrap().clone();
            entity.insert(name.to_owned(), value.clone());
            item.insert("d".to_owned(), AttributeValue::M(entity));
        })
    };
    let number = |number: &str| AttributeValue::N(number.to_owned());
    for item in [
        of_entity("operation", text("users-me-update")),
        of_entity("user_id", text("0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81")),
        of_entity("fields", AttributeValue::L(Vec::new())),
        of_entity("count", number("2")),
        // Hides the entry from the user.
        changed(&|item| drop(item.remove("gsi1pk"))),
        changed(&|item| drop(item.insert("gsi1pk".to_owned(), text("P#x#TRAIL#USER#y")))),
        // Makes DynamoDB delete the entry early, or never.
        changed(&|item| drop(item.insert("ttl".to_owned(), number("1767268800")))),
        changed(&|item| drop(item.remove("ttl"))),
        // Makes the entry look like a counted failure.
        changed(&|item| drop(item.insert("n".to_owned(), number("7")))),
        // Removes the entry's contents.
        changed(&|item| drop(item.insert("d".to_owned(), text("")))),
    ] {
        put(&app, item).await;
        assert_eq!(check(&app).await.problems(), std::slice::from_ref(&problem));
        app.link_trail().await;
        assert_eq!(check(&app).await.problems(), std::slice::from_ref(&problem));
    }
    put(&app, original).await;
    rename(&app, &ada, "Ada").await;
    app.link_trail().await;
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test]
async fn a_backdated_entry_is_detected_and_never_linked() {
    let (app, ada) = three_days().await;
    let model = entries(&app).await.remove(1);
    for (day, sk) in [
        ("2026-01-01", "001767272400001#019b7a2c-0000-7000-8000-000000000000"),
        // A day before all other days, without entries.
        ("2025-12-30", "001767096000000#019b7a2c-0000-7000-8000-000000000001"),
    ] {
        let mut added = model.clone();
        added.insert("pk".to_owned(), text(&format!("P#{}#TRAIL#{day}", app.project_id())));
        added.insert("sk".to_owned(), text(sk));
        put(&app, added.clone()).await;
        let problem = [Problem::EntryAdded(sk.split_once('#').unwrap().1.to_owned())];
        assert_eq!(check(&app).await.problems(), problem);
        rename(&app, &ada, "Ada").await;
        app.link_trail().await;
        assert_eq!(check(&app).await.problems(), problem);
        delete(&app, &added).await;
    }
    // An entry with a time in the future is not linked, and does not keep other entries from being
    // linked.
    let mut added = model.clone();
    let ahead = app.now().checked_add(SignedDuration::from_hours(6)).unwrap();
    moved(&app, &mut added, ahead, "019b7a2c-0000-7000-8000-000000000002");
    put(&app, added).await;
    app.advance(SignedDuration::from_hours(1));
    rename(&app, &ada, "Ada").await;
    assert_eq!(app.link_trail().await, 1);
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test]
async fn a_removed_link_is_detected() {
    let (app, ada) = three_days().await;
    let (links, _) = chain(&app).await;
    for (index, link) in links.iter().enumerate() {
        delete(&app, link).await;
        let missing = Problem::LinkMissing(index as u64 + 1);
        assert!(check(&app).await.problems().contains(&missing), "{index}: {:?}", check(&app).await.problems());
        put(&app, link.clone()).await;
    }
    delete(&app, &links[3]).await;
    delete(&app, &links[4]).await;
    rename(&app, &ada, "Ada").await;
    app.link_trail().await;
    assert!(check(&app).await.problems().contains(&Problem::LinkMissing(4)));
}

#[tokio::test]
async fn a_truncated_trail_is_detected() {
    let (app, ada) = three_days().await;
    let ((links, head), of_entries) = (chain(&app).await, entries(&app).await);
    // Deletes the links and entries of the last day, as if the day had never existed.
    for item in links[6..].iter().chain(&of_entries[6..]) {
        delete(&app, item).await;
    }
    assert_eq!(check(&app).await.problems(), [Problem::LinkMissing(7)]);
    // Points the head to an earlier link. Without the deployment secret, the head cannot be
    // authenticated again.
    let mut cut = head.clone();
    let mut entity = cut["d"].as_m().unwrap().clone();
    let mut signed = entity["signed"].as_m().unwrap().clone();
    signed.insert("number".to_owned(), AttributeValue::N("6".to_owned()));
    entity.insert("signed".to_owned(), AttributeValue::M(signed));
    cut.insert("d".to_owned(), AttributeValue::M(entity));
    put(&app, cut).await;
    assert_eq!(check(&app).await.problems(), [Problem::HeadChanged]);
    rename(&app, &ada, "Ada").await;
    let refused = app.try_link(app.project_id()).await;
    assert!(refused.unwrap_err().to_string().contains("was tampered with"), "the worker does not authenticate a forged head");
    assert_eq!(check(&app).await.problems(), [Problem::HeadChanged]);
    delete(&app, &head).await;
    assert_eq!(check(&app).await.problems(), [Problem::HeadMissing]);
    assert!(app.try_link(app.project_id()).await.is_err());
}

#[tokio::test]
async fn a_trail_reset_to_an_earlier_state_is_detected_by_the_log() {
    let (app, ada) = three_days().await;
    let before: Vec<Item> = items(&app, "#LINKS").await;
    // This entry is one second later than the other entries, so it comes last.
    app.advance(SignedDuration::from_secs(1));
    rename(&app, &ada, "Ada").await;
    let secret = entries(&app).await.pop().unwrap();
    app.link_trail().await;
    let (number, digest) = check(&app).await.report.last.unwrap();
    let expected = || RecordedLinks { expected: Some(ExpectedLink { number, digest: digest.clone() }), accepted: None };
    assert_eq!(check_with(&app, app.project_id(), expected()).await.problems(), []);

    delete(&app, &chain(&app).await.0[9]).await;
    delete(&app, &secret).await;
    for item in before {
        put(&app, item).await;
    }
    assert_eq!(check(&app).await.problems(), [], "the table alone does not show the reset");
    assert_eq!(check_with(&app, app.project_id(), expected()).await.problems(), [Problem::Unexpected(number)]);
    // A new link with the same number does not match the expected link either.
    app.advance(SignedDuration::from_mins(1));
    rename(&app, &ada, "Somebody else").await;
    app.link_trail().await;
    assert_eq!(check(&app).await.report.last.unwrap().0, number);
    assert_eq!(check_with(&app, app.project_id(), expected()).await.problems(), [Problem::Unexpected(number)]);
}

#[tokio::test]
async fn a_changed_moved_or_foreign_link_is_detected() {
    let (app, _) = three_days().await;
    let (links, head) = chain(&app).await;
    let moved = |to: usize, link: &Item| {
        let mut link = link.clone();
        link.insert("sk".to_owned(), links[to]["sk"].clone());
        link
    };
    put(&app, moved(4, &links[3])).await;
    assert!(check(&app).await.problems().contains(&Problem::LinkMoved(5)));
    put(&app, moved(4, &links[5])).await;
    assert!(check(&app).await.problems().contains(&Problem::LinkMoved(5)));
    let mut emptied = links[4].clone();
    let mut entity = emptied["d"].as_m().unwrap().clone();
    let mut signed = entity["signed"].as_m().unwrap().clone();
    signed.insert("entries".to_owned(), AttributeValue::L(Vec::new()));
    entity.insert("signed".to_owned(), AttributeValue::M(signed));
    emptied.insert("d".to_owned(), AttributeValue::M(entity));
    put(&app, emptied).await;
    assert!(check(&app).await.problems().contains(&Problem::LinkChanged(5)));
    let mut garbage = links[4].clone();
    garbage.insert("d".to_owned(), text("nothing"));
    put(&app, garbage).await;
    assert!(check(&app).await.problems().contains(&Problem::LinkChanged(5)));
    put(&app, links[4].clone()).await;
    assert_eq!(check(&app).await.problems(), []);

    let other = app.another_project().await;
    for item in links.iter().chain([&head]) {
        let mut item = item.clone();
        item.insert("pk".to_owned(), text(&format!("P#{}#LINKS", other.project_id)));
        put(&app, item).await;
    }
    let found = check_with(&app, &other.project_id, RecordedLinks::default()).await;
    assert!(found.problems().contains(&Problem::LinkChanged(1)) && found.problems().contains(&Problem::HeadChanged));
}
