//! A site's content with its images, and how they are published.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use model::content::Content;
use model::content::image::ImageName;
use store::Store;
use store::content::PublishResult;
use store::content::images::Shelf;

use super::drawing::Drawing;
use super::gallery;

/// The number of images that are stored at the same time.
const AT_ONCE: usize = 8;
/// The maximum number of attempts to store an image, and the wait after the first attempt. The
/// waits after the second and third attempts are two and three times as long.
const MAX_ATTEMPTS: u32 = 4;
const BACKOFF: Duration = Duration::from_millis(500);

/// Validated content with its image files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    pub content: Content,
    /// Suggestions for authors, each with file and line.
    pub warnings: Vec<String>,
    /// The image files by image name.
    pub(super) files: BTreeMap<String, PathBuf>,
}

/// What [`Folder::publish`] did.
#[derive(Debug, PartialEq, Eq)]
pub struct PublishSummary {
    /// The publication.
    pub published: PublishResult,
    /// The number of images stored.
    pub stored: usize,
    /// The number of images deleted.
    pub deleted: usize,
}

/// The source of an image: a file, or a drawing.
enum Origin<'a> {
    File(&'a PathBuf),
    Drawn(&'a Drawing),
}

impl Folder {
    /// Stores missing images, switches readers to the new content, and deletes images that none of
    /// the kept publications needs. Without a shelf, the content must not contain images, and its
    /// pages get no pictures.
    pub async fn publish(&self, store: &Store, shelf: Option<&Shelf>, now: Timestamp) -> anyhow::Result<PublishSummary> {
        let Some(shelf) = shelf else {
            if !self.content.images.is_empty() {
                bail!(
                    "the content has {} images: name the bucket for them with --images (the stack's output ImagesBucket)",
                    self.content.images.len()
                );
            }
            return Ok(PublishSummary { published: store.publish(&self.content, now).await?, stored: 0, deleted: 0 });
        };
        let (content, drawings) = self.illustrated(now);
        let missing = store.missing_images(&content.images, now).await?;
        let stored = missing.len();
        let origin = |name: &String| match drawings.get(name) {
            Some(drawing) => Some(Origin::Drawn(drawing)),
            None => self.files.get(name).map(Origin::File),
        };
        let storing = missing.iter().map(|name| {
            let origin = origin(name);
            async move {
                let origin = origin.with_context(|| format!("no file provides the image {name}"))?;
                put(store, shelf, name, origin, now).await
            }
        });
        stream::iter(storing).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let published = store.publish(&content, now).await?;
        let deleted = store.delete_unneeded_images(shelf, now).await?;
        Ok(PublishSummary { published, stored, deleted })
    }

    /// The content with pictures for the pages that have no image, and the added pictures by name.
    fn illustrated(&self, now: Timestamp) -> (Content, BTreeMap<String, Drawing>) {
        let mut content = self.content.clone();
        let site = &self.content.site.name;
        let lists = [("/docs", site.as_str()), ("/blog", "Blog"), ("/apps", "Apps")];
        let lists = lists.map(|(page, title)| (page.to_owned(), Drawing::of(title, site)));
        let apps = self.content.apps.iter().map(|app| (format!("/apps/{}", app.id), Drawing::of(&app.display_name, site)));
        let posts = self.content.blog_posts.iter().map(|post| {
            let drawing = match self.content.texts.get(&post.slug) {
                Some(text) if !post.is_public(now) => Drawing::from_coming_post(&post.title, site, text),
                _ => Drawing::of(&post.title, site),
            };
            (format!("/blog/{}", post.slug), drawing)
        });
        let mut drawings = BTreeMap::new();
        for (page, drawing) in lists.into_iter().chain(apps).chain(posts) {
            content.pictures.entry(page).or_insert_with(|| {
                let name = drawing.name();
                drawings.insert(name.to_string(), drawing);
                name.path()
            });
        }
        content.images.extend(drawings.keys().cloned());
        (content, drawings)
    }
}

async fn put(store: &Store, shelf: &Shelf, text: &str, origin: Origin<'_>, now: Timestamp) -> anyhow::Result<()> {
    let name: ImageName = text.parse().map_err(|_| anyhow::anyhow!("`{text}` is not the name of an image"))?;
    let bytes = match origin {
        Origin::Drawn(drawing) => drawing.png()?,
        Origin::File(path) => {
            let changed = || format!("{} has changed while it was being published: publish again", path.display());
            let bytes = gallery::read(path).map_err(anyhow::Error::msg).with_context(changed)?;
            if crypto::digest::Digest::from_bytes(&bytes) != name.digest {
                bail!(changed());
            }
            bytes
        }
    };
    for attempt in 1.. {
        match store.store_image(shelf, &name, bytes.clone(), now).await {
            Err(store::Error::Unavailable(_)) if attempt < MAX_ATTEMPTS => tokio::time::sleep(BACKOFF * attempt).await,
            done => return done.with_context(|| format!("cannot store the image {name}")),
        }
    }
    Ok(())
}
