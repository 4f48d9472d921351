//! Why an operation fails, and which error the client gets. Translates the errors of the crates
//! `model` and `store` into the API's errors.

use axum::response::{IntoResponse, Response};
use model::code::Rejected;
use model::password::Unacceptable;
use model::permission;
use model::project::redirect::Untrusted;
use store::Contention;

use crate::known::KnownError;

/// Why an operation fails: with an error for the client, or for a reason that only the log may
/// contain.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error for the client.
    #[error(transparent)]
    Known(#[from] KnownError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] store::Error),
    /// A secret could not be sealed or opened.
    #[error("a secret could not be sealed or opened")]
    Seal(#[from] crypto::seal::Error),
    /// A provider's configuration is unusable.
    #[error("an OAuth provider is misconfigured")]
    Provider(#[from] model::sign_in::authorization::InvalidEndpoint),
}

impl From<Rejected> for KnownError {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::NotFound => Self::VerificationCodeNotFound,
            Rejected::Expired => Self::VerificationCodeExpired,
            Rejected::AlreadyUsed => Self::VerificationCodeAlreadyUsed,
            Rejected::TooManyAttempts => Self::VerificationCodeMaxAttemptsReached,
        }
    }
}

impl From<Untrusted> for KnownError {
    fn from(untrusted: Untrusted) -> Self {
        Self::RedirectUrlNotWhitelisted(untrusted.to_string())
    }
}

impl From<Untrusted> for Error {
    fn from(untrusted: Untrusted) -> Self {
        Self::Known(untrusted.into())
    }
}

impl From<permission::Refused> for KnownError {
    fn from(refused: permission::Refused) -> Self {
        match refused {
            permission::Refused::NotFound(id) => Self::PermissionNotFound { permission_id: id.to_string() },
            permission::Refused::OtherScope { id, expected, actual } => Self::WrongPermissionScope {
                permission_id: id.to_string(),
                expected_scope: expected.name().to_owned(),
                actual_scope: actual.name().to_owned(),
            },
            permission::Refused::ContainedNotFound(id) => Self::ContainedPermissionNotFound { permission_id: id.to_string() },
            permission::Refused::AlreadyExists(id) => Self::PermissionIdAlreadyExists { permission_id: id.to_string() },
            permission::Refused::Cycle(id) => Self::PermissionContainsItself { permission_id: id.to_string() },
            permission::Refused::TooMany => Self::TooManyPermissions { max: permission::MAX_DEFINITIONS },
        }
    }
}

impl From<permission::Refused> for Error {
    fn from(refused: permission::Refused) -> Self {
        Self::Known(refused.into())
    }
}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        Self::Known(rejected.into())
    }
}

impl From<Unacceptable> for Error {
    fn from(reason: Unacceptable) -> Self {
        Self::Known(match reason {
            Unacceptable::TooShort(min_length) => KnownError::PasswordTooShort { min_length },
            Unacceptable::TooLong(max_length) => KnownError::PasswordTooLong { max_length },
            Unacceptable::Weak(reason) => KnownError::PasswordRequirementsNotMet { message: reason.to_string(), reason },
        })
    }
}

impl Error {
    /// The error for the client. Logs the details that the client must not see.
    pub fn known(self) -> KnownError {
        match self {
            Self::Known(error) => error,
            Self::Store(store::Error::Unavailable(reason)) => {
                tracing::warn!(reason, "the table is unavailable");
                KnownError::ServiceUnavailable
            }
            Self::Store(store::Error::Limited(refused)) => KnownError::RateLimited(refused),
            // The request collided with another change, and may be retried.
            Self::Store(store::Error::Conflict(_) | store::Error::Contended) => KnownError::ServiceUnavailable,
            error => {
                tracing::error!(error = &error as &dyn std::error::Error, source = ?std::error::Error::source(&error), "an operation failed");
                KnownError::InternalError
            }
        }
    }
}

impl Contention for Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(store::Error::Conflict(_)))
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.known().into_response()
    }
}
