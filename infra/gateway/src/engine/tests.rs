//! What shared flushes bring.

use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt as _, TryStreamExt as _};
use wire::entropy::Entropy;

use super::{Engine, TABLE};

/// Items in a second that 64 writers put into a file, each with a flush of its own and with shared ones.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures the disk"]
async fn shared_flushes_are_measured() {
    const ITEMS: u32 = 4096;
    for shares in [false, true] {
        let file = std::env::temp_dir().join(format!("gatelet-commits-{}.db", Entropy::system().uuid()));
        let engine = Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
        if shares {
            engine.share_commits(&file).unwrap();
        }
        let (store, begun) = (engine.store(), std::time::Instant::now());
        let put = |number: u32| {
            let text = |text: String| AttributeValue::S(text);
            let put = PutItemInput::builder().table_name(TABLE).item("pk", text(format!("X#{number}"))).item("sk", text("X".to_owned()));
            let client = store.client();
            async move { client.call(put).await.map(drop) }
        };
        futures_util::stream::iter((0..ITEMS).map(put)).buffer_unordered(64).try_collect::<Vec<()>>().await.unwrap();
        println!("shared: {shares}: {:.0} items/s", f64::from(ITEMS) / begun.elapsed().as_secs_f64());
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
    }
}
