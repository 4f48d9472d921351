//! The images of publications, which are stored in an S3 bucket or, without a bucket, in the table.
//!
//! An image is named after its content ([`model::content::image`]) and never changes. An image is
//! stored before its publication is shown. Once the bytes are stored, an item records the image, so
//! that the image is not stored again.
//!
//! After a publication, images that no kept publication uses are deleted, unless they were stored
//! within the last hour: another publication may be about to use them.

use std::collections::{BTreeMap, BTreeSet};

use aws::bucket::Bucket;
use aws::connector::AwsHttp;
use aws::{Client, Endpoint};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{SignedDuration, Timestamp};
use model::content::image::{ImageName, PATH};
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::environment;

use crate::content::layout::{BYTES, key};
use crate::table::retry::Retrying;
use crate::table::{Error, Key, Store, Write, entity};

/// The sort-key prefix of the items that record stored images.
pub(super) const STORED: &str = "IMAGE#";
/// The maximum number of image names in one item.
const LIST: usize = 4_000;
/// The maximum number of bytes of an image in one item.
const PART: usize = 350_000;
/// The minimum time for which a stored image is kept, even if no kept publication uses it.
const GRACE: SignedDuration = SignedDuration::from_hours(1);
/// The `Cache-Control` of images: caches may keep images for a year without revalidation.
pub const CACHE: &str = "public, max-age=31536000, immutable";

/// The place where the bytes of images are stored.
#[derive(Clone)]
pub enum Shelf {
    /// In the table.
    Table(Store),
    /// In an S3 bucket.
    Bucket(Bucket),
}

/// The item that records when an image was stored.
#[derive(Serialize, Deserialize)]
struct ImageRecord {
    at: Timestamp,
}

/// A part of an image, with the total number of parts.
#[derive(Serialize, Deserialize)]
struct Part {
    parts: usize,
}

/// Divides image names into lists that fit into items.
pub(super) fn lists(names: &BTreeSet<String>) -> Vec<Vec<&String>> {
    names.iter().collect::<Vec<_>>().chunks(LIST).map(<[_]>::to_vec).collect()
}

/// The key of an image's object in the bucket. The key is the path of the image, because a
/// CloudFront distribution uses the path of the request as the key.
fn object(name: &ImageName) -> String {
    format!("{PATH}{name}").trim_start_matches('/').to_owned()
}

fn parts_of(name: &ImageName) -> String {
    format!("{BYTES}{STORED}{name}#")
}

impl Shelf {
    /// A bucket in the function's region, accessed with the credentials of the function's role.
    /// Failed calls are retried.
    pub fn bucket_from_env(bucket: &str, entropy: &Entropy) -> Result<Self, environment::Error> {
        let http = Retrying::new(AwsHttp::from_env()?, entropy.clone());
        Ok(Self::Bucket(Bucket::new(Client::new(Endpoint::bucket_from_env(bucket)?, http))))
    }

    /// The bytes of an image; `None` if the image is not stored.
    pub async fn get(&self, name: &ImageName) -> Result<Option<Vec<u8>>, Error> {
        match self {
            Self::Table(store) => store.image_bytes(name).await,
            Self::Bucket(bucket) => bucket.get(&object(name)).await.map_err(failed),
        }
    }

    async fn put(&self, name: &ImageName, bytes: Vec<u8>) -> Result<(), Error> {
        match self {
            Self::Table(store) => store.put_image_bytes(name, &bytes).await,
            Self::Bucket(bucket) => bucket.put(&object(name), name.format.media_type(), CACHE, bytes).await.map_err(failed),
        }
    }

    async fn delete(&self, name: &ImageName) -> Result<(), Error> {
        match self {
            Self::Table(store) => store.delete_image_bytes(name).await,
            Self::Bucket(bucket) => bucket.delete(&object(name)).await.map_err(failed),
        }
    }
}

fn failed(error: aws::bucket::Error) -> Error {
    match error {
        aws::bucket::Error::Unavailable(message) => Error::Unavailable(message),
        aws::bucket::Error::Refused(message) => Error::Refused(message),
    }
}

impl Store {
    /// The images that must be stored before a publication can use them. An image that the current
    /// publication does not use counts as missing half an hour after it was stored, because another
    /// publication may be about to delete it.
    pub async fn missing_images(&self, names: &BTreeSet<String>, now: Timestamp) -> Result<Vec<String>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let stored = self.stored_images().await?;
        let shown = match self.head().await? {
            Some(head) => self.image_names(&head.publication.images).await?,
            None => BTreeSet::new(),
        };
        let is_safe = |name: &str| {
            let at = stored.get(name);
            at.is_some_and(|at| shown.contains(name) || *at + GRACE / 2 > now)
        };
        Ok(names.iter().filter(|name| !is_safe(name)).cloned().collect())
    }

    /// Stores an image.
    pub async fn store_image(&self, shelf: &Shelf, name: &ImageName, bytes: Vec<u8>, now: Timestamp) -> Result<(), Error> {
        shelf.put(name, bytes).await?;
        self.write_many(vec![Write::put(key(format!("{STORED}{name}")), &ImageRecord { at: now })?]).await
    }

    /// Deletes the images that no kept publication uses and that were stored at least an hour ago;
    /// returns their number.
    pub async fn delete_unneeded_images(&self, shelf: &Shelf, now: Timestamp) -> Result<usize, Error> {
        let stored = self.stored_images().await?;
        let Some(head) = self.head().await?.filter(|_| !stored.is_empty()) else { return Ok(0) };
        let kept = self.records(&head.turn.kept).await?;
        let lists: Vec<String> = kept.into_iter().flat_map(|publication| publication.images).collect();
        let needed = self.image_names(&lists).await?;
        let unneeded = stored.into_iter().filter(|(name, at)| !needed.contains(name) && *at + GRACE <= now);
        let mut deleted = 0;
        for (name, _) in unneeded {
            // The item is deleted first, so that the image is stored again when it is needed.
            self.write_many(vec![Write::delete(key(format!("{STORED}{name}")))]).await?;
            if let Ok(name) = name.parse() {
                shelf.delete(&name).await?;
            }
            deleted += 1;
        }
        Ok(deleted)
    }

    /// The stored images, and when each was stored.
    async fn stored_images(&self) -> Result<BTreeMap<String, Timestamp>, Error> {
        let items = self.query_all(self.content_below(STORED)).await?;
        let each = items.into_iter().filter_map(|item| {
            let name = Key::of(&item)?.sk.strip_prefix(STORED)?.to_owned();
            Some(entity(item).map(|ImageRecord { at }| (name, at)))
        });
        each.collect()
    }

    /// The names in the lists with these sort keys.
    async fn image_names(&self, lists: &[String]) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        for item in self.content_items(lists).await?.into_iter().flatten() {
            names.extend(entity::<Vec<String>>(item)?);
        }
        Ok(names)
    }

    async fn put_image_bytes(&self, name: &ImageName, bytes: &[u8]) -> Result<(), Error> {
        let start = parts_of(name);
        let whole = Part { parts: bytes.chunks(PART).count() };
        for (number, part) in bytes.chunks(PART).enumerate() {
            let write = Write::put(key(format!("{start}{number:02}")), &whole)?;
            self.write_many(vec![write.attribute("bytes", AttributeValue::B(Blob::new(part)))]).await?;
        }
        Ok(())
    }

    /// The bytes of an image in the table; `None` if one of its parts is missing.
    async fn image_bytes(&self, name: &ImageName) -> Result<Option<Vec<u8>>, Error> {
        let mut parts = self.query_all(self.content_below(&parts_of(name))).await?;
        let (count, mut bytes) = (parts.len(), Vec::new());
        for part in &mut parts {
            if let Some(AttributeValue::B(part)) = part.remove("bytes") {
                bytes.extend(part.into_inner());
            }
        }
        let Some(first) = parts.into_iter().next() else { return Ok(None) };
        Ok(Some(bytes).filter(|_| entity::<Part>(first).is_ok_and(|whole| whole.parts == count)))
    }

    async fn delete_image_bytes(&self, name: &ImageName) -> Result<(), Error> {
        let parts = self.query_all(self.content_below(&parts_of(name)).projection_expression("pk, sk")).await?;
        self.write_many(parts.iter().filter_map(Key::of).map(Write::delete).collect()).await
    }
}
