//! The feeds of the posts, and the sitemap.

use std::fmt::Write as _;

use model::content::{BlogPost, Content, MAX_BYTES};
use serde_json::json;

use crate::document::Document;
use crate::escape::markup;

/// The maximum number of posts in a feed.
pub(crate) const NEWEST: usize = 50;
/// The time of the last update of a feed without posts.
const NEVER: &str = "1970-01-01T00:00:00Z";

fn newest(content: &Content) -> &[BlogPost] {
    &content.blog_posts[..content.blog_posts.len().min(NEWEST)]
}

/// The id of a post in feeds. The id stays the same when the post's URL changes, so that readers do
/// not show the post again.
fn id(post: &BlogPost, site_url: &str) -> String {
    format!("{site_url}/blog/{}", post.slug)
}

/// `/feed.xml`: the newest posts as an Atom feed (RFC 4287).
pub fn atom(content: &Content, site_url: &str) -> Document {
    let site = &content.site;
    let (url, name) = (markup(site_url), markup(&site.name));
    let updated = content.blog_posts.first().map_or(NEVER, |post| &post.published_at);
    let mut feed = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"en\">\n<id>{url}/blog</id>\n\
         <title>{name}</title>\n<subtitle>{}</subtitle>\n<updated>{}</updated>\n<author><name>{name}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{url}/feed.xml\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{url}/blog\"/>\n",
        markup(&site.description),
        markup(updated),
    );
    for post in newest(content) {
        let published = markup(&post.published_at);
        let _ = write!(
            feed,
            "<entry>\n<id>{}</id>\n<title>{}</title>\n<published>{published}</published>\n<updated>{published}</updated>\n\
             <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<summary>{}</summary>\n</entry>\n",
            markup(&id(post, site_url)),
            markup(&post.title),
            markup(&post.url),
            markup(&post.excerpt),
        );
    }
    Document::from_content("application/atom+xml; charset=utf-8", feed + "</feed>\n")
}

/// `/feed.json`: the newest posts as a JSON Feed 1.1.
pub fn json(content: &Content, site_url: &str) -> Document {
    let item = |post: &BlogPost| {
        json!({
            "id": id(post, site_url),
            "url": post.url,
            "title": post.title,
            "summary": post.excerpt,
            "content_text": post.excerpt,
            "date_published": post.published_at,
        })
    };
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": content.site.name,
        "description": content.site.description,
        "home_page_url": format!("{site_url}/blog"),
        "feed_url": format!("{site_url}/feed.json"),
        "authors": [{ "name": content.site.name }],
        "language": "en",
        "items": newest(content).iter().map(item).collect::<Vec<_>>(),
    });
    Document::from_content("application/feed+json", format!("{feed:#}\n"))
}

/// The maximum number of URLs in a sitemap, according to the sitemap protocol.
pub(crate) const MAX_PAGES: usize = 50_000;
/// The maximum length of a URL in a sitemap, according to the sitemap protocol.
const MAX_URL: usize = 2_047;

/// `/sitemap.xml`: the pages of the site. Leaves out apps and posts whose URLs are on other sites,
/// and all pages beyond the limits of the protocol or [`MAX_BYTES`].
pub fn sitemap(content: &Content, site_url: &str) -> Document {
    let below = format!("{site_url}/");
    let lists = ["/docs", "/blog", "/apps"].map(|path| (format!("{site_url}{path}"), None));
    let apps = content.apps.iter().map(|app| (app.url.clone(), None));
    let posts = content.blog_posts.iter().map(|post| (post.url.clone(), post.published_at.get(..10)));
    let pages = lists.into_iter().chain(apps).chain(posts).filter(|(url, _)| url.starts_with(&below) && url.len() <= MAX_URL);
    let mut size = 0;
    let lines: Vec<String> = pages
        .take(MAX_PAGES)
        .map(|(url, date)| {
            let date = date.map(|date| format!("<lastmod>{}</lastmod>", markup(date))).unwrap_or_default();
            format!("<url><loc>{}</loc>{date}</url>\n", markup(&url))
        })
        .take_while(|line| {
            size += line.len();
            size < MAX_BYTES
        })
        .collect();
    let map = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</urlset>\n",
        lines.concat()
    );
    Document::from_content("application/xml; charset=utf-8", map)
}
