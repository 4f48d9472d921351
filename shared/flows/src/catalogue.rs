//! The public content, kept between requests, and an index for searches. Each request costs one
//! small read of the table; the whole content is read only after a publication.

use std::sync::Arc;

use jiff::Timestamp;
use model::content::search::{Index, SearchHit};
use model::content::{Content, ShownContent};
use store::Store;
use store::content::Edition;
use tokio::sync::RwLock;

/// The catalogue of the current edition, once it has been read.
#[derive(Debug, Default)]
pub struct CatalogueCache(RwLock<Option<Arc<Catalogue>>>);

impl CatalogueCache {
    /// The current catalogue, with at most the newest 10,000 posts and links to `site_url`; `None`
    /// before the first publication. If several requests find a new edition, one reads it while the
    /// others wait.
    pub async fn current(&self, store: &Store, site_url: &str) -> Result<Option<Arc<Catalogue>>, store::Error> {
        let known = self.0.read().await.clone();
        if let Some(known) = known
            && store.is_current(&known.edition).await?
        {
            return Ok(Some(known));
        }
        let mut kept = self.0.write().await;
        if let Some((edition, shown)) = store.edition(kept.as_ref().map(|kept| &kept.edition)).await? {
            let ShownContent { content, total, .. } = shown.at(site_url);
            *kept = Some(Arc::new(Catalogue { edition, index: Index::of(&content), content, total }));
        }
        Ok(kept.clone())
    }

    /// Drops the catalogue, as if the process had just started.
    pub async fn forget(&self) {
        *self.0.write().await = None;
    }
}

/// An edition of the content with absolute URLs, but without the texts of posts. The catalogue
/// includes scheduled posts; responses leave them out.
#[derive(Debug)]
pub struct Catalogue {
    edition: Edition,
    content: Content,
    /// The number of all posts.
    total: usize,
    index: Index,
}

impl Catalogue {
    /// The site, the apps and at most `max` of the newest posts that are public at `now`.
    pub fn newest(&self, max: usize, now: Timestamp) -> ShownContent {
        let later = self.later(now);
        let Content { site, apps, blog_posts, .. } = &self.content;
        let blog_posts = blog_posts.iter().skip(later).take(max).cloned().collect();
        let content = Content { apps: apps.clone(), blog_posts, ..Content::from_site(site.clone()) };
        ShownContent { content, skipped: 0, total: self.total.saturating_sub(later) }
    }

    /// The apps and posts that are public at `now` and match words of a query ([`Index::find`]).
    pub fn find(&self, query: &str, now: Timestamp) -> Vec<SearchHit> {
        self.index.find(&self.content, self.later(now), query)
    }

    /// The number of scheduled posts, which come first because they are the newest.
    fn later(&self, now: Timestamp) -> usize {
        self.content.blog_posts.partition_point(|post| !post.is_public(now))
    }
}
