//! What the operations of this area have in common: path parameters, pages, and permissions of the system as errors.

use deserr::Deserr;
use shared::App;
use shared::model::id::{TeamId, UserId};
use shared::model::profile_image::{NewImage, Owner};
use shared::model::project::Project;
use shared::model::user_ref::UserRef;
use shared::problem::Problems;
use shared::product_api::cursor;
use shared::product_api::error::{Error, KnownError};
use shared::product_api::page::Pagination;
use shared::store::{self, Write, images};
use utoipa::ToSchema;

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

/// The user whom a server names: it need not be there.
pub(crate) fn user_problem(path: &str, message: &str, route: shared::http::Route) -> KnownError {
    route.schema_error(&Problems::one(path, message))
}

/// The member after whom a page of a team's members begins.
pub(crate) fn after(app: &App, project: &Project, list: &str, given: Option<&str>) -> Result<Option<UserId>, KnownError> {
    let text: Option<String> = given.map(|text| cursor::decode(app, &project.id, list, text)).transpose()?;
    text.map(|text| UserId::parse(&text).map_err(|_| KnownError::InvalidCursor)).transpose()
}

/// The cursor of the page after this member.
pub(crate) fn next(app: &App, project: &Project, list: &str, last: Option<UserId>) -> Result<Pagination, Error> {
    let next_cursor = last.map(|last| cursor::encode(app, &project.id, list, &last.to_string())).transpose()?;
    Ok(Pagination { next_cursor })
}

/// What is written besides when a picture becomes another one.
pub(crate) fn image_writes(
    project: &Project,
    owner: impl Into<Owner>,
    new: &NewImage,
    old: Option<shared::crypto::digest::Digest>,
) -> Result<Vec<Write>, store::Error> {
    let owner = owner.into();
    let put = new.upload.as_ref().map(|(digest, upload)| images::put(&project.id, owner, digest, upload)).transpose()?;
    Ok(old.map(|old| images::delete(&project.id, owner, &old)).into_iter().chain(put).collect())
}
