//! Reads with requests and reads without them give the same results.

mod recent;
mod requests;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use aws::{Client, Endpoint, Request};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemInput;
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use proptest::collection::vec;
use proptest::prelude::*;
use wire::entropy::Entropy;

use self::requests::{Item, items, key, query, read_page, read_rows, text};
use super::*;
use crate::engine::connector::Connector;
use crate::engine::{Engine, InjectedError, Observe, TABLE};

/// Two clients of one engine, of which `requests` sends requests and the other client reads
/// directly.
struct World {
    requests: Client,
    direct: Client,
    database: Database,
    recent: Arc<RecentReads>,
}

/// A client that reads from the engine without requests.
fn direct(database: &Database, recent: &Arc<RecentReads>, connector: impl HttpConnector + 'static) -> Client {
    let client = Client::new(Endpoint::embedded(), connector);
    client.answered_by(Arc::new(DirectReader::new(database.clone(), Arc::clone(recent))))
}

impl World {
    async fn new() -> Self {
        let engine = Engine::open(None, &Entropy::system(), None).await.unwrap();
        let connector = Connector {
            database: engine.database(),
            outbox_changed: engine.outbox_changed.clone(),
            trails: engine.trails.clone(),
            commits: engine.commits.clone(),
            feed: engine.feed.clone(),
            recent: engine.recent.clone(),
            file: None,
            observer: None,
        };
        let requests = Client::new(Endpoint::embedded(), connector.clone());
        let recent = engine.recent.clone();
        Self { requests, direct: direct(&engine.database(), &recent, connector), database: engine.database(), recent }
    }

    async fn put(&self, item: Item) {
        self.requests.call(PutItemInput::builder().table_name(TABLE).set_item(Some(item))).await.unwrap();
    }

    /// Reads with both clients, and returns the result, which must be the same.
    async fn read<R>(&self, request: R) -> Result<R::Output, String>
    where
        R: Request<Output: PartialEq, Error: ProvideErrorMetadata> + Clone + Debug,
    {
        let one = self.requests.call(request.clone()).await.map_err(described);
        // The second direct read can use items that the first direct read has kept.
        for _ in 0..2 {
            let other = self.direct.call(request.clone()).await.map_err(described);
            assert_eq!(other, one, "{request:?}");
        }
        one
    }

    /// Reads rows once with requests and twice directly. Returns the items by key; `None` if the
    /// engine rejects the read or leaves keys unprocessed.
    async fn rows(&self, read: ReadRows) -> Option<HashMap<Key, Item>> {
        let keys = KeysAndAttributes::builder().set_keys(Some(read.keys.iter().map(item_of).collect())).consistent_read(true);
        let request = BatchGetItemInput::builder().request_items(&read.table, keys.build().unwrap());
        let answer = self.requests.call(request).await.ok();
        let answer = answer.filter(|answer| answer.unprocessed_keys.as_ref().is_none_or(HashMap::is_empty));
        let one = answer.map(|answer| answer.responses.unwrap_or_default().into_values().flatten().map(with_key).collect());
        for _ in 0..2 {
            let rows = rows_here(&self.direct, &read.table, read.keys.clone());
            assert_eq!(rows.ok(), one, "{read:?}");
        }
        one
    }

    /// Like [`Self::rows`], but reads a page: its items, and the sort key after which the next page
    /// begins.
    async fn page(&self, read: ReadPage) -> Option<(Vec<Item>, Option<String>)> {
        let answer = self.requests.call(read.query()).await.ok();
        let one = answer.map(|page| (page.items.unwrap(), page.last_evaluated_key.map(|key| key["sk"].as_s().unwrap().clone())));
        for _ in 0..2 {
            let page = self.direct.in_process::<_, Page>(read.clone());
            let page = page.map(|page| (page.rows.iter().map(|row| row.item().clone()).collect(), page.next));
            assert_eq!(page.ok(), one, "{read:?}");
        }
        one
    }
}

/// Reads rows without requests.
fn rows_here(client: &Client, table: &str, keys: Vec<Key>) -> Result<HashMap<Key, Item>, ReadRows> {
    let rows = client.in_process(ReadRows { table: table.to_owned(), keys });
    rows.map(|Rows(rows)| rows.iter().map(|row| with_key(row.item().clone())).collect())
}

fn with_key(item: Item) -> (Key, Item) {
    (Key::of(&item).unwrap(), item)
}

fn item_of(key: &Key) -> Item {
    requests::key(&key.pk, &key.sk)
}

/// The status and the code of an error. If a request has several faults, the order of a map decides
/// which fault the message names.
fn described<E: ProvideErrorMetadata>(failure: aws::CallError<E>) -> String {
    let status = failure.raw_response().map(|response| response.status().as_u16());
    format!("{status:?} {:?}", failure.code())
}

proptest! {
    #[test]
    fn reads_with_and_without_requests_give_the_same_results(
        items in items(),
        rows in vec(read_rows(), 0..9),
        pages in vec(read_page(), 0..9),
        queries in vec(query(), 0..9),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            for item in items {
                // Some items contain values that tables reject.
                let _ = world.requests.call(PutItemInput::builder().table_name(TABLE).set_item(Some(item))).await;
            }
            for read in rows {
                world.rows(read).await;
            }
            for read in pages {
                world.page(read).await;
            }
            for request in queries {
                let _ = world.read(request.clone()).await;
                let _ = world.read(request.return_consumed_capacity(ReturnConsumedCapacity::Indexes)).await;
            }
        });
    }
}

fn partition_query(pk: &str) -> QueryInputBuilder {
    QueryInput::builder().table_name(TABLE).key_condition_expression("pk = :pk").expression_attribute_values(":pk", text(pk))
}

fn rows_of(sks: impl IntoIterator<Item = String>) -> ReadRows {
    ReadRows { table: TABLE.to_owned(), keys: sks.into_iter().map(|sk| Key::new("A", sk)).collect() }
}

#[tokio::test]
async fn pages_follow_each_other_to_the_end() {
    let world = World::new().await;
    let all = ["1", "2", "3", "4", "5"].map(|sk| key("A", sk));
    for item in &all {
        world.put(item.clone()).await;
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = world.read(partition_query("A").limit(2).set_exclusive_start_key(after)).await.unwrap();
        found.extend(page.items.unwrap());
        after = page.last_evaluated_key;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, all);
    let (first, last) = ("1".to_owned(), "9".to_owned());
    let mut read = ReadPage { table: TABLE.to_owned(), pk: "A".to_owned(), first, last, limit: 2, after: None };
    let mut found = Vec::new();
    loop {
        let (items, next) = world.page(read.clone()).await.unwrap();
        found.extend(items);
        read.after = next;
        if read.after.is_none() {
            break;
        }
    }
    assert_eq!(found, all.into_iter().rev().collect::<Vec<_>>());
}

/// A connector whose requests all fail.
#[derive(Debug)]
struct BrokenConnector;

impl HttpConnector for BrokenConnector {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::ready(Err(ConnectorError::other("no request is expected".into(), None)))
    }
}

#[tokio::test]
async fn usual_reads_make_no_request_and_others_make_one() {
    let world = World::new().await;
    world.put(key("A", "1")).await;
    let client = direct(&world.database, &world.recent, BrokenConnector);
    let found = rows_here(&client, TABLE, vec![Key::new("A", "1"), Key::new("A", "9")]).unwrap();
    assert_eq!(found, HashMap::from([(Key::new("A", "1"), key("A", "1"))]));
    assert!(rows_here(&client, "missing", vec![Key::new("A", "1")]).is_err());
    let query = partition_query("A").scan_index_forward(false).filter_expression("attribute_not_exists(a)").limit(9).consistent_read(true);
    assert_eq!(client.call(query).await.unwrap().items, Some(vec![key("A", "1")]));

    assert!(client.call(partition_query("A").return_consumed_capacity(ReturnConsumedCapacity::Total)).await.is_err());
    assert!(client.call(partition_query("A").table_name("missing")).await.is_err());
    assert!(client.call(PutItemInput::builder().table_name(TABLE).set_item(Some(key("A", "2")))).await.is_err());
}

#[tokio::test]
async fn rows_beyond_the_largest_answer_need_requests() {
    const SIZE: usize = 390_000;
    let (world, count) = (World::new().await, (16 << 20) / SIZE + 2);
    for sk in 0..count {
        world.put(key("A", &sk.to_string()).into_iter().chain([("a".to_owned(), text(&"x".repeat(SIZE)))]).collect()).await;
    }
    assert_eq!(world.rows(rows_of((0..count).map(|sk| sk.to_string()))).await, None);
    assert_eq!(world.rows(rows_of((2..count).map(|sk| sk.to_string()))).await.unwrap().len(), count - 2);
}

/// Records calls, and rejects queries.
#[derive(Default)]
struct CallLog(Mutex<Vec<String>>);

impl Observe for CallLog {
    fn before(&self, operation: &str, _: &[u8]) -> Option<InjectedError> {
        self.0.lock().unwrap().push(operation.to_owned());
        (operation == "Query").then(|| InjectedError::Refused { status: 400, body: r#"{"__type":"ValidationException"}"#.to_owned() })
    }
}

#[tokio::test]
async fn an_observer_sees_every_read_and_can_make_it_fail() {
    let observer = Arc::new(CallLog::default());
    let engine = Engine::open(None, &Entropy::system(), Some(observer.clone())).await.unwrap();
    let client = engine.store().client().clone();
    observer.0.lock().unwrap().clear();
    client.call(GetItemInput::builder().table_name(TABLE).set_key(Some(key("A", "1")))).await.unwrap();
    assert!(rows_here(&client, TABLE, vec![Key::new("A", "1")]).is_err());
    assert!(client.call(partition_query("A")).await.is_err());
    assert_eq!(*observer.0.lock().unwrap(), ["GetItem", "Query"]);
}
