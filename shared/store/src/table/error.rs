//! Errors of table accesses.

use aws::CallError;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use model::limit::Refusal;

use crate::table::label::Conflict;
use crate::table::retry::UNCERTAIN;

/// The error of a failed access to the table or the bucket of images.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A condition failed. Nothing was written.
    #[error("write conditions failed: {0:?}")]
    Conflict(Conflict),
    /// A limit is reached. Nothing was written, but the request may have been counted
    /// ([`crate::limit`]).
    #[error("a rate limit has been reached: {0}")]
    Limited(Refusal),
    /// The table or the bucket was throttled, contended, failing or unreachable, and the request
    /// has no time or attempts left. After a lost response or a server error, the write may have
    /// been executed.
    #[error("the table or the bucket of images is unavailable: {0}")]
    Unavailable(String),
    /// Every attempt conflicted with another request's change to the same item. The change was not
    /// made.
    #[error("other requests kept changing the same item")]
    Contended,
    /// An item does not have the expected format.
    #[error("an item has an unexpected format")]
    Corrupt(#[from] serde_dynamo::Error),
    /// DynamoDB or S3 rejected the request, or the request, the response, an item or the
    /// configuration is invalid.
    #[error("reading or writing data failed: {0}")]
    Refused(String),
    /// The content does not fit into an item, or a broadcast has too many recipients. Readers do
    /// not see a change, but unused items may have been written.
    #[error("too much data to write at once: {0}")]
    TooMuch(String),
}

/// The output of a conditional write; `None` if the condition failed.
pub(crate) fn unless_conflict<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(made) => Ok(Some(made)),
        Err(Error::Conflict(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a conditional write was made; `false` if the condition failed.
pub(crate) fn is_made(result: Result<(), Error>) -> Result<bool, Error> {
    Ok(unless_conflict(result)?.is_some())
}

/// Whether an earlier attempt at this call may have been executed.
pub(crate) fn is_uncertain<E>(error: &CallError<E>) -> bool {
    error.raw_response().is_some_and(|answer| answer.headers().contains_key(UNCERTAIN))
}

/// Translates the error of a failed call.
pub(crate) fn failure<E: ProvideErrorMetadata + std::fmt::Debug>(error: CallError<E>) -> Error {
    match &error {
        SdkError::ServiceError(service) => match service.err().code().unwrap_or_default() {
            "ConditionalCheckFailedException" => Error::Conflict(Conflict::default()),
            _ if service.raw().status().is_server_error() => Error::Unavailable(service.err().code().unwrap_or("5xx").to_owned()),
            "TransactionConflictException"
            | "TransactionInProgressException"
            | "ThrottlingException"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded"
            | "InternalServerError"
            | "ServiceUnavailable" => Error::Unavailable(service.err().code().unwrap_or_default().to_owned()),
            code => Error::Refused(format!("{code}: {}", service.err().message().unwrap_or_default())),
        },
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => Error::Unavailable(format!("{error:?}")),
        _ => Error::Refused(format!("{error:?}")),
    }
}

/// Why a transaction failed: the conditions of the writes at these positions, or another reason.
pub(crate) enum TransactionError {
    ByConditions(Vec<usize>),
    Otherwise(Error),
}

/// Translates the error of a failed transaction. Failed conditions take precedence over all other
/// reasons, because retries would not help.
pub(crate) fn cancelled(error: CallError<TransactWriteItemsError>) -> TransactionError {
    let SdkError::ServiceError(service) = &error else { return TransactionError::Otherwise(failure(error)) };
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = service.err() else {
        return TransactionError::Otherwise(failure(error));
    };
    let codes: Vec<&str> = cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or_default()).collect();
    let failed: Vec<usize> =
        codes.iter().enumerate().filter(|(_, code)| **code == "ConditionalCheckFailed").map(|(index, _)| index).collect();
    if !failed.is_empty() {
        return TransactionError::ByConditions(failed);
    }
    let retryable = |code: &&str| matches!(*code, "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded");
    let is_retryable = codes.iter().any(retryable);
    TransactionError::Otherwise(if is_retryable { Error::Unavailable(codes.join(" ")) } else { Error::Refused(codes.join(" ")) })
}
