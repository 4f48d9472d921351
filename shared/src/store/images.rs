//! Uploaded pictures of users.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | picture | `U#<P>#<user>` | `IMAGE` | up to 100 units to write (200 with its user), 25 to read |
//!
//! The picture is beside its user and not in it: whoever authenticates or lists users does not pay for it. It is written and deleted in
//! the transaction of its user.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use super::{Error, Key, Store, Write, entity};
use crate::model::id::{ProjectId, UserId};
use crate::model::profile_image::{ImageKind, Upload};

/// What is stored beside the bytes.
#[derive(Serialize, Deserialize)]
struct Stored {
    kind: ImageKind,
    digest: String,
}

fn image_key(project: &ProjectId, user: UserId) -> Key {
    Key::new(format!("U#{project}#{user}"), "IMAGE")
}

/// Writes a user's picture, in place of another.
pub fn put(project: &ProjectId, user: UserId, image: &Upload) -> Result<Write, Error> {
    let stored = Stored { kind: image.kind, digest: image.digest().to_string() };
    let write = Write::put(image_key(project, user), &stored)?;
    Ok(write.attribute("bytes", AttributeValue::B(Blob::new(image.bytes.clone()))))
}

pub fn delete(project: &ProjectId, user: UserId) -> Write {
    Write::delete(image_key(project, user))
}

impl Store {
    /// The picture of a user, if it has this digest still.
    pub async fn image(&self, project: &ProjectId, user: UserId, digest: &str) -> Result<Option<Upload>, Error> {
        let Some(mut item) = self.get(&image_key(project, user)).await? else { return Ok(None) };
        let bytes = item.remove("bytes");
        let stored: Stored = entity(item)?;
        match bytes {
            Some(AttributeValue::B(bytes)) if stored.digest == digest => Ok(Some(Upload { kind: stored.kind, bytes: bytes.into_inner() })),
            _ => Ok(None),
        }
    }
}
