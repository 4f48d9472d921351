//! Publishes content, returns to an earlier publication, and deletes unneeded items.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::content::{App, BlogPost, Content, Site};
use serde::Serialize;

use crate::content::chunks;
use crate::content::head::{Head, PUBLICATION, Publication, Turn, marked};
use crate::content::images;
use crate::content::layout::{APPS, MAX_ATTEMPTS, MAX_ITEM_BYTES, RECORD, SITE, key, number_of, put, record_key, size_of, stem};
use crate::content::posts::{self, part};
use crate::content::texts::{PostText, page_of};
use crate::optimistic;
use crate::table::{Error, Item, Key, Store, Write};

/// The maximum number of kept publications, including the current one.
pub const KEPT: usize = 5;

/// A kept publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPublication {
    /// Its number.
    pub number: u64,
    /// When it was published.
    pub at: Timestamp,
    /// Whether readers see it.
    pub is_current: bool,
}

/// What [`Store::publish`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishResult {
    /// The number of the publication.
    pub number: u64,
    /// The number of written items, not counting the site, the apps and the record; `None` if this
    /// content is already current.
    pub written: Option<usize>,
}

/// The entity of a record: the data that a rollback needs in addition to the [`Publication`].
#[derive(Serialize)]
struct Record<'a> {
    site: &'a Site,
    apps: &'a [App],
}

/// A publication about to be shown, and the items that it needs in addition to those of the current
/// publication.
struct Draft {
    head: Head,
    writes: Vec<Write>,
}

impl Store {
    /// Replaces all content of the site: writes the new items, and then switches readers to them in
    /// one transaction. Writes nothing if exactly this content is already published. Finally
    /// deletes the items that no kept publication needs, even if nothing was written. Fails with
    /// [`Error::TooMuch`] if a part does not fit into an item; readers then keep seeing the old
    /// content.
    pub async fn publish(&self, content: &Content, now: Timestamp) -> Result<PublishResult, Error> {
        let digest = stem("CONTENT", content)?;
        let published: Result<(PublishResult, Head), Error> = optimistic!(MAX_ATTEMPTS, |_| {
            let old = self.head().await?;
            if let Some(old) = old.as_ref().filter(|old| old.is_of(&digest)) {
                return Ok((PublishResult { number: old.publication.number, written: None }, old.clone()));
            }
            let index = match &old {
                Some(old) => self.index(old).await?,
                None => BTreeMap::new(),
            };
            let Draft { head, writes } = draft(content, digest.clone(), old.as_ref(), &index, now)?;
            let written = writes.len();
            self.write_many(writes).await?;
            let apps = marked(put(APPS, &content.apps, "the list of apps")?, &head.publication, &head.turn);
            self.transact([head.replace(old.as_ref())?, apps, record(content, &head)?]).await?;
            Ok((PublishResult { number: head.publication.number, written: Some(written) }, head))
        });
        let (published, head) = published?;
        self.delete_unneeded(&head).await?;
        Ok(published)
    }

    /// The kept publications, newest first. Empty before the first publication, and if the current
    /// publication was written by an earlier version of this program, which did not keep any.
    pub async fn publications(&self) -> Result<Vec<KeptPublication>, Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            let Some(head) = self.head().await? else { return Ok(Vec::new()) };
            let current = head.publication.number;
            let kept = self.records(&head.turn.kept).await?;
            let kept = kept.into_iter().map(|Publication { number, at, .. }| KeptPublication { number, at, is_current: number == current });
            Ok(kept.rev().collect())
        })
    }

    /// Shows an earlier publication again: the publication with the number `to` or, by default, the
    /// one shown before the current one. Returns the publication that is now shown; `None` if the
    /// requested publication does not exist or is not kept.
    pub async fn roll_back(&self, to: Option<u64>, now: Timestamp) -> Result<Option<KeptPublication>, Error> {
        optimistic!(MAX_ATTEMPTS, |_| {
            let Some(old) = self.head().await? else { return Ok(None) };
            let Some(number) = to.or(old.publication.previous).filter(|number| old.turn.kept.contains(number)) else { return Ok(None) };
            let Some(mut record) = self.get(&record_key(number)).await? else { return Ok(None) };
            let (site, apps): (Site, Vec<App>) = (attribute(&mut record, "site")?, attribute(&mut record, "apps")?);
            let publication: Publication = attribute(&mut record, PUBLICATION)?;
            let at = publication.at;
            let head = Head { site, publication, turn: Turn { since: now, ..old.turn.clone() }, earlier: None };
            let apps = marked(Write::put(key(APPS), &apps)?, &head.publication, &head.turn);
            self.transact([head.replace(Some(&old))?, apps]).await?;
            Ok(Some(KeptPublication { number, at, is_current: true }))
        })
    }

    pub(super) async fn records(&self, numbers: &[u64]) -> Result<Vec<Publication>, Error> {
        let mut items = self.get_many(numbers.iter().map(|number| record_key(*number))).await?;
        let records = numbers.iter().filter_map(|number| items.take(&record_key(*number)));
        records.map(|mut record| attribute(&mut record, PUBLICATION)).collect()
    }

    /// Deletes the items that no kept publication needs: items of older publications and of failed
    /// attempts. Items with a number above that of the latest publication are kept, because a
    /// publication may be writing them.
    async fn delete_unneeded(&self, head: &Head) -> Result<(), Error> {
        let mut needed = BTreeSet::new();
        for publication in self.records(&head.turn.kept).await? {
            needed.extend(publication.pages);
            needed.extend(publication.parts);
            needed.extend(publication.images);
            needed.extend(publication.chunks.unwrap_or_default());
        }
        let parts: Vec<String> = needed.iter().filter(|sk| sk.starts_with("SLUGS#")).cloned().collect();
        for item in self.content_items(&parts).await? {
            needed.extend(part(item)?.into_values());
        }
        needed.extend(head.turn.kept.iter().map(|number| record_key(*number).sk));
        needed.extend([SITE.to_owned(), APPS.to_owned()]);
        let found = self.query_all(self.content_keys()).await?;
        let unneeded = found.iter().filter_map(Key::of).filter(|key| {
            let number = key.sk.strip_prefix(RECORD).map_or_else(|| number_of(&key.sk), |number| number.parse().unwrap_or(0));
            number <= head.turn.latest && !needed.contains(&key.sk) && !key.sk.starts_with(images::STORED)
        });
        self.write_many(unneeded.map(Write::delete).collect()).await
    }
}

fn attribute<T: serde::de::DeserializeOwned>(record: &mut Item, name: &str) -> Result<T, Error> {
    let value = record.remove(name).or_else(|| record.get("d")?.as_m().ok()?.get(name).cloned());
    let value = value.ok_or_else(|| Error::Refused(format!("the record of a publication has no {name}")))?;
    Ok(serde_dynamo::from_attribute_value(value)?)
}

/// The new items of a publication.
struct Items {
    number: u64,
    writes: Vec<Write>,
}

impl Items {
    /// The sort key of an item, which may have to be written. The item is written only if `known`,
    /// the sort keys of the previous publication's items, does not contain a key that begins with
    /// `stem`.
    fn key(&mut self, stem: &str, known: &[String], put: impl FnOnce(&str) -> Result<Write, Error>) -> Result<String, Error> {
        if let Some(sk) = known.iter().find(|sk| sk.starts_with(stem)) {
            return Ok(sk.clone());
        }
        let sk = format!("{stem}{}", self.number);
        self.writes.push(put(&sk)?);
        Ok(sk)
    }
}

/// Prepares the publication of this content after `old`; `index` maps slugs to the keys of the
/// texts of `old`.
fn draft(content: &Content, digest: String, old: Option<&Head>, index: &BTreeMap<String, String>, now: Timestamp) -> Result<Draft, Error> {
    let turn = next_turn(old, now);
    let number = turn.latest;
    let mut items = Items { number, writes: Vec::new() };
    let mut posts: Vec<(BlogPost, String)> = Vec::with_capacity(content.blog_posts.len());
    for post in &content.blog_posts {
        let text = PostText::of(content, post);
        let known = index.get(&post.slug).map(std::slice::from_ref).unwrap_or_default();
        let what = || format!("the text of {}", post.slug);
        posts.push((post.clone(), items.key(&stem("TEXT", &text)?, known, |sk| put(sk, &text, &what()))?));
    }
    let known = old.map(|old| old.publication.clone()).unwrap_or_default();
    let mut publication = Publication {
        number,
        digest,
        at: now,
        previous: old.filter(|old| old.earlier.is_none()).map(|old| old.publication.number),
        pictures: pictures_without_posts(content),
        ..Publication::default()
    };
    for page in posts::pages(&posts)? {
        publication.counts.push(page.posts.len());
        publication.pages.push(items.key(&stem("POSTS", &page)?, &known.pages, |sk| put(sk, &page, "a page of posts"))?);
    }
    for part in posts::index(&posts) {
        publication.parts.push(items.key(&stem("SLUGS", &part)?, &known.parts, |sk| put(sk, &part, "a part of the index"))?);
    }
    for list in images::lists(&content.images) {
        publication.images.push(items.key(&stem("IMAGES", &list)?, &known.images, |sk| put(sk, &list, "a list of images"))?);
    }
    let known = known.chunks.unwrap_or_default();
    let chunks = chunks::split(content, now);
    let keys = chunks.iter().map(|chunk| items.key(&stem("FULL", chunk)?, &known, |sk| chunks::put(sk, chunk)));
    publication.chunks = Some(keys.collect::<Result<_, _>>()?);
    // All parts without slugs share one item.
    let mut keys = BTreeSet::new();
    items.writes.retain(|write| keys.insert(write.key().sk.clone()));
    let head = Head { site: content.site.clone(), publication, turn, earlier: None };
    Ok(Draft { head, writes: items.writes })
}

/// The pictures of all pages except posts, whose pictures are stored with their texts.
fn pictures_without_posts(content: &Content) -> BTreeMap<String, String> {
    let mut pictures = content.pictures.clone();
    for post in &content.blog_posts {
        pictures.remove(&page_of(&post.slug));
    }
    pictures
}

/// The kept publications and the time of the switch, after a publication that follows `old`. The
/// newest publications are kept, and the previously shown publication is always kept.
fn next_turn(old: Option<&Head>, now: Timestamp) -> Turn {
    let Some(old) = old else { return Turn { latest: 1, kept: vec![1], since: now } };
    let (latest, shown) = (old.turn.latest + 1, old.publication.number);
    let mut kept: Vec<u64> = old.turn.kept.iter().copied().filter(|number| *number != shown).collect();
    let others = KEPT - 2;
    kept.drain(..kept.len().saturating_sub(others));
    if old.earlier.is_none() {
        kept.push(shown);
    }
    kept.push(latest);
    kept.sort_unstable();
    Turn { latest, kept, since: now }
}

/// The record of a publication, with all data that a rollback needs.
fn record(content: &Content, head: &Head) -> Result<Write, Error> {
    let record = Record { site: &content.site, apps: &content.apps };
    let size = size_of(&record)? + size_of(&head.publication)?;
    if size > MAX_ITEM_BYTES {
        return Err(Error::TooMuch(format!("site, apps and keys have {size} bytes together; at most {MAX_ITEM_BYTES} fit into an item")));
    }
    let write = Write::put(record_key(head.publication.number), &record)?;
    Ok(write.attribute(PUBLICATION, serde_dynamo::to_attribute_value(&head.publication)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: u64, latest: u64, kept: &[u64]) -> Head {
        let (digest, at) = ("x".to_owned(), Timestamp::UNIX_EPOCH);
        Head {
            site: Site::unpublished("https://example.com"),
            publication: Publication { number, digest, at, ..Publication::default() },
            turn: Turn { latest, kept: kept.to_vec(), since: at },
            earlier: None,
        }
    }

    #[test]
    fn the_newest_publications_are_kept_with_the_one_shown_before() {
        let after = |number, latest, kept: &[u64]| next_turn(Some(&head(number, latest, kept)), Timestamp::UNIX_EPOCH).kept;
        assert_eq!(after(1, 1, &[1]), [1, 2]);
        assert_eq!(after(5, 5, &[1, 2, 3, 4, 5]), [2, 3, 4, 5, 6]);
        assert_eq!(after(1, 5, &[1, 2, 3, 4, 5]), [1, 3, 4, 5, 6]);
        let earlier = Head { earlier: Some("v".to_owned()), ..head(3, 3, &[]) };
        assert_eq!(next_turn(Some(&earlier), Timestamp::UNIX_EPOCH).kept, [4]);
    }

    #[test]
    fn a_site_larger_than_its_record_is_rejected() {
        let app = App { id: "a".repeat(400_000), display_name: String::new(), subtitle: String::new(), url: String::new() };
        let site = Site::unpublished("https://example.com");
        let content = Content { apps: vec![app], ..Content::from_site(site) };
        let draft = draft(&content, "x".to_owned(), None, &BTreeMap::new(), Timestamp::UNIX_EPOCH).unwrap();
        assert!(record(&content, &draft.head).unwrap_err().to_string().contains("together"));
    }

    #[test]
    fn a_text_that_does_not_fit_into_an_item_is_rejected_by_its_name() {
        let post = BlogPost {
            slug: "long".to_owned(),
            title: "Long".to_owned(),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: String::new(),
            url: "/blog/long".to_owned(),
        };
        let texts = BTreeMap::from([("long".to_owned(), "x".repeat(400_000))]);
        let content = Content { blog_posts: vec![post], texts, ..Content::unpublished("") };
        let error = draft(&content, "x".to_owned(), None, &BTreeMap::new(), Timestamp::UNIX_EPOCH).err().unwrap();
        assert!(error.to_string().contains("the text of long"), "{error}");
    }
}
