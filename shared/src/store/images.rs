//! Uploaded pictures of users.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | picture | `U#<P>#<user>` | `IMAGE#<digest>` | up to 100 units to write (200 with its user), 25 to read |
//!
//! The picture is beside its user and not in it: whoever authenticates or lists users does not pay for it. It is written and deleted in
//! the transaction of its user. The digest is in the key, so that whoever makes an address up has nothing read.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::{Error, Key, Store, Write, entity};
use crate::crypto::digest::Digest;
use crate::model::id::{ProjectId, UserId};
use crate::model::profile_image::Upload;

fn image_key(project: &ProjectId, user: UserId, digest: &Digest) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("IMAGE#{digest}"))
}

/// Writes a user's picture.
pub fn put(project: &ProjectId, user: UserId, image: &Upload) -> Result<Write, Error> {
    let write = Write::put(image_key(project, user, &image.digest()), &image.kind)?;
    Ok(write.attribute("bytes", AttributeValue::B(Blob::new(image.bytes.clone()))))
}

pub fn delete(project: &ProjectId, user: UserId, digest: &Digest) -> Write {
    Write::delete(image_key(project, user, digest))
}

impl Store {
    /// The picture of a user that has this digest.
    pub async fn image(&self, project: &ProjectId, user: UserId, digest: &Digest) -> Result<Option<Upload>, Error> {
        let Some(mut item) = self.get(&image_key(project, user, digest)).await? else { return Ok(None) };
        let bytes = item.remove("bytes");
        let kind = entity(item)?;
        match bytes {
            Some(AttributeValue::B(bytes)) => Ok(Some(Upload { kind, bytes: bytes.into_inner() })),
            _ => Err(Error::Refused("a picture has no bytes".to_owned())),
        }
    }
}
