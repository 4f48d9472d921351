//! The texts of posts, one item each.
//!
//! An item is never changed: a publication writes the texts that differ from the previous ones
//! under keys with its own number, then switches the index to them in its transaction, and last
//! deletes the items that the index does not name. If two publications interfere, one of them
//! fails at its transaction. What it has written has a number that no later publication uses, so
//! the next one deletes it.

use std::collections::{BTreeMap, BTreeSet};

use crypto::digest::Digest;
use futures_util::future::try_join_all;
use model::content::{BlogPost, Content};
use serde::{Deserialize, Serialize};

use crate::client::Store;
use crate::content::layout::{MAX_ITEM_BYTES, PARTITION, ROUNDS, Version, bytes, pause, size_of};
use crate::contention::Contention as _;
use crate::error::Error;
use crate::item::{Item, Key, entity, key_of};
use crate::optimistic;
use crate::write::Write;

/// The number of items of the index. Each is read to find a text, so they must stay small; all are
/// part of a publication's transaction.
pub(super) const PARTS: usize = 16;
const TEXT: &str = "TEXT#";
const SLUGS: &str = "SLUGS#";
/// How many items are written or deleted at once.
const AT_ONCE: usize = 25;

/// A post with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostText {
    /// The metadata of the post.
    pub post: BlogPost,
    /// The text, in Markdown.
    pub text: String,
}

/// Where the text of a post is, and the digest by which an unchanged one is recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    sk: String,
    digest: String,
}

/// The places of all texts, by slug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index(BTreeMap<String, Place>);

/// The item of the index that has this slug.
fn part_of(slug: &str) -> usize {
    slug.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % PARTS
}

fn part_key(part: usize) -> Key {
    Key::new(PARTITION, format!("{SLUGS}{part:02}"))
}

impl Index {
    /// The writes that replace the index.
    pub(super) fn writes(&self, mark: impl Fn(Write) -> Write) -> Result<Vec<Write>, Error> {
        let mut parts = vec![BTreeMap::new(); PARTS];
        for (slug, place) in &self.0 {
            parts[part_of(slug)].insert(slug, place);
        }
        let write = |(part, slugs): (usize, BTreeMap<&String, &Place>)| {
            if slugs.is_empty() { Ok(Write::delete(part_key(part))) } else { Ok(mark(Write::put(part_key(part), &slugs)?)) }
        };
        parts.into_iter().enumerate().map(write).collect()
    }

    fn of_items(items: Vec<Item>) -> Result<Self, Error> {
        let parts: Vec<BTreeMap<String, Place>> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(Self(parts.into_iter().flatten().collect()))
    }

    fn keys(&self) -> BTreeSet<&str> {
        self.0.values().map(|place| place.sk.as_str()).collect()
    }
}

/// The number of the publication that wrote the text with this key.
fn number_of(sk: &str) -> Option<u64> {
    sk.rsplit_once('#')?.1.parse().ok()
}

impl Store {
    /// The post with this slug and its text. Two reads, one after the other; the same if there is
    /// no such post.
    pub async fn post_text(&self, slug: &str) -> Result<Option<PostText>, Error> {
        optimistic!(ROUNDS, |round| {
            pause(round).await;
            let part: Option<BTreeMap<String, Place>> = self.get(&part_key(part_of(slug))).await?.map(entity).transpose()?;
            let Some(place) = part.and_then(|mut part| part.remove(slug)) else { return self.post_without_text(slug).await };
            // A publication between the two reads may have deleted the text.
            let found = self.get(&Key::new(PARTITION, place.sk)).await?.ok_or_else(Error::conflict)?;
            entity(found).map(Some)
        })
    }

    /// The post with this slug if it was published by a version that did not keep texts.
    async fn post_without_text(&self, slug: &str) -> Result<Option<PostText>, Error> {
        let site = self.get(&Key::new(PARTITION, "SITE")).await?;
        if site.as_ref().and_then(Version::of_item).is_none_or(|version| version.number > 0) {
            return Ok(None);
        }
        let found = self.blog_posts().await?.into_iter().find(|post| post.slug == slug);
        Ok(found.map(|post| PostText { post, text: String::new() }))
    }

    /// The posts with their texts, newest first, until they have this many bytes. One Query for the
    /// index, and one for each MB.
    pub async fn post_texts(&self, bytes: usize) -> Result<Vec<PostText>, Error> {
        let (index, texts) = futures_util::try_join!(self.index(), self.newest_texts(bytes))?;
        let keys = index.keys();
        let current = texts.into_iter().filter(|item| key_of(item).is_some_and(|key| keys.contains(key.sk.as_str())));
        current.map(entity).collect()
    }

    async fn index(&self) -> Result<Index, Error> {
        Index::of_items(self.query_all(self.content_below(SLUGS)).await?)
    }

    async fn newest_texts(&self, bytes: usize) -> Result<Vec<Item>, Error> {
        let query = self.content_below(TEXT).scan_index_forward(false);
        let (mut items, mut next) = self.query_page(query.clone()).await?;
        while next.is_some() && items.iter().map(size_of_item).sum::<usize>() < bytes {
            let (more, after) = self.query_page(query.clone().set_exclusive_start_key(next)).await?;
            items.extend(more);
            next = after;
        }
        Ok(items)
    }

    /// Writes the texts that differ from those of the current publication, for the publication of
    /// this number; returns the index of all texts.
    pub(super) async fn write_texts(&self, content: &Content, number: u64) -> Result<Index, Error> {
        let known = self.index().await?;
        let (mut index, mut writes) = (Index::default(), Vec::new());
        for post in &content.blog_posts {
            let text = PostText { post: post.clone(), text: content.texts.get(&post.slug).cloned().unwrap_or_default() };
            let digest = digest(&text)?;
            let place = match known.0.get(&post.slug).filter(|place| place.digest == digest) {
                Some(place) => place.clone(),
                None => {
                    let place = Place { sk: format!("{TEXT}{}#{}#{number}", post.published_at, post.slug), digest };
                    writes.push(written(&place, &text)?);
                    place
                }
            };
            index.0.insert(post.slug.clone(), place);
        }
        self.write_each(writes).await?;
        Ok(index)
    }

    /// Deletes the texts that the index of the publication of this number does not name. Later
    /// publications may be writing theirs.
    pub(super) async fn delete_unused_texts(&self, number: u64, index: &Index) -> Result<(), Error> {
        let keys = index.keys();
        let query = self.content_below(TEXT).projection_expression("pk, sk");
        let found = self.query_all(query).await?;
        let unused = found.iter().filter_map(key_of).filter(|key| {
            let is_older = number_of(&key.sk).is_some_and(|written| written <= number);
            is_older && !keys.contains(key.sk.as_str())
        });
        self.write_each(unused.map(Write::delete).collect()).await
    }

    async fn write_each(&self, writes: Vec<Write>) -> Result<(), Error> {
        for some in writes.chunks(AT_ONCE) {
            try_join_all(some.iter().cloned().map(|write| self.write_unrecorded(write))).await?;
        }
        Ok(())
    }
}

fn size_of_item(item: &Item) -> usize {
    item.values().map(bytes).sum()
}

fn digest(text: &PostText) -> Result<String, Error> {
    let json = serde_json::to_vec(text).map_err(|error| Error::Refused(error.to_string()))?;
    Ok(Digest::of_bytes(&json).as_str().to_owned())
}

fn written(place: &Place, text: &PostText) -> Result<Write, Error> {
    let size = size_of(text)?;
    if size > MAX_ITEM_BYTES {
        return Err(Error::TooMuch(format!("the text of {} has {size} bytes; at most {MAX_ITEM_BYTES} fit into an item", text.post.slug)));
    }
    Write::put(Key::new(PARTITION, &place.sk), text)
}
