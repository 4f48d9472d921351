//! The same reads with and without requests give the same results.

mod recent;
mod requests;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use aws::{Client, Endpoint, Request, Service};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::batch_get_item::builders::BatchGetItemInputBuilder;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use proptest::collection::vec;
use proptest::prelude::*;
use wire::entropy::Entropy;

use self::requests::{Item, batch_get_item, get_item, items, key, query, text};
use super::*;
use crate::engine::connector::Connector;
use crate::engine::{Engine, Fault, Observe, TABLE};

/// Two clients of one engine: one that makes requests, and one that needs none for reads.
struct World {
    requests: Client,
    direct: Client,
    database: Database,
    recent: Arc<Recent>,
}

/// A client that needs no requests to read from the engine.
fn direct(database: &Database, recent: &Arc<Recent>, connector: impl HttpConnector + 'static) -> Client {
    let client = Client::new(Endpoint::local(Service::DynamoDb, "http://embedded.invalid"), connector);
    client.answered_by(Arc::new(Direct::new(database.clone(), Arc::clone(recent))))
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
        let requests = Client::new(Endpoint::local(Service::DynamoDb, "http://embedded.invalid"), connector.clone());
        let recent = engine.recent.clone();
        Self { requests, direct: direct(&engine.database(), &recent, connector), database: engine.database(), recent }
    }

    async fn put(&self, item: Item) {
        self.requests.call(PutItemInput::builder().table_name(TABLE).set_item(Some(item))).await.unwrap();
    }

    /// Makes a read in both ways, and returns its result.
    async fn read<R>(&self, request: R) -> Result<R::Output, String>
    where
        R: Request<Output: PartialEq, Error: ProvideErrorMetadata> + Clone + Debug,
    {
        let one = self.requests.call(request.clone()).await.map_err(described);
        // The second direct read can take items that the first one kept.
        for _ in 0..2 {
            let other = self.direct.call(request.clone()).await.map_err(described);
            assert_eq!(other, one, "{request:?}");
        }
        one
    }
}

/// Status and code of an error. Of several faults in a request, the message names one that depends
/// on the order of a map.
fn described<E: ProvideErrorMetadata>(failure: aws::Failure<E>) -> String {
    let status = failure.raw_response().map(|response| response.status().as_u16());
    format!("{status:?} {:?}", failure.code())
}

proptest! {
    #[test]
    fn reads_with_and_without_requests_give_the_same_results(
        items in items(),
        gets in vec(get_item(), 0..6),
        batches in vec(batch_get_item(), 0..6),
        queries in vec(query(), 0..9),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            for item in items {
                // Some items have values that no table accepts.
                let _ = world.requests.call(PutItemInput::builder().table_name(TABLE).set_item(Some(item))).await;
            }
            for request in gets {
                let _ = world.read(request.clone()).await;
                let _ = world.read(request.return_consumed_capacity(ReturnConsumedCapacity::Total)).await;
            }
            for request in batches {
                let _ = world.read(request.clone()).await;
                let _ = world.read(request.return_consumed_capacity(ReturnConsumedCapacity::Total)).await;
            }
            for request in queries {
                let _ = world.read(request.clone()).await;
                let _ = world.read(request.return_consumed_capacity(ReturnConsumedCapacity::Indexes)).await;
            }
        });
    }
}

fn of_partition(pk: &str) -> QueryInputBuilder {
    QueryInput::builder().table_name(TABLE).key_condition_expression("pk = :pk").expression_attribute_values(":pk", text(pk))
}

fn batch(sks: impl IntoIterator<Item = String>) -> BatchGetItemInputBuilder {
    let keys = sks.into_iter().map(|sk| key("A", &sk)).collect();
    let keys = Keys::builder().set_keys(Some(keys)).consistent_read(true).build().unwrap();
    BatchGetItemInput::builder().request_items(TABLE, keys)
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
        let page = world.read(of_partition("A").limit(2).set_exclusive_start_key(after)).await.unwrap();
        found.extend(page.items.unwrap());
        after = page.last_evaluated_key;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, all);
}

/// A connector over which every request fails.
#[derive(Debug)]
struct Broken;

impl HttpConnector for Broken {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::ready(Err(ConnectorError::other("no request is expected".into(), None)))
    }
}

#[tokio::test]
async fn usual_reads_make_no_request_and_others_make_one() {
    let world = World::new().await;
    world.put(key("A", "1")).await;
    let client = direct(&world.database, &world.recent, Broken);
    let get = GetItemInput::builder().table_name(TABLE).set_key(Some(key("A", "1")));
    assert_eq!(client.call(get.clone().consistent_read(true)).await.unwrap().item, Some(key("A", "1")));
    let found = client.call(batch(["1", "9"].map(str::to_owned))).await.unwrap();
    assert_eq!((found.responses.unwrap()[TABLE].as_slice(), found.unprocessed_keys), ([key("A", "1")].as_slice(), Some(HashMap::new())));
    let query = of_partition("A").scan_index_forward(false).filter_expression("attribute_not_exists(a)").limit(9).consistent_read(true);
    assert_eq!(client.call(query).await.unwrap().items, Some(vec![key("A", "1")]));

    assert!(client.call(get.clone().return_consumed_capacity(ReturnConsumedCapacity::Total)).await.is_err());
    assert!(client.call(get.table_name("missing")).await.is_err());
    assert!(client.call(PutItemInput::builder().table_name(TABLE).set_item(Some(key("A", "2")))).await.is_err());
}

#[tokio::test]
async fn keys_beyond_the_largest_answer_are_left_unprocessed_in_both_ways() {
    const SIZE: usize = 390_000;
    let (world, count) = (World::new().await, (16 << 20) / SIZE + 2);
    for sk in 0..count {
        world.put(key("A", &sk.to_string()).into_iter().chain([("a".to_owned(), text(&"x".repeat(SIZE)))]).collect()).await;
    }
    let read = world.read(batch((0..count).map(|sk| sk.to_string()))).await.unwrap();
    let (found, left) = (read.responses.unwrap()[TABLE].len(), read.unprocessed_keys.unwrap()[TABLE].keys.len());
    assert_eq!((found + left, left > 0), (count, true));
}

/// Notes the calls that it observes, and refuses queries.
#[derive(Default)]
struct Noted(Mutex<Vec<String>>);

impl Observe for Noted {
    fn before(&self, operation: &str, _: &[u8]) -> Option<Fault> {
        self.0.lock().unwrap().push(operation.to_owned());
        (operation == "Query").then(|| Fault::Refused { status: 400, body: r#"{"__type":"ValidationException"}"#.to_owned() })
    }
}

#[tokio::test]
async fn an_observer_sees_every_read_and_can_make_it_fail() {
    let observer = Arc::new(Noted::default());
    let engine = Engine::open(None, &Entropy::system(), Some(observer.clone())).await.unwrap();
    let client = engine.store().client().clone();
    observer.0.lock().unwrap().clear();
    client.call(GetItemInput::builder().table_name(TABLE).set_key(Some(key("A", "1")))).await.unwrap();
    client.call(batch(["1".to_owned()])).await.unwrap();
    assert!(client.call(of_partition("A")).await.is_err());
    assert_eq!(*observer.0.lock().unwrap(), ["GetItem", "BatchGetItem", "Query"]);
}
