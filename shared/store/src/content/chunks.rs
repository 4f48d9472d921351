//! Compressed chunks of the newest posts, with their texts, for `/llms-full.txt`.
//!
//! A chunk contains consecutive posts, newest first. Like a page, a chunk never changes. Where a
//! chunk ends depends on the slugs of its posts, so a new or changed post affects one chunk and at
//! most a few others. Posts beyond [`MAX_BYTES`] of public texts are not in any chunk, because the
//! document has no room for them.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use model::content::{BlogPost, Content, MAX_BYTES};
use serde::{Deserialize, Serialize};

use crate::content::layout::{MAX_ITEM_BYTES, key};
use crate::content::posts::is_last;
use crate::content::texts::PostText;
use crate::table::{Error, Item, Store, Write};

/// A chunk with at least this many bytes before compression ends at the next post that may end a
/// page.
const MIN_BYTES: usize = 128 * 1024;
/// The maximum size of an unpacked chunk, in bytes. A chunk of a single post may slightly exceed
/// [`MAX_ITEM_BYTES`].
const MAX_UNPACKED: usize = 4 * MAX_ITEM_BYTES;
/// The attribute with the compressed posts.
const PACKED: &str = "packed";

/// A post and the length of its text, as listed in the first line of a chunk; the texts follow that
/// line.
#[derive(Serialize, Deserialize)]
struct Line {
    post: BlogPost,
    bytes: usize,
}

/// The chunks of `content`, newest first. Future posts come before public posts, and do not count
/// towards [`MAX_BYTES`].
pub(super) fn split(content: &Content, now: Timestamp) -> Vec<Vec<PostText>> {
    let (mut chunks, mut chunk, mut size, mut public) = (Vec::new(), Vec::new(), 0, 0);
    for post in &content.blog_posts {
        // `/llms-full.txt` does not show the pictures of pages.
        let text = PostText { picture: None, ..PostText::of(content, post) };
        // Field names and punctuation take 128 bytes.
        let needed = text.text.len() + post.title.len() + post.excerpt.len() + post.url.len() + post.slug.len() + 128;
        if size + needed > MAX_ITEM_BYTES && size > 0 {
            chunks.push(std::mem::take(&mut chunk));
            size = 0;
        }
        size += needed;
        public += if post.is_public(now) { text.text.len() + post.title.len() } else { 0 };
        chunk.push(text);
        if size >= MIN_BYTES && is_last(post) {
            chunks.push(std::mem::take(&mut chunk));
            size = 0;
            // The list stops only at the regular end of a chunk; otherwise, every new post would
            // change the last chunk.
            if public > MAX_BYTES {
                break;
            }
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

pub(super) fn put(sk: &str, chunk: &[PostText]) -> Result<Write, Error> {
    let packed = packed(chunk)?;
    if packed.len() > MAX_ITEM_BYTES + MAX_ITEM_BYTES / 32 {
        return Err(Error::TooMuch(format!(
            "the texts of {} posts have {} bytes when compressed, too many for an item",
            chunk.len(),
            packed.len()
        )));
    }
    Ok(Write::put(key(sk), &chunk.len())?.attribute(PACKED, AttributeValue::B(Blob::new(packed))))
}

fn packed(chunk: &[PostText]) -> Result<Vec<u8>, Error> {
    let lines: Vec<Line> = chunk.iter().map(|PostText { post, text, .. }| Line { post: post.clone(), bytes: text.len() }).collect();
    let mut plain = serde_json::to_string(&lines).map_err(|error| Error::Refused(error.to_string()))?;
    plain.push('\n');
    plain.extend(chunk.iter().map(|text| text.text.as_str()));
    Ok(lz4_flex::compress_prepend_size(plain.as_bytes()))
}

/// The posts of a chunk; `None` if the bytes are not a chunk.
fn unpacked(bytes: &[u8]) -> Option<Vec<PostText>> {
    let size = u32::from_le_bytes(*bytes.first_chunk()?);
    if usize::try_from(size).ok()? > MAX_UNPACKED {
        return None;
    }
    let plain = String::from_utf8(lz4_flex::decompress_size_prepended(bytes).ok()?).ok()?;
    let (lines, mut texts) = plain.split_once('\n')?;
    let mut posts = Vec::new();
    for Line { post, bytes } in serde_json::from_str::<Vec<Line>>(lines).ok()? {
        let (text, rest) = texts.split_at_checked(bytes)?;
        posts.push(PostText { post, text: text.to_owned(), picture: None });
        texts = rest;
    }
    Some(posts)
}

fn chunk(item: &Item) -> Result<Vec<PostText>, Error> {
    let packed = item.get(PACKED).and_then(|packed| packed.as_b().ok());
    packed.and_then(|packed| unpacked(packed.as_ref())).ok_or_else(|| Error::Refused("a chunk of texts cannot be unpacked".to_owned()))
}

impl Store {
    /// The posts of these chunks; `None` if a chunk was deleted by another publication, or by an
    /// earlier version of this program that did not use chunks. Costs one round trip for every
    /// hundred chunks.
    pub(super) async fn chunks(&self, keys: &[String]) -> Result<Option<Vec<PostText>>, Error> {
        let items: Option<Vec<Item>> = self.content_items(keys).await?.into_iter().collect();
        let Some(items) = items else { return Ok(None) };
        let chunks: Vec<Vec<PostText>> = items.iter().map(chunk).collect::<Result<_, _>>()?;
        Ok(Some(chunks.concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(numbers: std::ops::Range<usize>, text: &str) -> Content {
        let post = |number: usize| BlogPost {
            slug: format!("post-{number}"),
            title: format!("Post \"{number}\"\n"),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: "x".repeat(200),
            url: format!("/blog/post-{number}"),
        };
        let blog_posts: Vec<BlogPost> = numbers.rev().map(post).collect();
        let texts = blog_posts.iter().map(|post| (post.slug.clone(), format!("{text}\n# Übung {}", post.slug))).collect();
        Content { blog_posts, texts, ..Content::unpublished("https://example.com") }
    }

    fn now() -> Timestamp {
        "2026-03-02T08:00:00Z".parse().unwrap()
    }

    #[test]
    fn chunks_are_unpacked_as_they_were_packed() {
        for text in ["", "words \\\"\u{1}\n", &"x".repeat(300_000), &"é".repeat(189_000)] {
            let content = content(0..10, text);
            let chunks = split(&content, now());
            for chunk in &chunks {
                let packed = packed(chunk).unwrap();
                assert!(packed.len() < 400_000 && put("FULL#x#1", chunk).is_ok());
                assert_eq!(&unpacked(&packed).unwrap(), chunk);
            }
            let found: Vec<_> = chunks.concat().into_iter().map(|text| text.post).collect();
            assert_eq!(found, content.blog_posts);
        }
    }

    #[test]
    fn damaged_chunks_are_recognised() {
        let good = packed(&split(&content(0..3, "words"), now())[0]).unwrap();
        assert!(unpacked(&good).is_some());
        let huge = [u32::MAX.to_le_bytes().as_slice(), &good[4..]].concat();
        let without_texts = lz4_flex::compress_prepend_size(b"[{\"post\":{},\"bytes\":7}]\n");
        for bad in [&[][..], &good[..9], &good[..good.len() - 5], &huge, &without_texts] {
            assert!(unpacked(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_new_or_changed_post_changes_few_chunks_and_the_last_one_stays() {
        let all = content(0..3000, &"word ".repeat(200));
        let old = split(&all, now());
        assert!((10..40).contains(&old.len()), "{}", old.len());
        let changed = |new: &Content| split(new, now()).iter().filter(|chunk| !old.contains(chunk)).count();
        assert!(changed(&content(0..3001, &"word ".repeat(200))) <= 2);
        for slug in ["post-2999", "post-1500"] {
            let mut other = all.clone();
            other.texts.insert(slug.to_owned(), "Another text.".to_owned());
            assert!(changed(&other) <= 4, "{slug}: {}", changed(&other));
        }
    }

    #[test]
    fn texts_beyond_the_limit_are_in_no_chunk_and_those_of_the_future_do_not_count() {
        let mut content = content(0..9000, &"word ".repeat(200));
        let posts = |content: &Content| split(content, now()).concat();
        let kept = posts(&content);
        let bytes = |texts: &[PostText]| texts.iter().map(|text| text.text.len() + text.post.title.len()).sum::<usize>();
        assert!((MAX_BYTES..2 * MAX_BYTES).contains(&bytes(&kept)), "{}", bytes(&kept));
        assert_eq!(kept[0].post, content.blog_posts[0]);
        for post in &mut content.blog_posts[..1000] {
            post.published_at = "2027-01-01T00:00:00Z".to_owned();
        }
        let public: Vec<PostText> = posts(&content).into_iter().filter(|text| text.post.is_public(now())).collect();
        assert!(bytes(&public) > MAX_BYTES, "{}", bytes(&public));
    }
}
