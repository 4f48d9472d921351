//! The path parameters shared by the operations on teams, and the schema error for a query without
//! a user or team.

use deserr::Deserr;
use errors::KnownError;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::TeamId;
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPath {
    pub(crate) team_id: TeamId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MemberPath {
    pub(crate) team_id: TeamId,
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
}

/// The schema error for query parameters that must name a user or a team.
pub(crate) fn user_problem(path: &str, message: &str, route: api::http::Route) -> KnownError {
    route.schema_error(&Problems::one(path, message))
}
