//! The pages of posts, and the index by which the text of a post is found.
//!
//! Pages and parts of the index never change. Keys of pages and index parts contain the digest of
//! the entity, so a publication writes only the pages and parts that its predecessor lacks. The end
//! of a page depends on the slugs of its posts, so a new post changes one page instead of all later
//! pages.

use std::collections::BTreeMap;

use crypto::digest::Digest;
use model::content::BlogPost;
use serde::{Deserialize, Serialize};

use crate::content::head::Head;
use crate::content::layout::{BATCH, MAX_ITEM_BYTES, key, size_of};
use crate::table::{Contention as _, Error, Item, Store, entity};

/// The average number of posts on a page. On average, a part of the index has fewer than twice this
/// many slugs, unless the index has [`MAX_PARTS`] parts.
const AVERAGE: usize = 64;
/// The maximum number of posts on a page.
const MAX_PAGE: usize = 4 * AVERAGE;
/// The maximum number of index parts, all of which the head lists.
const MAX_PARTS: usize = 1024;

/// Consecutive posts, with the keys of their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Page {
    pub(super) posts: Vec<BlogPost>,
    pub(super) texts: Vec<String>,
}

/// The sort keys of texts by slug: a part of the index.
pub(super) type Part = BTreeMap<String, String>;

/// A hash of the slug. The hash must never change, because it locates a slug in a stored index.
fn hash(slug: &str) -> usize {
    slug.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// The number of the index part that contains a slug, if the index has `parts` parts.
pub(super) fn part_of(slug: &str, parts: usize) -> usize {
    hash(slug) % parts
}

/// Whether a page ends with this post. On average, one post in 64 ends a page: digests begin with
/// each of 64 characters equally often, even if the slugs are numbered.
pub(super) fn is_last(post: &BlogPost) -> bool {
    Digest::of(&post.slug).as_str().starts_with('A')
}

/// Divides posts and the keys of their texts into pages.
pub(super) fn pages(posts: &[(BlogPost, String)]) -> Result<Vec<Page>, Error> {
    let (mut pages, mut page, mut size) = (Vec::new(), Page::default(), 0);
    for (post, text) in posts {
        let needed = size_of(post)? + text.len() + 2;
        if page.posts.len() == MAX_PAGE || (size + needed > MAX_ITEM_BYTES && size > 0) {
            pages.push(std::mem::take(&mut page));
            size = 0;
        }
        size += needed;
        page.posts.push(post.clone());
        page.texts.push(text.clone());
        if is_last(post) {
            pages.push(std::mem::take(&mut page));
            size = 0;
        }
    }
    if !page.posts.is_empty() {
        pages.push(page);
    }
    Ok(pages)
}

/// The index of the texts of these posts.
pub(super) fn index(posts: &[(BlogPost, String)]) -> Vec<Part> {
    let parts = (posts.len() / AVERAGE).next_power_of_two().min(MAX_PARTS);
    let mut index = vec![Part::new(); parts];
    for (post, text) in posts {
        index[part_of(&post.slug, parts)].insert(post.slug.clone(), text.clone());
    }
    index
}

/// The sort keys of texts, read from a part of the index. Earlier versions also stored digests, and
/// did not store empty parts.
pub(super) fn part(item: Option<Item>) -> Result<Part, Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Place {
        Key(String),
        Earlier { sk: String },
    }
    let places: BTreeMap<String, Place> = item.map(entity).transpose()?.unwrap_or_default();
    let key = |place| match place {
        Place::Key(sk) | Place::Earlier { sk } => sk,
    };
    Ok(places.into_iter().map(|(slug, place)| (slug, key(place))).collect())
}

impl Store {
    /// The content items with these sort keys, in the same order. Costs one round trip for each
    /// hundred keys.
    pub(super) async fn content_items(&self, keys: &[String]) -> Result<Vec<Option<Item>>, Error> {
        let reads = keys.chunks(BATCH).map(|some| self.get_many(some.iter().map(key)));
        let batches = futures_util::future::try_join_all(reads).await?;
        let each = keys.chunks(BATCH).zip(batches).flat_map(|(some, mut batch)| some.iter().map(move |sk| batch.take(&key(sk))));
        Ok(each.collect())
    }

    /// The pages of `head` with these keys. Fails with a conflict if the pages have been deleted
    /// because the publication is no longer current.
    pub(super) async fn pages(&self, head: &Head, keys: &[String]) -> Result<Vec<Page>, Error> {
        let items = self.content_items(keys).await?;
        let page = |item: Option<Item>| {
            let item = item.ok_or_else(Error::conflict)?;
            match &head.earlier {
                None => entity(item),
                Some(version) => from_earlier(item, version),
            }
        };
        items.into_iter().map(page).collect()
    }

    /// The sort keys of all texts of a publication, by slug.
    pub(super) async fn index(&self, head: &Head) -> Result<Part, Error> {
        let items = self.content_items(&head.publication.parts).await?;
        let mut index = Part::new();
        for item in items {
            index.extend(part(item)?);
        }
        Ok(index)
    }
}

/// A page written by an earlier version of this program, in which each publication replaced the
/// pages; its `version` must match the head's.
fn from_earlier(item: Item, version: &str) -> Result<Page, Error> {
    if item.get("version").and_then(|found| found.as_s().ok()).is_none_or(|found| found != version) {
        return Err(Error::conflict());
    }
    Ok(Page { posts: entity(item)?, texts: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posts(numbers: std::ops::Range<usize>, excerpt: usize) -> Vec<(BlogPost, String)> {
        let post = |number: usize| BlogPost {
            slug: format!("post-{number}"),
            title: format!("Post {number}"),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: "x".repeat(excerpt),
            url: format!("https://example.com/blog/post-{number}"),
        };
        numbers.rev().map(|number| (post(number), format!("TEXT#{number}"))).collect()
    }

    fn changed(old: &[Page], new: &[Page]) -> usize {
        new.iter().filter(|page| !old.contains(page)).count()
    }

    #[test]
    fn posts_are_divided_in_order_into_pages_that_fit_into_items() {
        for (count, excerpt) in [(0, 0), (1, 200), (10_000, 200), (300, 50_000)] {
            let posts = posts(0..count, excerpt);
            let pages = pages(&posts).unwrap();
            let (found, texts): (Vec<_>, Vec<_>) = pages.iter().map(|page| (page.posts.clone(), page.texts.clone())).unzip();
            assert_eq!(found.concat().into_iter().zip(texts.concat()).collect::<Vec<_>>(), posts);
            assert!(pages.iter().all(|page| size_of(page).unwrap() <= 400_000 && page.posts.len() <= MAX_PAGE));
        }
        let count = pages(&posts(0..10_000, 200)).unwrap().len();
        assert!((50..400).contains(&count), "{count} pages");
    }

    #[test]
    fn a_new_changed_or_deleted_post_changes_few_pages() {
        let all = posts(0..10_000, 200);
        let old = pages(&all).unwrap();
        let grown = pages(&posts(0..10_001, 200)).unwrap();
        assert!(changed(&old, &grown) <= 2, "{}", changed(&old, &grown));
        for place in [0, 1234, 5678, 9999] {
            let (mut other, mut fewer) = (all.clone(), all.clone());
            "Another title".clone_into(&mut other[place].0.title);
            fewer.remove(place);
            assert!(changed(&old, &pages(&other).unwrap()) <= 2, "changed at {place}");
            assert!(changed(&old, &pages(&fewer).unwrap()) <= 4, "deleted at {place}");
        }
    }

    #[test]
    fn the_index_has_each_text_in_the_part_of_its_slug() {
        for count in [0, 1, 64, 10_000] {
            let posts = posts(0..count, 0);
            let index = index(&posts);
            assert!(posts.iter().all(|(post, text)| index[part_of(&post.slug, index.len())].get(&post.slug) == Some(text)));
            assert!(index.iter().all(|part| size_of(part).unwrap() < 30_000), "{count} posts in {} parts", index.len());
        }
    }
}
