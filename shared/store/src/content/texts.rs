//! The texts of posts, each in an item that never changes.

use jiff::Timestamp;
use model::content::{BlogPost, Content};
use serde::{Deserialize, Serialize};

use crate::content::head::Head;
use crate::content::layout::{BATCH, MAX_ATTEMPTS, key};
use crate::content::posts::{Part, part, part_of};
use crate::optimistic;
use crate::table::{Contention as _, Error, Item, Store, entity};

/// A post with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostText {
    /// The metadata of the post.
    pub post: BlogPost,
    /// The text, in Markdown.
    pub text: String,
    /// The path of the picture for link previews; `None` for previews without a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

impl PostText {
    pub(super) fn of(content: &Content, post: &BlogPost) -> Self {
        let picture = content.picture(&page_of(&post.slug)).map(str::to_owned);
        Self { post: post.clone(), text: content.texts.get(&post.slug).cloned().unwrap_or_default(), picture }
    }
}

/// The path of a post's page, which is the key of the post's picture in the content.
pub(super) fn page_of(slug: &str) -> String {
    format!("/blog/{slug}")
}

fn text(item: Option<Item>) -> Result<PostText, Error> {
    // Another publication may have deleted the text since the head was read.
    entity(item.ok_or_else(Error::conflict)?)
}

impl Store {
    /// The post with this slug and its text, if the post is public at `now`. Costs three
    /// consecutive reads, or two if the post does not exist.
    pub async fn post_text(&self, slug: &str, now: Timestamp) -> Result<Option<PostText>, Error> {
        let found: Result<Option<PostText>, Error> = optimistic!(MAX_ATTEMPTS, |_| {
            let Some(head) = self.head().await? else { return Ok(None) };
            let parts = &head.publication.parts;
            if parts.is_empty() {
                return self.post_without_text(&head, slug).await;
            }
            let found = self.get(&key(&parts[part_of(slug, parts.len())])).await?;
            if found.is_none() && head.earlier.is_none() {
                return Err(Error::conflict());
            }
            let Some(sk) = part(found)?.remove(slug) else { return Ok(None) };
            text(self.get(&key(sk)).await?).map(Some)
        });
        Ok(found?.filter(|found| found.post.is_public(now)))
    }

    /// The post with this slug, from a publication written by an earlier version that did not store
    /// texts.
    async fn post_without_text(&self, head: &Head, slug: &str) -> Result<Option<PostText>, Error> {
        let pages = self.pages(head, &head.publication.pages).await?;
        let found = pages.into_iter().flat_map(|page| page.posts).find(|post| post.slug == slug);
        Ok(found.map(|post| PostText { post, text: String::new(), picture: None }))
    }

    /// The posts that are public at `now`, with their texts, newest first. Stops once the texts
    /// read so far, including texts of future posts, exceed `bytes`. Costs one read for the head,
    /// and one for each hundred pages and texts.
    pub async fn post_texts(&self, now: Timestamp, bytes: usize) -> Result<Vec<PostText>, Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            let Some(head) = self.head().await? else { return Ok(Vec::new()) };
            let index = if head.earlier.is_some() { self.index(&head).await? } else { Part::new() };
            let (mut found, mut size) = (Vec::new(), 0);
            for keys in head.publication.pages.chunks(BATCH) {
                let mut texts = Vec::new();
                for page in self.pages(&head, keys).await? {
                    let of_index = page.posts.iter().filter_map(|post| index.get(&post.slug)).cloned();
                    texts.extend(if head.earlier.is_some() { of_index.collect() } else { page.texts });
                }
                for keys in texts.chunks(BATCH) {
                    for item in self.content_items(keys).await? {
                        let text = text(item)?;
                        size += text.text.len();
                        found.extend(Some(text).filter(|text| text.post.is_public(now)));
                    }
                    if size > bytes {
                        return Ok(found);
                    }
                }
            }
            Ok(found)
        })
    }
}
