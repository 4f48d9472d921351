//! Why the table did not do what was asked.

use aws::Failure;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use model::limit::Refused;

use crate::label::Conflict;
use crate::retry::UNCERTAIN;

/// Why the table did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Conditions did not hold. Nothing was written.
    #[error("the conditions of writes do not hold: {0:?}")]
    Conflict(Conflict),
    /// A limit is reached. Nothing was written.
    #[error("a limit is reached: {0}")]
    Limited(Refused),
    /// Throttled, contended or unreachable, for as long as a request may wait. Nothing was written.
    #[error("the table is not available: {0}")]
    Unavailable(String),
    /// Somebody else changed the same thing each time that it was looked at. Nothing was written.
    #[error("somebody else changed it each time")]
    Contended,
    /// An item is not what this version of the program writes.
    #[error("an item cannot be read")]
    Corrupt(#[from] serde_dynamo::Error),
    #[error("the table refused a request: {0}")]
    Refused(String),
    /// More than one write can take. Nothing was written.
    #[error("this is too much to write at once: {0}")]
    TooMuch(String),
}

/// Whether an answer to the same call was lost before this one.
pub(crate) fn is_uncertain<E>(error: &Failure<E>) -> bool {
    error.raw_response().is_some_and(|answer| answer.headers().contains_key(UNCERTAIN))
}

/// What a failed call means.
pub(crate) fn failure<E: ProvideErrorMetadata + std::fmt::Debug>(error: Failure<E>) -> Error {
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

/// Why a transaction was not made: by conditions, whose positions these are, or for another reason.
pub(crate) enum Cancelled {
    ByConditions(Vec<usize>),
    Otherwise(Error),
}

/// What a cancelled transaction means: conditions first, as trying again would not help them.
pub(crate) fn cancelled(error: Failure<TransactWriteItemsError>) -> Cancelled {
    let SdkError::ServiceError(service) = &error else { return Cancelled::Otherwise(failure(error)) };
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = service.err() else {
        return Cancelled::Otherwise(failure(error));
    };
    let codes: Vec<&str> = cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or_default()).collect();
    let failed: Vec<usize> =
        codes.iter().enumerate().filter(|(_, code)| **code == "ConditionalCheckFailed").map(|(index, _)| index).collect();
    if !failed.is_empty() {
        return Cancelled::ByConditions(failed);
    }
    let retryable = |code: &&str| matches!(*code, "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded");
    let is_retryable = codes.iter().any(retryable);
    Cancelled::Otherwise(if is_retryable { Error::Unavailable(codes.join(" ")) } else { Error::Refused(codes.join(" ")) })
}
