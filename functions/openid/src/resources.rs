//! The path parameters and the lookup that the operations on resources share.

use api::product::{Access, Admin};
use deserr::Deserr;
use errors::{Error, KnownError};
use store::openid::resource::ResourceRow;
use utoipa::ToSchema;
use wire::id::OauthResourceId;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ResourcePath {
    pub(crate) id: OauthResourceId,
}

pub(crate) async fn found(access: &Access<Admin>, id: OauthResourceId) -> Result<ResourceRow, Error> {
    let row = access.app.store.oauth_resource(&access.project.id, id).await?;
    Ok(row.ok_or(KnownError::OauthResourceNotFound)?)
}
