//! How many items per second 64 writers put into the gateway's file, either with a flush per item
//! or with shared flushes. To run it: `cargo bench -p tests --bench flushes`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use std::time::Instant;

use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt as _, TryStreamExt as _};
use gateway::engine::{Engine, TABLE};
use wire::entropy::Entropy;

const ITEMS: u32 = 4096;
const WRITERS: usize = 64;

async fn items_per_second(shares: bool) -> f64 {
    let file = std::env::temp_dir().join(format!("gatelet-flushes-{}.db", Entropy::system().uuid()));
    let engine = Engine::open(Some(&file), &Entropy::system(), None).await.expect("a file");
    if shares {
        engine.share_commits(&file).expect("shared flushes");
    }
    let (store, begun) = (engine.store(), Instant::now());
    let put = |number: u32| {
        let text = |text: String| AttributeValue::S(text);
        let put = PutItemInput::builder().table_name(TABLE).item("pk", text(format!("X#{number}"))).item("sk", text("X".to_owned()));
        let client = store.client();
        async move { client.call(put).await.map(drop) }
    };
    let written = futures_util::stream::iter((0..ITEMS).map(put)).buffer_unordered(WRITERS).try_collect::<Vec<()>>().await;
    written.expect("items");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    f64::from(ITEMS) / begun.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() {
    for shares in [false, true, false, true] {
        println!("shared: {shares}: {:.0} items/s", items_per_second(shares).await);
    }
}
