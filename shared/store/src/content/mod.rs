//! The public content of the site. The items of a publication never change, except the site and the
//! apps: one transaction replaces these two to switch readers to the publication, or back to an
//! earlier one.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | site, and the keys of the current publication | `CONTENT` | `SITE` | 1 unit to read for each 4 KB (about 3,000 posts) |
//! | apps | `CONTENT` | `APPS` | 1 unit for each 4 KB (about 20 apps) |
//! | record of a publication, for a rollback | `CONTENT` | `PUBLICATION#<number>` | read only by the gateway |
//! | page of posts, newest first, without texts | `CONTENT` | `POSTS#<digest>#<number>` | about 8 units (64 posts) |
//! | part of the index of texts by slug | `CONTENT` | `SLUGS#<digest>#<number>` | 1 unit for each 4 KB (about 60 posts) |
//! | text of a post | `CONTENT` | `TEXT#<digest>#<number>` | 1 unit for each 4 KB |
//! | names of a publication's images | `CONTENT` | `IMAGES#<digest>#<number>` | read only by the gateway |
//! | record of when an image was stored | `CONTENT` | `IMAGE#<name>` | read only by the gateway |
//! | part of an image, in a table without a bucket | `CONTENT` | `~IMAGE#<name>#<number>` | about 85 units |
//! | chunk of the newest texts, compressed | `CONTENT` | `FULL#<digest>#<number>` | 1 unit for each 4 KB (about 8 KB of texts) |
//!
//! Publishing first writes the pages, index parts, texts, chunks and image lists that the previous
//! publication lacks, under keys that contain the new publication's number. One transaction then
//! writes the site, the apps and the publication's record, on the condition that nobody else has
//! published in the meantime. If two publications interfere, one transaction fails and its
//! publication starts over. The next publication deletes the items of the failed attempt. At most
//! [`KEPT`] publications are kept: the newest ones, and the one that was shown before the current
//! one.
//!
//! A post becomes public at its publication time. The items contain all posts; readers leave out
//! future posts.
//!
//! Publishing reads the keys of all items except the bytes of images (1 unit for each 4 KB of these
//! items). Writing costs 1 unit for each KB of new items, and 2 for each KB of the site, the apps
//! and the record. Readers take one round trip for the site and another one for the pages. Reads
//! are rare because visitors' caches keep the pages.
//!
//! Images are stored before the publication that refers to them ([`images`]).

use jiff::Timestamp;
use model::content::{App, BlogPost, Content, MAX_BYTES, MAX_POSTS, ShownContent, Site, Window};

mod chunks;
mod head;
pub mod images;
mod layout;
mod posts;
mod publish;
mod texts;
mod window;

pub use head::Edition;
pub use layout::PARTITION;
pub use publish::{KEPT, KeptPublication, PublishResult};
pub use texts::PostText;

use crate::content::head::Head;
use crate::content::layout::{APPS, MAX_ATTEMPTS, SITE, key};
use crate::optimistic;
use crate::table::{Error, Item, Store, entity};

/// A part of the content, with the time of the last switch to another publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedContent<T> {
    /// The content.
    pub value: T,
    /// The time when readers were switched to the publication; `None` if it was published by an
    /// earlier version of this program, which did not record the time.
    pub since: Option<Timestamp>,
}

impl<T> DatedContent<T> {
    fn of(head: &Head, value: T) -> Self {
        Self { value, since: head.earlier.is_none().then_some(head.turn.since) }
    }
}

/// The content in the head: the site, and the pictures of all pages except posts.
fn front_of(head: &Head) -> Content {
    Content { pictures: head.publication.pictures.clone(), ..Content::from_site(head.site.clone()) }
}

impl Store {
    /// The site; `None` before the first publication.
    pub async fn site(&self) -> Result<Option<DatedContent<Site>>, Error> {
        Ok(self.head().await?.map(|head| DatedContent::of(&head, head.site.clone())))
    }

    /// The site with the pictures of its pages, without apps and posts; `None` before the first
    /// publication.
    pub async fn front(&self) -> Result<Option<DatedContent<Content>>, Error> {
        Ok(self.head().await?.map(|head| DatedContent::of(&head, front_of(&head))))
    }

    /// All published apps, in the order of the content file.
    pub async fn apps(&self) -> Result<Vec<App>, Error> {
        Ok(self.get(&key(APPS)).await?.map(entity).transpose()?.unwrap_or_default())
    }

    /// A window of the posts that are public at `now`, and the total number of public posts.
    pub async fn blog_posts(&self, now: Timestamp, window: Window) -> Result<(Vec<BlogPost>, usize), Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            match self.head().await? {
                Some(head) => self.posts_of(&head, now, window).await,
                None => Ok((Vec::new(), 0)),
            }
        })
    }

    /// The site, the apps, and a window of the posts that are public at `now`, without their texts,
    /// all from one publication; `None` before the first publication.
    pub async fn content(&self, now: Timestamp, window: Window) -> Result<Option<DatedContent<ShownContent>>, Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            let Some((_, head, apps)) = self.head_with_apps().await? else { return Ok(None) };
            let (blog_posts, total) = self.posts_of(&head, now, window).await?;
            let apps = apps.map(entity).transpose()?.unwrap_or_default();
            let content = Content { apps, blog_posts, ..front_of(&head) };
            Ok(Some(DatedContent::of(&head, ShownContent { content, skipped: window.skip, total })))
        })
    }

    /// Whether this edition is still the current one. One round trip.
    pub async fn is_current(&self, edition: &Edition) -> Result<bool, Error> {
        Ok(self.get(&key(SITE)).await?.is_some_and(|item| Edition::of(&item) == *edition))
    }

    /// The current edition, with its site, its apps and its newest [`MAX_POSTS`] posts, including
    /// future posts, but without texts. `None` if the caller already has this edition, or before
    /// the first publication.
    pub async fn edition(&self, known: Option<&Edition>) -> Result<Option<(Edition, ShownContent)>, Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            let Some((edition, head, apps)) = self.head_with_apps().await? else { return Ok(None) };
            if known == Some(&edition) {
                return Ok(None);
            }
            let (blog_posts, total) = self.posts_of(&head, Timestamp::MAX, Window::newest(MAX_POSTS)).await?;
            let apps = apps.map(entity).transpose()?.unwrap_or_default();
            let content = Content { apps, blog_posts, ..front_of(&head) };
            Ok(Some((edition, ShownContent { content, skipped: 0, total })))
        })
    }

    /// The site, the apps, and the newest posts that are public at `now`, with at most about
    /// [`MAX_BYTES`] of texts; `None` before the first publication. Costs two round trips.
    /// Publications from earlier versions have no chunks, so they cost three round trips, and one
    /// for every hundred posts.
    pub async fn full_content(&self, now: Timestamp) -> Result<Option<DatedContent<ShownContent>>, Error> {
        let found: Result<Option<(Edition, Head, Option<Item>)>, Error> = optimistic!(MAX_ATTEMPTS, |_| { self.head_with_apps().await });
        let Some((_, head, apps)) = found? else { return Ok(None) };
        let publication = &head.publication;
        if let Some(keys) = &publication.chunks
            && let Some(texts) = self.chunks(keys).await?
        {
            let apps = apps.map(entity).transpose()?.unwrap_or_default();
            let content = Content { apps, ..front_of(&head) };
            let later = texts.iter().filter(|text| !text.post.is_public(now)).count();
            let total = publication.counts.iter().sum::<usize>().saturating_sub(later);
            return Ok(Some(DatedContent::of(&head, with_texts(content, texts, now, total))));
        }
        let (shown, texts) = futures_util::try_join!(self.content(now, Window::newest(0)), self.post_texts(now, MAX_BYTES))?;
        Ok(shown.map(|DatedContent { value, since }| DatedContent { value: with_texts(value.content, texts, now, value.total), since }))
    }
}

/// Adds the public posts among `texts` to the content, with their texts.
fn with_texts(content: Content, texts: Vec<PostText>, now: Timestamp, total: usize) -> ShownContent {
    let public = texts.into_iter().filter(|text| text.post.is_public(now));
    let (blog_posts, texts) = public.map(|PostText { post, text, .. }| (post.clone(), (post.slug, text))).unzip();
    ShownContent { content: Content { blog_posts, texts, ..content }, skipped: 0, total }
}
