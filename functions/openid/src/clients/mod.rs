//! The path parameters, the lookup and the check shared by the operations on clients.

use api::http::Route;
use api::product::{Access, Admin};
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::signing_keys;
use store::openid::ClientRow;
use utoipa::ToSchema;
use wire::id::OauthClientId;
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ClientPath {
    pub(crate) id: OauthClientId,
}

pub(crate) async fn found(access: &Access<Admin>, id: OauthClientId) -> Result<ClientRow, Error> {
    let row = access.app.store.oauth_client(&access.project.id, id).await?;
    Ok(row.ok_or(KnownError::OauthClientNotFound)?)
}

/// Checks that the project has an RSA key if tokens are to be signed with RS256.
pub(crate) async fn check_algorithm(access: &Access<Admin>, asks_for_rsa: bool, route: &Route) -> Result<(), Error> {
    if !asks_for_rsa || signing_keys::has_rsa_key(&access.app, &access.project.id).await? {
        return Ok(());
    }
    let problem = "cannot be RS256 before the project has an RSA key: create one with POST /api/v1/internal/signing-keys";
    Err(route.schema_error(&Problems::one("body.signing_algorithm", problem)).into())
}
