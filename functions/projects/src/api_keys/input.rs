//! What requests about API keys bring.

use api::http::Route;
use deserr::Deserr;
use errors::KnownError;
use model::project::key_set::MAX_DESCRIPTION;
use model::text::line;
use utoipa::ToSchema;
use wire::id::KeySetId;
use wire::problem::Problems;

/// Refuses a description that is no line, or too long.
pub(crate) fn check_description(text: &str, route: &Route) -> Result<(), KnownError> {
    line::check(text, 0..=MAX_DESCRIPTION).map_err(|error| route.schema_error(&Problems::one("body.description", error)))
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ApiKeyPath {
    pub(crate) id: KeySetId,
}
