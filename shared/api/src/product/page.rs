//! Pages of lists.

use errors::KnownError;
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::http::route::Route;
use crate::product::input::Param;

/// Where a list goes on.
#[derive(Serialize, ToSchema)]
pub struct Pagination {
    /// Opaque; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// The number of items that a page has, 1 to `most`, or the problem with the one that was asked for.
pub fn limit(given: Option<Param<usize>>, default: usize, most: usize, route: &Route) -> Result<usize, KnownError> {
    match given.map_or(default, |limit| limit.0) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        _ => Err(route.schema_error(&Problems::one("query.limit", format!("must be from 1 to {most}")))),
    }
}
