//! The parameters of the list of users. Server operations on a single user, except `/users/me`,
//! accept these parameters and ignore them.

use api::product::input::{Flag, Param};
use deserr::Deserr;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::TeamId;

/// The order of a list of users.
#[derive(Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserOrder {
    #[deserr(rename = "signed_up_at")]
    SignedUpAt,
    /// The time of the last activity, accurate to the hour.
    #[deserr(rename = "last_active_at")]
    LastActiveAt,
}

/// The query of an operation on a single user. Filters of the list, which some clients send, are
/// validated but have no effect.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct IgnoredFilters {
    /// Accepted, but ignored.
    pub include_restricted: Flag,
    /// Accepted, but ignored.
    pub include_anonymous: Flag,
    /// Accepted, but ignored.
    pub only_anonymous: Flag,
    /// Accepted, but ignored.
    pub order_by: Option<UserOrder>,
    /// Accepted, but ignored.
    pub desc: Flag,
    /// Accepted, but ignored.
    pub query: Option<String>,
    /// Accepted, but ignored.
    pub starts_with: Option<String>,
    /// Accepted, but ignored.
    pub team_id: Option<TeamId>,
    /// Accepted, but ignored.
    #[schema(value_type = Option<u8>)]
    pub limit: Option<Param<usize>>,
    /// Accepted, but ignored.
    pub cursor: Option<String>,
}
