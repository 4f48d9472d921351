//! The parameters in a provider's response, with which a user returns to the callback.

use api::http::TableAction::{self, BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem};
use deserr::Deserr;
use errors::ErrorCode;
use utoipa::ToSchema;

/// The table actions of the callback operations (GET and POST).
pub(crate) const TABLE: &[TableAction] = &[BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem];

/// The errors of the callback operations (GET and POST): the flow is unknown or has expired, or
/// there is no trusted URL to which the user can be sent. The redirect URL is checked right after
/// the age of the flow. Any later error sends the user to the redirect URL with the error.
pub(crate) const ERRORS: &[ErrorCode] =
    &[ErrorCode::OauthStateNotFound, ErrorCode::OuterOauthTimeout, ErrorCode::RedirectUrlNotWhitelisted];

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderPath {
    pub(crate) provider_id: String,
}

/// The provider's authorization response (RFC 6749 §4.1.2, RFC 9207). Unknown parameters are
/// ignored.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct ProviderAnswer {
    /// The state issued by Gatelet.
    pub(crate) state: String,
    pub(crate) code: Option<String>,
    pub(crate) error: Option<String>,
    /// The provider's description of the error.
    pub(crate) error_description: Option<String>,
    /// The issuer of the response (RFC 9207).
    pub(crate) iss: Option<String>,
    /// The user's name, which Apple sends only at the first sign-in.
    pub(crate) user: Option<String>,
}
