//! The public content of the site. A publication replaces all of it in one transaction, and readers
//! see each collection as a whole: site and apps are one item each, posts take as many items as
//! they need, and every item names its publication.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | site, and the number of post items | `CONTENT` | `SITE` | 1 unit to read |
//! | apps | `CONTENT` | `APPS` | 1 unit for each 4 KB (about 20 apps) |
//! | posts, newest first | `CONTENT` | `POSTS#<number>` | one Query; 1 unit for each 4 KB (about 10 posts) of all posts |
//! | where the texts of posts are | `CONTENT` | `SLUGS#<digit>` | 1 unit for each 4 KB (about 40 posts of a sixteenth of all) |
//! | text of a post | `CONTENT` | `TEXT#<time>#<slug>#<number of the publication>` | 1 unit for each 4 KB |
//!
//! The texts do not fit into the transaction ([`texts`]): those that are new are written before it
//! under new keys, and those that are no longer used are deleted after it.
//!
//! Publishing takes 1 read unit and, because it is a transaction, 2 write units for each KB. A read
//! takes one round trip (posts: one for each MB), and visitors' caches keep reads rare. The version
//! of a publication is the digest of its content: publishing the same content again changes nothing
//! for readers, and two people who do so at once do not interfere.

use std::collections::BTreeMap;

use crypto::digest::Digest;
use model::content::{App, BlogPost, Content, Site};

mod layout;
mod texts;

pub use layout::PARTITION;
pub use texts::PostText;

use crate::client::Store;
use crate::content::layout::{MAX_ITEM_BYTES, ROUNDS, Version, pause, size_of};
use crate::content::texts::Index;
use crate::contention::Contention as _;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, string};
use crate::optimistic;
use crate::write::Write;

const POSTS: &str = "POSTS#";
/// DynamoDB permits 4 MB per transaction; this lower maximum leaves room for keys and overhead.
const MAX_TRANSACTION_BYTES: usize = 3_800_000;
impl Store {
    /// The site; `None` before the first publication.
    pub async fn site(&self) -> Result<Option<Site>, Error> {
        self.get(&Key::new(PARTITION, "SITE")).await?.map(site_of).transpose()
    }

    /// All published apps, in the order of the content file.
    pub async fn apps(&self) -> Result<Vec<App>, Error> {
        Ok(self.get(&Key::new(PARTITION, "APPS")).await?.map(entity).transpose()?.unwrap_or_default())
    }

    /// All posts, newest first. Reads the posts again if a publication changed them during the
    /// read.
    pub async fn blog_posts(&self) -> Result<Vec<BlogPost>, Error> {
        optimistic!(ROUNDS, |round| {
            pause(round).await;
            let items = self.post_items().await?;
            if !are_of_one_publication(&items) {
                return Err(Error::conflict());
            }
            let pages: Vec<Vec<BlogPost>> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
            Ok(pages.into_iter().flatten().collect())
        })
    }

    /// Site, apps and posts of one publication, without the texts of posts; `None` before the first
    /// publication. One Query.
    pub async fn content(&self) -> Result<Option<Content>, Error> {
        optimistic!(ROUNDS, |round| {
            pause(round).await;
            let query = self.query().consistent_read(true).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
            let query = query.expression_attribute_values(":pk", string(PARTITION)).expression_attribute_values(":first", string("APPS"));
            let mut items = self.query_all(query.expression_attribute_values(":last", string("SITE"))).await?;
            let Some(site) = items.pop() else { return Ok(None) };
            let (version, apps) = (Version::of_item(&site), items.drain(..items.len().min(1)).next());
            let is_whole = version.as_ref().is_some_and(|version| version.post_items == items.len());
            if !is_whole || items.iter().chain(&apps).any(|item| Version::of_item(item) != version) {
                return Err(Error::conflict());
            }
            let pages: Vec<Vec<BlogPost>> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
            let (site, apps) = (site_of(site)?, apps.map(entity).transpose()?.unwrap_or_default());
            Ok(Some(Content { site, apps, blog_posts: pages.concat(), texts: BTreeMap::new() }))
        })
    }

    /// Replaces everything that the site shows. Fails with [`Error::TooMuch`], changing nothing for
    /// readers, if a text does not fit into an item, or the rest not into one transaction.
    pub async fn publish(&self, content: &Content) -> Result<(), Error> {
        let published: Result<(u64, Index), Error> = optimistic!(ROUNDS, |round| {
            pause(round).await;
            let old = self.get(&Key::new(PARTITION, "SITE")).await?.as_ref().and_then(Version::of_item);
            let number = old.as_ref().map_or(0, |old| old.number) + 1;
            let index = self.write_texts(content, number).await?;
            self.transact(publication(content, old.as_ref(), &index)?).await?;
            Ok((number, index))
        });
        let (number, index) = published?;
        self.delete_unused_texts(number, &index).await
    }

    async fn post_items(&self) -> Result<Vec<Item>, Error> {
        self.query_all(self.content_below(POSTS)).await
    }
}

/// The site of an item. Publications of earlier versions have no number, and other defaults.
fn site_of(item: Item) -> Result<Site, Error> {
    let is_earlier = Version::of_item(&item).is_none_or(|version| version.number == 0);
    let site: Site = entity(item)?;
    Ok(if is_earlier { site.with_current_defaults() } else { site })
}

/// Whether these items are exactly the post items of one publication.
fn are_of_one_publication(items: &[Item]) -> bool {
    let Some(first) = items.first() else { return true };
    let Some(version) = Version::of_item(first) else { return false };
    items.len() == version.post_items && items.iter().all(|item| Version::of_item(item).as_ref() == Some(&version))
}

/// The writes of a publication that follows `old`, on the condition that there has been no other
/// publication since.
fn publication(content: &Content, old: Option<&Version>, index: &Index) -> Result<Vec<Write>, Error> {
    let pages = pages(&content.blog_posts)?;
    check_size(content)?;
    let version = Version { digest: digest(content, &pages)?, post_items: pages.len(), number: old.map_or(0, |old| old.number) + 1 };
    let site = version.mark(Write::put(Key::new(PARTITION, "SITE"), &content.site)?);
    let site = match old {
        None => site.on("attribute_not_exists(pk)"),
        Some(old) => {
            // Publications of earlier versions have no number.
            let is_numbered = if old.number == 0 { "attribute_not_exists(#number)" } else { "#number = :number" };
            let site = site.on(format!("version = :version AND post_items = :post_items AND {is_numbered}")).name("#number", "number");
            let site = site.value(":version", string(&old.digest)).value(":post_items", integer(old.post_items));
            if old.number == 0 { site } else { site.value(":number", integer(old.number)) }
        }
    };
    let mut writes = vec![site, version.mark(Write::put(Key::new(PARTITION, "APPS"), &content.apps)?)];
    for (number, page) in pages.iter().enumerate() {
        writes.push(version.mark(Write::put(page_key(number), page)?));
    }
    let stale = pages.len()..old.map_or(0, |old| old.post_items);
    writes.extend(stale.map(|number| Write::delete(page_key(number))));
    writes.extend(index.writes(|write| version.mark(write))?);
    Ok(writes)
}

fn page_key(number: usize) -> Key {
    Key::new(PARTITION, format!("{POSTS}{number:04}"))
}

/// Divides the posts, in order, into parts that each fit into an item; without posts there are no
/// parts.
fn pages(posts: &[BlogPost]) -> Result<Vec<&[BlogPost]>, Error> {
    let (mut pages, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (index, post) in posts.iter().enumerate() {
        let size = size_of(post)?;
        if size > MAX_ITEM_BYTES {
            return Err(Error::TooMuch(format!("the post {} has {size} bytes; at most {MAX_ITEM_BYTES} fit into an item", post.slug)));
        }
        if index > start && bytes + size > MAX_ITEM_BYTES {
            pages.push(&posts[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += size + 1;
    }
    if start < posts.len() {
        pages.push(&posts[start..]);
    }
    Ok(pages)
}

fn check_size(content: &Content) -> Result<(), Error> {
    let (site, apps, posts) = (size_of(&content.site)?, size_of(&content.apps)?, size_of(&content.blog_posts)?);
    let total = site + apps + posts;
    let too_much =
        |what: &str, bytes: usize, max: usize| Err(Error::TooMuch(format!("{what}: {bytes} bytes; at most {max} can be published")));
    if site > MAX_ITEM_BYTES {
        return too_much("the site", site, MAX_ITEM_BYTES);
    }
    if apps > MAX_ITEM_BYTES {
        return too_much("the apps", apps, MAX_ITEM_BYTES);
    }
    if total > MAX_TRANSACTION_BYTES {
        return too_much("site, apps and posts together", total, MAX_TRANSACTION_BYTES);
    }
    Ok(())
}

/// The digest of the content and of the division of its posts into items.
fn digest(content: &Content, pages: &[&[BlogPost]]) -> Result<String, Error> {
    let json = serde_json::to_vec(&(&content.site, &content.apps, pages)).map_err(|error| Error::Refused(error.to_string()))?;
    Ok(Digest::of_bytes(&json).as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(number: usize, excerpt: usize) -> BlogPost {
        BlogPost {
            slug: format!("post-{number}"),
            title: format!("Post {number}"),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: "x".repeat(excerpt),
            url: format!("https://example.com/blog/post-{number}"),
        }
    }

    fn content(posts: usize, excerpt: usize) -> Content {
        Content {
            site: Site::unpublished("https://example.com"),
            apps: Vec::new(),
            blog_posts: (0..posts).map(|number| post(number, excerpt)).collect(),
            texts: BTreeMap::new(),
        }
    }

    #[test]
    fn posts_are_split_in_order_into_items_of_limited_size() {
        let content = content(5000, 200);
        let pages = pages(&content.blog_posts).unwrap();
        assert!(pages.len() > 1);
        assert_eq!(pages.concat(), content.blog_posts);
        assert!(pages.iter().all(|page| size_of(page).unwrap() <= MAX_ITEM_BYTES + 3));
    }

    #[test]
    fn the_post_items_of_two_publications_fit_into_a_transaction() {
        // The posts of any two neighbouring items would not fit into one item, so there are at most
        // twice as many items as the bytes alone require.
        let most = 2 * MAX_TRANSACTION_BYTES.div_ceil(MAX_ITEM_BYTES);
        assert!(2 + 2 * most + texts::PARTS <= 100);
        let old = Version { digest: "old".to_owned(), post_items: most, number: 7 };
        let writes = publication(&content(1, 0), Some(&old), &Index::default()).unwrap();
        assert_eq!(writes.len(), 2 + most + texts::PARTS);
    }

    #[test]
    fn a_publication_larger_than_a_transaction_is_rejected() {
        let error = publication(&content(10_000, 800), None, &Index::default()).unwrap_err();
        assert!(error.to_string().contains("together"), "{error}");
        let app = App { id: "a".repeat(400_000), display_name: String::new(), subtitle: String::new(), url: String::new() };
        let error = publication(&Content { apps: vec![app], ..content(0, 0) }, None, &Index::default()).unwrap_err();
        assert!(error.to_string().contains("the apps"), "{error}");
    }

    #[test]
    fn a_reader_notices_a_concurrent_publication() {
        let item =
            |version: &str, items: usize| Item::from([("version".to_owned(), string(version)), ("post_items".to_owned(), integer(items))]);
        assert!(are_of_one_publication(&[]));
        assert!(are_of_one_publication(&[item("a", 2), item("a", 2)]));
        assert!(!are_of_one_publication(&[item("a", 2), item("b", 2)]));
        assert!(!are_of_one_publication(&[item("a", 2)]));
        assert!(!are_of_one_publication(&[item("a", 1), item("a", 1)]));
    }
}
