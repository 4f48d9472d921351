//! A check reports every change to any part of any item of a trail. The test changes, removes or
//! adds each attribute of an entry, a counted entry, a link and the head.

use aws_sdk_dynamodb::types::AttributeValue::{self, Bool, L, M, N, S};
use crypto::trail_keys::TrailKeys;
use jiff::SignedDuration;
use model::trail::check::Problem;
use store::Item;

use super::chain::{check, entries, items, put, text, three_days};
use super::{rename, wrong_password};

/// Attributes that may change, because no code reads them or the next check detects the
/// consequence.
const UNREAD: [(&str, &str); 4] = [
    // The last counted failure, which prevents a repeated request from counting twice.
    ("counted entry", "mark"),
    ("counted entry", "mark removed"),
    // The time when the table deletes a link. The link's content also includes this time, and a
    // link that disappears earlier is reported as missing.
    ("link", "ttl"),
    ("link", "ttl removed"),
];

/// Links and heads are read field by field, so additional fields do not matter.
fn is_unread(what: &str, path: &str) -> bool {
    UNREAD.contains(&(what, path)) || (matches!(what, "link" | "head") && path.ends_with(" added"))
}

/// The variants of a value that differ in one place, with a description of the change.
fn variants(value: &AttributeValue) -> Vec<(String, AttributeValue)> {
    let whole = |value: AttributeValue| vec![(String::new(), value)];
    match value {
        S(text) => whole(S(format!("{text}x"))),
        N(number) => whole(N((number.parse::<i64>().unwrap() + 1).to_string())),
        Bool(is) => whole(Bool(!is)),
        L(list) if list.is_empty() => whole(L(vec![text("x")])),
        L(list) => {
            let each = list.iter().enumerate().flat_map(|(index, element)| {
                variants(element).into_iter().map(move |(path, new)| {
                    let mut changed = list.clone();
                    changed[index] = new;
                    (format!("[{index}]{path}"), L(changed))
                })
            });
            each.chain([("[-]".to_owned(), L(list[1..].to_vec()))]).collect()
        }
        M(map) => changes(map).into_iter().map(|(path, changed)| (format!(".{path}"), M(changed))).collect(),
        _ => whole(text("something else")),
    }
}

/// The variants of an item or object that differ in one place, where a field is changed, removed or
/// added.
fn changes(map: &Item) -> Vec<(String, Item)> {
    let mut changes = Vec::new();
    for (name, value) in map.iter().filter(|(name, _)| !matches!(name.as_str(), "pk" | "sk")) {
        for (path, new) in variants(value) {
            let mut changed = map.clone();
            changed.insert(name.clone(), new);
            changes.push((format!("{name}{path}"), changed));
        }
        let mut less = map.clone();
        less.remove(name);
        changes.push((format!("{name} removed"), less));
    }
    let mut more = map.clone();
    more.insert("another".to_owned(), text("x"));
    changes.push(("another added".to_owned(), more));
    changes
}

#[tokio::test]
async fn any_change_to_any_item_of_a_trail_is_detected() {
    let (app, ada) = three_days().await;
    for _ in 0..3 {
        wrong_password(&app, "ada@example.com").await;
    }
    app.link_trail().await;
    // After this time, no further failures can be counted in the same entry.
    app.advance(SignedDuration::from_hours(1));
    rename(&app, &ada, "Ada").await;
    app.link_trail().await;
    assert_eq!(check(&app).await.problems(), []);
    let (of_entries, of_chain) = (entries(&app).await, items(&app, "#LINKS").await);
    let counted = of_entries.iter().find(|item| item.get("n").is_some_and(|n| *n != N("1".to_owned()))).unwrap();
    let mut unseen = Vec::new();
    for (what, item) in [("entry", &of_entries[4]), ("counted entry", counted), ("link", &of_chain[5]), ("head", &of_chain[0])] {
        let changes = changes(item);
        assert!(changes.len() > 5, "{what}: {changes:?}");
        for (path, changed) in changes {
            put(&app, changed).await;
            if check(&app).await.problems().is_empty() && !is_unread(what, &path) {
                unseen.push(format!("{what}: {path}"));
            }
        }
        put(&app, item.clone()).await;
    }
    assert_eq!(check(&app).await.problems(), []);
    assert_eq!(unseen, Vec::<String>::new());
}

/// A single damaged trail neither ends a check nor prevents a gateway from starting.
#[tokio::test]
async fn a_head_that_cannot_be_read_is_reported_as_changed() {
    let (app, _) = three_days().await;
    let head = items(&app, "#LINKS").await.remove(0);
    let keys = TrailKeys::new(&app.app.settings.secret);
    for damaged in [text("nothing"), M(Item::new())] {
        let mut item = head.clone();
        item.insert("d".to_owned(), damaged);
        put(&app, item).await;
        assert_eq!(check(&app).await.problems(), [Problem::HeadChanged]);
        let refused = app.app.store.authentic_head(app.project_id(), &keys).await;
        assert!(matches!(refused, Err(store::Error::Refused(_))), "{refused:?}");
        assert!(app.try_link(app.project_id()).await.unwrap_err().to_string().contains("was tampered with"));
    }
}
