//! Customers of a project's payments. Gatelet has no payments, and the responses say so. Access is
//! still checked, so that the responses reveal nothing about other users and teams.

use api::http::Route;
use api::product::{Access, Client};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::teams::{enter, limited_to};
use model::permission::Scope;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::TeamId;
use wire::problem::Problems;

/// The permission required to read a team's customer data.
const TEAM_ADMIN: &str = "team_admin";
/// The path of the customer id in schema errors.
const ID: &str = "params.customer_id";

/// The errors of the access check.
pub(crate) const CUSTOMER_ERRORS: &[ErrorCode] = &[
    ErrorCode::UserAuthenticationRequired,
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::Forbidden,
    ErrorCode::TeamNotFound,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::TeamPermissionRequired,
];

/// The kind of a customer.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum CustomerType {
    User,
    Team,
    /// A customer whose id was chosen by the project. Requires server access.
    Custom,
}

/// The customer that a path names.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CustomerPath {
    #[schema(inline)]
    customer_type: CustomerType,
    /// A user's id or `me`, a team's id, or an id that the project has chosen.
    customer_id: String,
}

/// Rejects clients unless their user is the customer or, if the customer is a team, an
/// administrator of the team. Custom customers require server access.
pub(crate) async fn check(access: &Access<Client>, path: &CustomerPath, route: &Route) -> Result<(), Error> {
    let own = limited_to(access)?;
    match path.customer_type {
        CustomerType::User => {
            let user = UserRef::parse(&path.customer_id).map_err(|_| route.schema_error(&Problems::one(ID, "must be a UUID or `me`")))?;
            access.user_id(user)?;
        }
        CustomerType::Team => {
            let team = TeamId::parse(&path.customer_id).map_err(|_| route.schema_error(&Problems::one(ID, "must be a UUID")))?;
            let entered = enter(&access.app.store, access, team, &[], &[]).await?;
            let Some(own) = own else { return Ok(()) };
            let granted = access.project.config.rbac.granted(&entered.member(own)?.grants, Scope::Team, true);
            if !granted.iter().any(|permission| permission.as_str() == TEAM_ADMIN) {
                let (team_id, user_id, permission_id) = (team.to_string(), own.to_string(), TEAM_ADMIN.to_owned());
                return Err(KnownError::TeamPermissionRequired { team_id, user_id, permission_id }.into());
            }
        }
        CustomerType::Custom if own.is_some() => return Err(KnownError::Forbidden.into()),
        CustomerType::Custom => {}
    }
    Ok(())
}
