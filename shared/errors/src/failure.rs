//! Why an operation fails, and which error the client gets for it. Translates the errors of the
//! crates `model` and `store` into the API's errors.

use axum::response::{IntoResponse, Response};
use model::code::CodeRefusal;
use model::password::PasswordRefusal;
use model::permission;
use model::project::redirect::RedirectRefusal;
use store::Contention;

use crate::known::KnownError;

/// The failure of an operation: an error for the client, or a reason that must appear only in the
/// log.
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
    /// An access token could not be signed.
    #[error("an access token could not be signed")]
    Signing(#[from] model::session::token::rsa::NoUsableKey),
    /// The configuration of an OAuth provider is unusable.
    #[error("an OAuth provider is misconfigured")]
    Provider(#[from] model::sign_in::authorization::EndpointError),
}

impl From<CodeRefusal> for KnownError {
    fn from(rejected: CodeRefusal) -> Self {
        match rejected {
            CodeRefusal::NotFound => Self::VerificationCodeNotFound,
            CodeRefusal::Expired => Self::VerificationCodeExpired,
            CodeRefusal::AlreadyUsed => Self::VerificationCodeAlreadyUsed,
            CodeRefusal::TooManyAttempts => Self::VerificationCodeMaxAttemptsReached,
        }
    }
}

impl From<RedirectRefusal> for KnownError {
    fn from(untrusted: RedirectRefusal) -> Self {
        Self::RedirectUrlNotWhitelisted(untrusted.to_string())
    }
}

impl From<RedirectRefusal> for Error {
    fn from(untrusted: RedirectRefusal) -> Self {
        Self::Known(untrusted.into())
    }
}

impl From<permission::Refusal> for KnownError {
    fn from(refused: permission::Refusal) -> Self {
        match refused {
            permission::Refusal::NotFound(id) => Self::PermissionNotFound { permission_id: id.to_string() },
            permission::Refusal::OtherScope { id, expected, actual } => Self::WrongPermissionScope {
                permission_id: id.to_string(),
                expected_scope: expected.name().to_owned(),
                actual_scope: actual.name().to_owned(),
            },
            permission::Refusal::ContainedNotFound(id) => Self::ContainedPermissionNotFound { permission_id: id.to_string() },
            permission::Refusal::AlreadyExists(id) => Self::PermissionIdAlreadyExists { permission_id: id.to_string() },
            permission::Refusal::Cycle(id) => Self::PermissionContainsItself { permission_id: id.to_string() },
            permission::Refusal::TooMany => Self::TooManyPermissions { max: permission::MAX_DEFINITIONS },
        }
    }
}

impl From<permission::Refusal> for Error {
    fn from(refused: permission::Refusal) -> Self {
        Self::Known(refused.into())
    }
}

impl From<CodeRefusal> for Error {
    fn from(rejected: CodeRefusal) -> Self {
        Self::Known(rejected.into())
    }
}

impl From<PasswordRefusal> for Error {
    fn from(reason: PasswordRefusal) -> Self {
        Self::Known(match reason {
            PasswordRefusal::TooShort(min_length) => KnownError::PasswordTooShort { min_length },
            PasswordRefusal::TooLong(max_length) => KnownError::PasswordTooLong { max_length },
            PasswordRefusal::Weak(reason) => KnownError::PasswordRequirementsNotMet { message: reason.to_string(), reason },
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
            // The request conflicted with another change; the client may retry it.
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
