//! Batches of unconditional writes.

use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemInput;
use aws_sdk_dynamodb::types::WriteRequest;
use futures_util::future::try_join_all;

use crate::table::client::Store;
use crate::table::error::Error;
use crate::table::retry::Waits;
use crate::table::write::Write;

/// The maximum number of items that DynamoDB writes in one request.
const MAX_ITEMS: usize = 25;
/// The maximum number of concurrent requests.
const AT_ONCE: usize = 8;

impl Store {
    /// Puts and deletes items in any order. Costs one unit for each KB of each item. After a
    /// failure, some items may have been written. Conditions of the writes are ignored.
    pub(crate) async fn write_many(&self, writes: Vec<Write>) -> Result<(), Error> {
        let requests: Vec<WriteRequest> = writes.into_iter().map(Write::request).collect::<Result<_, _>>()?;
        for some in requests.chunks(MAX_ITEMS * AT_ONCE) {
            try_join_all(some.chunks(MAX_ITEMS).map(|batch| self.write_batch(batch.to_vec()))).await?;
        }
        Ok(())
    }

    async fn write_batch(&self, mut pending: Vec<WriteRequest>) -> Result<(), Error> {
        let mut waits = Waits::new(&self.entropy);
        loop {
            let answer = self.ask(BatchWriteItemInput::builder().request_items(&self.table, pending)).await?;
            pending = answer.unprocessed_items.and_then(|mut tables| tables.remove(&self.table)).unwrap_or_default();
            if pending.is_empty() {
                return Ok(());
            }
            if !waits.next().await {
                return Err(Error::Unavailable("DynamoDB left writes unprocessed".to_owned()));
            }
        }
    }
}
