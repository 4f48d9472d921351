//! What a provider sends its users back with.

use api::http::TableAction::{self, BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem};
use deserr::Deserr;
use errors::ErrorCode;
use utoipa::ToSchema;

/// What both ways back do to the table.
pub(crate) const TABLE: &[TableAction] = &[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem];

/// What both ways back say when there is nowhere to send the user.
pub(crate) const ERRORS: &[ErrorCode] = &[ErrorCode::OauthStateNotFound, ErrorCode::RedirectUrlNotWhitelisted];

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderPath {
    pub(crate) provider_id: String,
}

/// What a provider says (RFC 6749 §4.1.2, RFC 9207); what else it says is ignored.
#[derive(Deserr, ToSchema)]
pub struct ProviderAnswer {
    /// Ours.
    pub(crate) state: String,
    #[deserr(default)]
    pub(crate) code: Option<String>,
    #[deserr(default)]
    pub(crate) error: Option<String>,
    /// The issuer that answers (RFC 9207).
    #[deserr(default)]
    pub(crate) iss: Option<String>,
    /// Apple tells the name here, at the first sign-in alone.
    #[deserr(default)]
    pub(crate) user: Option<String>,
}
