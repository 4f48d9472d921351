//! Uploaded pictures of users, teams, and members within their teams.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | picture of a user | `U#<P>#<user>` | `IMAGE#<digest>` | up to 100 units to write (200 in a transaction with its user), 25 to read |
//! | picture of a team or a member | `T#<P>#<team>` | `IMAGE#<digest>` | the same |
//!
//! A picture is stored in a separate item, so that authentication and lists of users do not read
//! it. The item is written and deleted in the transaction that changes its user, team or member.
//! The digest is part of the key, so a made-up URL does not lead to a picture.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::profile_image::{Owner, Upload};
use wire::id::ProjectId;

use crate::table::{Error, Key, Store, Write, entity};

fn image_key(project: &ProjectId, owner: Owner, digest: &Digest) -> Key {
    let partition = match owner {
        Owner::User(user) => format!("U#{project}#{user}"),
        Owner::Team(team) => format!("T#{project}#{team}"),
    };
    Key::new(partition, format!("IMAGE#{digest}"))
}

/// Writes a picture under [`Upload::digest`] or, for a member, [`Upload::digest_of_member`].
pub fn put(project: &ProjectId, owner: impl Into<Owner>, digest: &Digest, image: &Upload) -> Result<Write, Error> {
    let write = Write::put(image_key(project, owner.into(), digest), &image.kind)?;
    Ok(write.attribute("bytes", AttributeValue::B(Blob::new(image.bytes.clone()))))
}

/// Deletes a picture.
pub fn delete(project: &ProjectId, owner: impl Into<Owner>, digest: &Digest) -> Write {
    Write::delete(image_key(project, owner.into(), digest))
}

impl Store {
    /// An owner's picture with this digest.
    pub async fn image(&self, project: &ProjectId, owner: impl Into<Owner>, digest: &Digest) -> Result<Option<Upload>, Error> {
        let key = image_key(project, owner.into(), digest);
        let Some(mut item) = self.get(&key).await? else { return Ok(None) };
        let bytes = item.remove("bytes");
        let kind = entity(item)?;
        match bytes {
            Some(AttributeValue::B(bytes)) => Ok(Some(Upload { kind, bytes: bytes.into_inner() })),
            _ => Err(Error::Refused(format!("the picture {} / {} has no bytes", key.pk, key.sk))),
        }
    }
}
