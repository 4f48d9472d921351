//! The reads of a page of a list, with few entries and with many.

use std::collections::BTreeSet;

use dynoxide::ImportOptions;
use dynoxide::types::Item;
use gateway::engine::TABLE;
use serde_json::{Value, json};
use support::TestApp;
use support::trace::TracedCall;

/// The lists by name and path.
const LISTS: [(&str, &str); 3] =
    [("users", "/api/v1/users"), ("outbox", "/api/v1/emails/outbox"), ("audit trail", "/api/v1/internal/audit-log")];
/// The number of entries added to a list by the first and the second measurement.
const ENTRIES: [u128; 2] = [600, 6_000];
/// The number of pages of each list that are read.
const PAGES: usize = 5;

/// The highest cost of any page of a list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Page {
    pub(crate) calls: usize,
    /// The maximum number of entries that the queries may read, which is the sum of their limits.
    pub(crate) entries: u64,
    pub(crate) units: f64,
}

/// A list, and the cost of its pages with each number of entries.
pub(crate) struct List {
    pub(crate) name: &'static str,
    pub(crate) pages: Vec<(u128, Page)>,
}

/// Every item of the table, as JSON.
fn items(app: &TestApp) -> Vec<Value> {
    let (mut all, mut start) = (Vec::new(), Value::Null);
    loop {
        let mut request = json!({ "TableName": TABLE });
        if !start.is_null() {
            request["ExclusiveStartKey"] = start;
        }
        let answer = app.database().scan(serde_json::from_value(request).unwrap()).unwrap();
        let mut answer = serde_json::to_value(answer).unwrap();
        all.append(answer["Items"].as_array_mut().unwrap());
        start = answer["LastEvaluatedKey"].take();
        if start.is_null() {
            return all;
        }
    }
}

/// The index or the table of a query, and its partition key.
fn partition(call: &TracedCall) -> (String, String) {
    let index = call.body["IndexName"].as_str().unwrap_or_default().to_owned();
    (index, call.body["ExpressionAttributeValues"][":pk"]["S"].as_str().unwrap().to_owned())
}

async fn page(app: &TestApp, path: &str, cursor: Option<&str>) -> (Vec<TracedCall>, Option<String>) {
    drop(app.recorder.take_traced());
    let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
    let answer = app.admin().get(&format!("{path}?limit=100{cursor}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    (app.recorder.take_traced(), answer.json()["pagination"]["next_cursor"].as_str().map(str::to_owned))
}

/// The items of a list, which are those in the partitions that its first page queries.
async fn entries(app: &TestApp, path: &str) -> Vec<Value> {
    let (calls, _) = page(app, path, None).await;
    let partitions: BTreeSet<_> = calls.iter().filter(|call| call.operation == "Query").map(partition).collect();
    let is_entry = |item: &Value| partitions.iter().any(|(index, pk)| item[format!("{index}pk")]["S"] == **pk);
    items(app).into_iter().filter(is_entry).collect()
}

/// The ids in the keys of an entry: its id, and the id in the keys of its place in a list.
fn ids(item: &Value) -> BTreeSet<String> {
    let last = |name: &str| Some(item[name]["S"].as_str()?.rsplit('#').next()?.to_owned());
    ["pk", "sk", "gsi1sk"].into_iter().filter_map(last).filter(|part| part.len() >= 32).collect()
}

/// Adds copies of entries, each of which gets new ids.
fn add(app: &TestApp, entries: &[Value], numbers: std::ops::Range<u128>) {
    let copy = |number: u128| -> Item {
        let entry = &entries[usize::try_from(number).unwrap() % entries.len()];
        let new = uuid::Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + number);
        let renamed = ids(entry).into_iter().fold(entry.to_string(), |text, id| {
            let new = if id.contains('-') { new.hyphenated().to_string() } else { new.simple().to_string() };
            text.replace(&id, &new)
        });
        serde_json::from_str(&renamed).unwrap()
    };
    app.database().import_items(TABLE, numbers.map(copy).collect(), ImportOptions::default()).unwrap();
}

/// Reads several pages of a list; returns the highest cost of a page.
async fn max_page(app: &TestApp, path: &str) -> Page {
    let (mut max, mut cursor) = (Page::default(), None);
    for _ in 0..PAGES {
        let (calls, next) = page(app, path, cursor.as_deref()).await;
        let limits = calls.iter().filter_map(|call| call.body["Limit"].as_u64());
        max.calls = max.calls.max(calls.len());
        max.entries = max.entries.max(limits.sum());
        max.units = max.units.max(calls.iter().map(|call| call.units).sum());
        assert!(calls.iter().all(|call| call.operation != "Query" || call.body["Limit"].is_u64()), "{path}: a query without a limit");
        cursor = Some(next.unwrap_or_else(|| panic!("{path} has no next page after {calls:?}")));
    }
    max
}

/// Measures the lists of a service that has some users.
pub(crate) async fn measure(app: &TestApp) -> Vec<List> {
    let mut lists = Vec::new();
    for (name, path) in LISTS {
        let (entries, mut pages, mut from) = (entries(app, path).await, Vec::new(), 0);
        for to in ENTRIES {
            add(app, &entries, from..to);
            from = to;
            pages.push((to, max_page(app, path).await));
        }
        let [short, long] = [pages[0].1, pages[1].1];
        // The number of entries that are read depends a little on how they are spread over the
        // shards of the list, and the units depend on their sizes. Neither the entries that are
        // read nor the units depend on the length of the list.
        let is_flat = long.calls * 2 <= short.calls * 3 && long.entries * 2 <= short.entries * 3;
        assert!(is_flat, "a page of the list of {name} costs more if the list is longer: {short:?}, {long:?}");
        lists.push(List { name, pages });
    }
    lists
}
