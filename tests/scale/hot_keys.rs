//! Finds hot keys. Replays sign-ins on the embedded engine, and writes the keys of each call to
//! `infra/hot-keys.md`, the basis of `infra/SCALE.md`. A DynamoDB partition supports at most 3,000
//! read and 1,000 write units a second.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect_file;
use model::limit::Limits;
use serde_json::{Value, json};
use support::TestApp;

const ACCOUNTS: u32 = 20;
const REPETITIONS: u32 = 5;
const SIGN_INS: u32 = ACCOUNTS * REPETITIONS;
/// Sign-ins per minute.
const RATES: [u32; 3] = [100, 10_000, 1_000_000];
/// The units a second that a partition serves.
const READS: f64 = 3000.0;
const WRITES: f64 = 1000.0;

const HEAD: &str = "\
# The hottest keys

Written by `UPDATE_EXPECT=1 cargo test -p tests --test scale`, which replays 100 password sign-ins
(20 accounts of one project, each from its own address) and records every key that the sign-ins use.
For each kind of key, the table shows how many items one sign-in reads and writes, and the share of
the hottest key. The last columns show how many items a second are read or written under the hottest
key at 100, 10,000 and 1,000,000 sign-ins a minute, if all accounts are equally busy. Rates beyond
the limit of a partition (3,000 reads or 1,000 writes a second) are **bold**.

| keys | access | items a sign-in | share of the hottest key | 100/min | 10,000/min | 1,000,000/min |
|---|---|---|---|---|---|---|
";

/// The number of times that each key is used, by the kind of key and of access (read or write).
type Touches = BTreeMap<(String, &'static str), BTreeMap<String, u32>>;

fn touch(touches: &mut Touches, access: &'static str, pk: &Value, index: &str) {
    let pk = pk["S"].as_str().unwrap();
    let kind = format!("{index}{}#…", pk.split('#').next().unwrap());
    *touches.entry((kind, access)).or_default().entry(pk.to_owned()).or_default() += 1;
}

/// Counts the items that a call touches.
fn count(touches: &mut Touches, operation: &str, body: &Value) {
    match operation {
        "GetItem" => touch(touches, "read", &body["Key"]["pk"], ""),
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().unwrap().values();
            tables.flat_map(|table| table["Keys"].as_array().unwrap()).for_each(|key| touch(touches, "read", &key["pk"], ""));
        }
        "Query" => {
            let index = body["IndexName"].as_str().map(|index| format!("{index}: ")).unwrap_or_default();
            touch(touches, "read", &body["ExpressionAttributeValues"][":pk"], &index);
        }
        "PutItem" => touch(touches, "write", &body["Item"]["pk"], ""),
        "UpdateItem" | "DeleteItem" => touch(touches, "write", &body["Key"]["pk"], ""),
        "TransactWriteItems" => {
            for write in body["TransactItems"].as_array().unwrap().iter().flat_map(|write| write.as_object().unwrap().values()) {
                touch(touches, "write", if write["Item"].is_object() { &write["Item"]["pk"] } else { &write["Key"]["pk"] }, "");
            }
        }
        _ => panic!("no counting rule for {operation}"),
    }
}

async fn load() -> Touches {
    let app = TestApp::start_with(Limits::standard()).await;
    let caller = |account: u32| app.client().with("cloudfront-viewer-address", &format!("203.0.113.{account}:443"));
    let body = |account: u32| json!({ "email": format!("user{account}@example.com"), "password": "correct horse battery" });
    for account in 0..ACCOUNTS {
        let mut sign_up = body(account);
        sign_up["verification_callback_url"] = "http://localhost:3000/verify".into();
        assert_eq!(caller(account).post("/api/v1/auth/password/sign-up", sign_up).await.status(), 200);
    }
    app.recorder.clear();
    for account in (0..REPETITIONS).flat_map(|_| 0..ACCOUNTS) {
        let answer = caller(account).post("/api/v1/auth/password/sign-in", body(account)).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }
    let mut touches = Touches::new();
    for (operation, body) in app.recorder.calls() {
        count(&mut touches, &operation, &serde_json::from_str(&body).unwrap());
    }
    touches
}

/// The number of items that are used per second under one key at each of [`RATES`], as the cells of
/// a row. Each sign-in uses `share` items under a shared key; any other key belongs to a single
/// account. Numbers above `max` are bold.
fn rates(share: f64, max: f64, is_shared: bool) -> String {
    let mut text = String::new();
    for rate in RATES {
        // The key of an account or of its email address serves only that account. The use of this
        // key therefore grows with the activity of the user, rather than with the load.
        let seen = if is_shared { share * f64::from(rate) / 60.0 } else { f64::from(REPETITIONS) / 60.0 };
        let shown = format!("{seen:.1}");
        let _ = write!(text, " {} |", if seen > max { format!("**{shown}**") } else { shown });
    }
    text
}

#[tokio::test]
async fn the_hottest_keys_match_the_table_of_hot_keys() {
    let mut text = HEAD.to_owned();
    for ((kind, access), keys) in load().await {
        let (all, hottest) = (keys.values().sum::<u32>(), keys.values().max().copied().unwrap_or_default());
        let (each, share) = (f64::from(all) / f64::from(SIGN_INS), f64::from(hottest) / f64::from(SIGN_INS));
        let is_shared = keys.len() < 5;
        let rates = rates(share, if access == "read" { READS } else { WRITES }, is_shared);
        let _ = writeln!(text, "| `{kind}` | {access} | {each:.2} | {:.0} % |{rates}", share / each * 100.0);
    }
    expect_file!["../../infra/hot-keys.md"].assert_eq(&text);
}
