//! The DynamoDB operations that the engine supports.

use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::de::DeserializeOwned;

/// Runs an operation of DynamoDB's API on the engine.
///
/// With `loses_answers`, the engine honors the idempotency tokens of transactions. To do so, the
/// engine copies and digests the whole request, and keeps the digest for ten minutes. The copy and
/// the digest are worth the cost only where a response can get lost and the call can be repeated.
pub fn dispatch(database: &Database, operation: &str, body: &[u8], loses_answers: bool) -> Result<String, DynoxideError> {
    match operation {
        "GetItem" => answer(body, |request| database.get_item(request)),
        "BatchGetItem" => answer(body, |request| database.batch_get_item(request)),
        "Query" => answer(body, |request| database.query(request)),
        "Scan" => answer(body, |request| database.scan(request)),
        "PutItem" => answer(body, |request| database.put_item(request)),
        "UpdateItem" => answer(body, |request| database.update_item(request)),
        "DeleteItem" => answer(body, |request| database.delete_item(request)),
        "TransactWriteItems" => answer(body, |mut request: TransactWriteItemsRequest| {
            request.client_request_token = request.client_request_token.filter(|_| loses_answers);
            database.transact_write_items(request)
        }),
        "TransactGetItems" => answer(body, |request| database.transact_get_items(request)),
        "BatchWriteItem" => answer(body, |request| database.batch_write_item(request)),
        "CreateTable" => answer(body, |request| database.create_table(request)),
        "UpdateTable" => answer(body, |request| database.update_table(request)),
        "DescribeTable" => answer(body, |request| database.describe_table(request)),
        "ListTables" => answer(body, |request| database.list_tables(request)),
        "UpdateTimeToLive" => answer(body, |request| database.update_time_to_live(request)),
        "DescribeTimeToLive" => answer(body, |request| database.describe_time_to_live(request)),
        "ListStreams" => answer(body, |request| database.list_streams(request)),
        "DescribeStream" => answer(body, |request| database.describe_stream(request)),
        "GetShardIterator" => answer(body, |request| database.get_shard_iterator(request)),
        "GetRecords" => answer(body, |request| database.get_records(request)),
        _ => Err(DynoxideError::ValidationException(format!("{operation} is not an operation that Gatelet uses"))),
    }
}

fn answer<Q: DeserializeOwned, A: serde::Serialize>(
    body: &[u8],
    run: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| DynoxideError::SerializationException(error.to_string()))?;
    serde_json::to_string(&run(request)?).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
