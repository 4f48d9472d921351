//! Opening the engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::operation::describe_time_to_live::DescribeTimeToLiveInput;
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{AttributeValue, TimeToLiveStatus};
use rusqlite::Connection;

use super::*;

/// Rejects calls that turn on the TTL.
struct NoExpiry;

impl Observe for NoExpiry {
    fn before(&self, operation: &str, _: &[u8]) -> Option<InjectedError> {
        let refused = InjectedError::Refused { status: 400, body: r#"{"__type":"ValidationException"}"#.to_owned() };
        (operation == "UpdateTimeToLive").then_some(refused)
    }
}

#[tokio::test]
async fn expiry_is_turned_on_later_if_it_fails_at_the_first_start() {
    let folder = std::env::temp_dir().join(format!("gatelet-engine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("table.db");
    assert!(Engine::open(Some(&file), &Entropy::system(), Some(Arc::new(NoExpiry))).await.is_err());
    let engine = Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
    let found = engine.store().client().call(DescribeTimeToLiveInput::builder().table_name(TABLE)).await.unwrap();
    let status = found.time_to_live_description.and_then(|ttl| ttl.time_to_live_status);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(status, Some(TimeToLiveStatus::Enabled));
}

/// Loses the response to the first attempt to create the table.
struct NoAnswer(AtomicBool);

impl Observe for NoAnswer {
    fn before(&self, operation: &str, _: &[u8]) -> Option<InjectedError> {
        (operation == "CreateTable" && !self.0.swap(true, Ordering::SeqCst)).then_some(InjectedError::AnswerLost)
    }
}

#[tokio::test]
async fn a_table_whose_creation_was_not_answered_is_not_an_error() {
    let engine = Engine::open(None, &Entropy::system(), Some(Arc::new(NoAnswer(AtomicBool::new(false))))).await.unwrap();
    add(&engine).await;
    assert_eq!(number(&engine).await, 1);
}

/// Responds more slowly than AWS is allowed to.
struct SlowAnswers;

impl Observe for SlowAnswers {
    fn pace(&self) -> Option<Duration> {
        Some(Duration::from_secs(60))
    }
}

#[tokio::test(start_paused = true)]
async fn a_starved_engine_answers_late_and_once() {
    let engine = Engine::open(None, &Entropy::system(), Some(Arc::new(SlowAnswers))).await.unwrap();
    add(&engine).await;
    assert_eq!(number(&engine).await, 1);
}

/// The number in the item `A`, `1`, as read by the engine's store.
async fn number(engine: &Engine) -> i64 {
    let key = [("pk", "A"), ("sk", "1")].map(|(name, text)| (name.to_owned(), AttributeValue::S(text.to_owned())));
    let get = GetItemInput::builder().table_name(TABLE).set_key(Some(HashMap::from(key)));
    let item = engine.store().client().call(get).await.unwrap().item;
    item.and_then(|item| item["n"].as_n().ok()?.parse().ok()).unwrap_or_default()
}

/// Adds 1 to the number in the item, through the engine's store.
async fn add(engine: &Engine) {
    let key = [("pk", "A"), ("sk", "1")].map(|(name, text)| (name.to_owned(), AttributeValue::S(text.to_owned())));
    let update = UpdateItemInput::builder().table_name(TABLE).set_key(Some(HashMap::from(key))).update_expression("ADD n :one");
    engine.store().client().call(update.expression_attribute_values(":one", AttributeValue::N("1".to_owned()))).await.unwrap();
}

/// Commands such as `project set` write to the file of a running gateway.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_gateway_that_keeps_items_sees_the_writes_of_commands_beside_it() {
    let folder = std::env::temp_dir().join(format!("gatelet-writers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("table.db");
    let open = async || Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
    let (gateway, command) = (open().await, open().await);
    gateway.keep_items(&file).unwrap();
    let reader = tokio::spawn({
        let gateway = gateway.clone();
        async move {
            let mut last = 0;
            while last < 60 {
                let read = number(&gateway).await;
                assert!(read >= last, "{read} was read after {last}");
                last = read;
            }
        }
    });
    for written in 1..=60 {
        add(if written % 3 == 0 { &gateway } else { &command }).await;
        for _ in 0..3 {
            assert!(number(&gateway).await >= written, "after the write {written}");
            assert_eq!(number(&command).await, written);
        }
    }
    reader.await.unwrap();
    assert!(gateway.recent.is_usable(), "no write is under way");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The statements with which the engine reads the stream's records, and the statement with which
/// `feed` deletes them.
const STATEMENTS: [&str; 3] = [
    "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = 'gatelet'",
    "SELECT * FROM _stream_records WHERE table_name = 'gatelet' AND shard_id = '1' AND CAST(sequence_number AS INTEGER) > 5
     ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 200",
    "DELETE FROM _stream_records WHERE table_name = 'gatelet' AND CAST(sequence_number AS INTEGER) <= 5",
];

/// `SQLite`'s query plans for [`STATEMENTS`].
fn plans(connection: &Connection) -> Vec<String> {
    let plan = |statement: &&str| {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let steps = explained.query_map([], |row| row.get::<_, String>("detail")).unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join(", ")
    };
    STATEMENTS.iter().map(plan).collect()
}

/// If each write read all unprocessed records, the queue of records would keep growing.
#[tokio::test]
async fn no_statement_reads_all_records_of_the_stream() {
    let folder = std::env::temp_dir().join(format!("gatelet-stream-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("table.db");
    let engine = Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
    let new = plans(&Connection::open(&file).unwrap());
    drop(engine);
    // Files from earlier versions do not have the index.
    Connection::open(&file).unwrap().execute_batch("DROP INDEX gatelet_stream_numbers").unwrap();
    let earlier = plans(&Connection::open(&file).unwrap());
    let engine = Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
    let upgraded = plans(&Connection::open(&file).unwrap());
    drop(engine);
    std::fs::remove_dir_all(&folder).unwrap();
    for plan in new.iter().chain(&upgraded) {
        assert!(plan.starts_with("SEARCH ") && plan.contains("INDEX gatelet_stream_numbers") && !plan.contains("TEMP"), "{plan}");
    }
    assert!(earlier.iter().all(|plan| !plan.contains("INDEX gatelet_stream_numbers")), "{earlier:?}");
}
