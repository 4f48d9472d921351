//! Reads the published content, with absolute URLs and with the time of its last change.

use api::content::{Problem, ServedDocument};
use flows::App;
use jiff::Timestamp;
use model::content::search::SearchHit;
use model::content::{self, BlogPost, Content, ShownContent, Site, Window};
use site::{Renderer, catalog, images};
use store::content::{DatedContent, PostText};

/// The name of the start page's document.
pub(crate) const START_PAGE: &str = "docs";

/// The public content of the site from the [catalogue](flows::catalogue), with at most `max` of the
/// newest posts, without their texts. For responses that are not cached.
pub(crate) async fn newest(app: &App, max: usize) -> Result<ShownContent, Problem> {
    let catalogue = app.catalogue.current(&app.store, &app.settings.site_url).await?;
    Ok(catalogue.map_or_else(|| unpublished(app), |catalogue| catalogue.newest(max, app.clock.now())))
}

/// The public apps and posts that contain words of the query.
pub(crate) async fn found(app: &App, query: &str) -> Result<Vec<SearchHit>, Problem> {
    let catalogue = app.catalogue.current(&app.store, &app.settings.site_url).await?;
    Ok(catalogue.map(|catalogue| catalogue.find(query, app.clock.now())).unwrap_or_default())
}

/// The content with the posts in a window of the list.
pub(crate) async fn window(app: &App, window: Window) -> Result<ShownContent, Problem> {
    Ok(dated(app, app.store.content(app.clock.now(), window).await?).value)
}

/// The content before the first publication.
fn unpublished(app: &App) -> ShownContent {
    ShownContent::all(Content::unpublished(&app.settings.site_url))
}

/// Published content with absolute URLs, and the time of its last change.
fn dated(app: &App, published: Option<DatedContent<ShownContent>>) -> DatedContent<ShownContent> {
    let site_url = &app.settings.site_url;
    published.map_or_else(
        || DatedContent { value: unpublished(app), since: None },
        |DatedContent { value, since }| DatedContent {
            since: with_post(since, value.content.blog_posts.first()),
            value: value.at(site_url),
        },
    )
}

/// The public apps.
pub(crate) async fn apps(app: &App) -> Result<Vec<content::App>, Problem> {
    Ok(app.store.apps().await?.into_iter().map(|one| one.at(&app.settings.site_url)).collect())
}

/// The document with this name, rendered from the content. If the document has several pages,
/// `page` is the number of the page, from 0. The start page links to all catalogs.
pub(crate) async fn document(app: &App, name: &str, render: Renderer, page: usize) -> Result<ServedDocument, Problem> {
    let (site_url, max) = (&app.settings.site_url, site::max_posts(name));
    let published = if name == site::FULL {
        app.store.full_content(app.clock.now()).await?
    } else {
        app.store.content(app.clock.now(), Window { skip: page.saturating_mul(max), max }).await?
    };
    let DatedContent { value, since } = dated(app, published);
    if page > 0 && value.content.blog_posts.is_empty() {
        return Err(Problem::RouteNotFound);
    }
    let document = ServedDocument::from(render(&value, site_url)).since(since);
    Ok(if name == START_PAGE { document.with_links(catalog::links(site_url)) } else { document })
}

/// The identity of the site.
pub(crate) async fn site(app: &App) -> Result<Site, Problem> {
    Ok(front(app).await?.value.site)
}

/// The site with the pictures of its pages but without apps and posts, and the time of the last
/// switch between publications.
pub(crate) async fn front(app: &App) -> Result<DatedContent<Content>, Problem> {
    let site_url = &app.settings.site_url;
    let published = app.store.front().await?;
    Ok(published.map_or_else(
        || DatedContent { value: Content::unpublished(site_url), since: None },
        |DatedContent { value, since }| DatedContent { value: value.at(site_url), since },
    ))
}

/// The post with this slug, for readers outside the site. The URLs of the post and of its images
/// are absolute. `None` if the post does not exist or is not public yet.
pub(crate) async fn portable_post(app: &App, slug: &str) -> Result<Option<(BlogPost, String)>, Problem> {
    let found = app.store.post_text(slug, app.clock.now()).await?;
    Ok(found.map(|found| portable(found, &app.settings.site_url)))
}

/// A post and its text. The URLs of the post and its images are absolute.
pub(crate) fn portable(found: PostText, site_url: &str) -> (BlogPost, String) {
    (found.post.at(site_url), images::absolute(&found.text, site_url))
}

/// The time when a document whose newest post is `post` last changed: the time of the last switch
/// between publications or the time when the post became public, whichever is later. `None` if the
/// time of the switch (`since`) is unknown.
pub(crate) fn with_post(since: Option<Timestamp>, post: Option<&BlogPost>) -> Option<Timestamp> {
    let published = post.and_then(|post| post.published_at.parse().ok());
    since.map(|since| published.map_or(since, |published| since.max(published)))
}
