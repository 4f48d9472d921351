//! Reads see every earlier write, even though items of earlier reads are kept.

use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemInput;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{Delete, DeleteRequest, Put, PutRequest, ReturnValue, TransactWriteItem, Update, WriteRequest};
use bytes::Bytes;
use serde_json::json;
use store::table;

use super::*;

/// A partition key with characters that JSON escapes.
const ODD: &str = "a\"\\é\u{7}";

fn with(mut item: Item, value: &str) -> Item {
    item.insert("a".to_owned(), text(value));
    item
}

/// The first page of a partition.
fn page(pk: &str) -> ReadPage {
    ReadPage { table: TABLE.to_owned(), pk: pk.to_owned(), first: "0".to_owned(), last: "~".to_owned(), limit: 9, after: None }
}

impl World {
    /// The item with the given key, read twice without requests: alone, and in a page.
    fn reads(&self, key: &Item) -> [Option<Item>; 2] {
        let key = Key::of(key).unwrap();
        let read = ReadPage { first: key.sk.clone(), last: key.sk.clone(), ..page(&key.pk) };
        let page: Page = self.direct.in_process(read).unwrap();
        let item = rows_here(&self.direct, TABLE, vec![key.clone()]).unwrap().remove(&key);
        [page.rows.first().map(|row| row.item().clone()), item]
    }

    fn item(&self, key: &Item) -> Option<Item> {
        let [one, other] = self.reads(key);
        assert_eq!(one, other);
        one
    }

    fn is_kept(&self, key: &Item) -> bool {
        let key = Key::of(key).unwrap();
        let read = ReadPage { first: key.sk.clone(), last: key.sk.clone(), ..page(&key.pk) };
        let is_page_kept = matches!(self.recent.find_page(&read), Lookup::Kept(_));
        is_page_kept && matches!(self.recent.find(&key), Lookup::Kept(_))
    }

    async fn write(&self, write: TransactWriteItem) {
        self.direct.call(TransactWriteItemsInput::builder().transact_items(write)).await.unwrap();
    }

    async fn write_in_batch(&self, write: WriteRequest) {
        self.direct.call(BatchWriteItemInput::builder().request_items(TABLE, vec![write])).await.unwrap();
    }
}

#[tokio::test]
async fn a_read_sees_writes_of_every_kind() {
    let world = World::new().await;
    for pk in ["A", ODD] {
        let key = key(pk, "1");
        let set = |value: &str| (Some("SET a = :a".to_owned()), Some(HashMap::from([(":a".to_owned(), text(value))])));
        for kind in 0..8 {
            let (own, value) = (key.clone(), kind.to_string());
            world.direct.call(PutItemInput::builder().table_name(TABLE).set_item(Some(with(key.clone(), "before")))).await.unwrap();
            assert_eq!(world.item(&key), Some(with(key.clone(), "before")));
            assert!(world.is_kept(&key));
            let (expression, values) = set(&value);
            let expected = match kind {
                0 => {
                    let put = PutItemInput::builder().table_name(TABLE).set_item(Some(with(own, &value)));
                    world.direct.call(put).await.unwrap();
                    Some(value)
                }
                1 => {
                    let update = UpdateItemInput::builder().table_name(TABLE).set_key(Some(own)).set_update_expression(expression);
                    world.direct.call(update.set_expression_attribute_values(values)).await.unwrap();
                    Some(value)
                }
                2 => {
                    world.direct.call(DeleteItemInput::builder().table_name(TABLE).set_key(Some(own))).await.unwrap();
                    None
                }
                3 => {
                    let put = Put::builder().table_name(TABLE).set_item(Some(with(own, &value))).build().unwrap();
                    world.write(TransactWriteItem::builder().put(put).build()).await;
                    Some(value)
                }
                4 => {
                    let update = Update::builder().table_name(TABLE).set_key(Some(own)).set_update_expression(expression);
                    let update = update.set_expression_attribute_values(values).build().unwrap();
                    world.write(TransactWriteItem::builder().update(update).build()).await;
                    Some(value)
                }
                5 => {
                    let delete = Delete::builder().table_name(TABLE).set_key(Some(own)).build().unwrap();
                    world.write(TransactWriteItem::builder().delete(delete).build()).await;
                    None
                }
                6 => {
                    let put = PutRequest::builder().set_item(Some(with(own, &value))).build().unwrap();
                    world.write_in_batch(WriteRequest::builder().put_request(put).build()).await;
                    Some(value)
                }
                _ => {
                    let delete = DeleteRequest::builder().set_key(Some(own)).build().unwrap();
                    world.write_in_batch(WriteRequest::builder().delete_request(delete).build()).await;
                    None
                }
            };
            assert_eq!(world.item(&key), expected.map(|value| with(key.clone(), &value)), "{kind}");
        }
    }
}

#[tokio::test]
async fn a_read_sees_what_expired_and_what_another_process_wrote() {
    let engine = Engine::open(None, &Entropy::system(), None).await.unwrap();
    let store = engine.store();
    let client = store.client();
    let key = key("A", "1");
    let read = || rows_here(client, TABLE, vec![Key::of(&key).unwrap()]).unwrap().into_values().next();
    let expiring = with(key.clone(), "1").into_iter().chain([(table::TTL.to_owned(), Value::N("1000000000".to_owned()))]).collect();
    client.call(PutItemInput::builder().table_name(TABLE).set_item(Some(expiring))).await.unwrap();
    assert!(read().is_some());
    assert_eq!(engine.expire().await.unwrap(), 1);
    assert_eq!(read(), None);

    for value in ["2", "3"] {
        let put = json!({ "TableName": TABLE, "Item": { "pk": { "S": "A" }, "sk": { "S": "1" }, "a": { "S": value } } });
        assert_eq!(engine.call("PutItem", Bytes::from(put.to_string())).await.0, 200);
        assert_eq!(read(), Some(with(key.clone(), value)));
    }
}

/// Each writer adds 1 to an item and then reads it, while others write and read the same item.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_reads_never_return_an_item_from_before_a_finished_write() {
    const WRITES: i64 = 200;
    let world = Arc::new(World::new().await);
    let key = key("A", "1");
    let number = |item: Option<Item>| item.and_then(|item| item["n"].as_n().ok()?.parse::<i64>().ok()).unwrap_or_default();
    let writers = (0..3).map(|_| {
        let (world, key) = (Arc::clone(&world), key.clone());
        tokio::spawn(async move {
            for _ in 0..WRITES {
                let add = UpdateItemInput::builder().table_name(TABLE).set_key(Some(key.clone())).update_expression("ADD n :one");
                let add = add.expression_attribute_values(":one", Value::N("1".to_owned())).return_values(ReturnValue::AllNew);
                let written = number(world.direct.call(add).await.unwrap().attributes);
                for read in world.reads(&key).map(number) {
                    assert!(read >= written, "{read} was read after {written} had been written");
                }
            }
        })
    });
    let readers = (0..3).map(|_| {
        let (world, key) = (Arc::clone(&world), key.clone());
        tokio::spawn(async move {
            let mut last = 0;
            while last < 3 * WRITES {
                for read in world.reads(&key).map(number) {
                    assert!(read >= last, "{read} was read after {last}");
                    last = read;
                }
                tokio::task::yield_now().await;
            }
        })
    });
    for task in writers.chain(readers).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}
