//! Checks the inputs of the operations on API keys.

use api::http::Route;
use deserr::Deserr;
use errors::KnownError;
use model::project::key_set::MAX_DESCRIPTION;
use model::text::line;
use utoipa::ToSchema;
use wire::id::KeySetId;
use wire::problem::Problems;

/// Rejects a description with several lines or too many characters.
pub(crate) fn check_description(text: &str, route: &Route) -> Result<(), KnownError> {
    line::check(text, 0..=MAX_DESCRIPTION).map_err(|error| route.schema_error(&Problems::one("body.description", error)))
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ApiKeyPath {
    pub(crate) id: KeySetId,
}
