//! Stores the pictures of teams and members.

use model::profile_image::{NewImage, Owner};
use model::project::Project;
use store::{Write, profile_image};

/// The additional writes that set, replace or remove a picture.
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
