//! Uploaded pictures of users, of teams, and of members as their teams see them.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | picture of a user | `U#<P>#<user>` | `IMAGE#<digest>` | up to 100 units to write (200 with its user), 25 to read |
//! | picture of a team or a member | `T#<P>#<team>` | `IMAGE#<digest>` | the same |
//!
//! The picture is beside its owner and not in it: whoever authenticates or lists users does not pay for it. It is written and deleted in
//! the transaction of its owner. The digest is in the key, so that whoever makes an address up has nothing read.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::profile_image::{Owner, Upload};
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity};
use crate::write::Write;

fn image_key(project: &ProjectId, owner: Owner, digest: &Digest) -> Key {
    let partition = match owner {
        Owner::User(user) => format!("U#{project}#{user}"),
        Owner::Team(team) => format!("T#{project}#{team}"),
    };
    Key::new(partition, format!("IMAGE#{digest}"))
}

/// Writes a picture under its digest, or under what stands for it.
pub fn put(project: &ProjectId, owner: impl Into<Owner>, digest: &Digest, image: &Upload) -> Result<Write, Error> {
    let write = Write::put(image_key(project, owner.into(), digest), &image.kind)?;
    Ok(write.attribute("bytes", AttributeValue::B(Blob::new(image.bytes.clone()))))
}

pub fn delete(project: &ProjectId, owner: impl Into<Owner>, digest: &Digest) -> Write {
    Write::delete(image_key(project, owner.into(), digest))
}

impl Store {
    /// The picture of an owner that has this digest.
    pub async fn image(&self, project: &ProjectId, owner: impl Into<Owner>, digest: &Digest) -> Result<Option<Upload>, Error> {
        let Some(mut item) = self.get(&image_key(project, owner.into(), digest)).await? else { return Ok(None) };
        let bytes = item.remove("bytes");
        let kind = entity(item)?;
        match bytes {
            Some(AttributeValue::B(bytes)) => Ok(Some(Upload { kind, bytes: bytes.into_inner() })),
            _ => Err(Error::Refused("a picture has no bytes".to_owned())),
        }
    }
}
