//! `GET /api/v1/projects/{project_id}/users/{user_id}/images/{digest}`: returns a picture that a
//! user has uploaded, for use in `<img>`.
//!
//! No credentials are needed, because only callers who could read the user know the URL. The URL
//! contains the digest of the image, so the response can be cached. A new picture gets a new URL,
//! and the old picture is deleted.

use api::http::Route;
use api::http::TableAction::GetItem;
use api::product::input::{IgnoredBody, Nothing};
use api::product::picture::Picture;
use api::product::{Anybody, Input};
use axum::extract::State;
use crypto::digest::Digest;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use utoipa::ToSchema;
use wire::id::{ProjectId, UserId};

pub const ROUTE: Route = Route::get("users-user-image-read", "/api/v1/projects/{project_id}/users/{user_id}/images/{digest}")
    .summary("Returns a picture that a user uploaded")
    .table(&[GetItem])
    .without_secret()
    .media(&["image/*"])
    .partitions(&["U#*"])
    .errors(&[ErrorCode::ProfileImageNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ImagePath {
    project_id: String,
    user_id: String,
    digest: String,
}

pub async fn handle(
    State(app): State<App>,
    _: Anybody,
    Input { path, .. }: Input<IgnoredBody, Nothing, ImagePath>,
) -> Result<Picture, Error> {
    let image = match (ProjectId::parse(&path.project_id), UserId::parse(&path.user_id), Digest::parse(&path.digest)) {
        (Ok(project), Ok(user), Some(digest)) => app.store.image(&project, user, &digest).await?,
        _ => None,
    };
    image.map(Picture).ok_or_else(|| KnownError::ProfileImageNotFound.into())
}
