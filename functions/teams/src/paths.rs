//! What the operations of this area have in common: path parameters, pages, and permissions of the system as errors.

use api::product::cursor;
use api::product::page::Pagination;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use model::profile_image::{NewImage, Owner};
use model::project::Project;
use model::user::reference::UserRef;
use store::{Write, profile_image};
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};
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

/// The user whom a server names: it need not be there.
pub(crate) fn user_problem(path: &str, message: &str, route: api::http::Route) -> KnownError {
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
    old: Option<crypto::digest::Digest>,
) -> Result<Vec<Write>, store::Error> {
    let owner = owner.into();
    let put = new.upload.as_ref().map(|(digest, upload)| profile_image::put(&project.id, owner, digest, upload)).transpose()?;
    Ok(old.map(|old| profile_image::delete(&project.id, owner, &old)).into_iter().chain(put).collect())
}
