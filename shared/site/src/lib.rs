//! The documents of a site, for people and for agents: pages, feeds, texts and catalogs.
//!
//! Every document is a pure function of its arguments, such as the published content and the site's
//! URL. The `ETag` of a document therefore changes only with the arguments or with this program.

#![warn(missing_docs)]

pub mod agent;
pub mod catalog;
pub mod code;
mod document;
pub mod escape;
pub mod feed;
pub mod headings;
pub mod images;
pub mod look;
pub mod markdown;
pub mod package;
pub mod page;
pub mod text;

use model::content::{MAX_POSTS, ShownContent};

pub use document::{CONTENT_AGE, Document, HTML, MARKDOWN, PLAIN, RELEASE_AGE};

/// The names of the documents whose path has one segment, except `openapi.json`, which has a
/// separate operation.
pub const NAMES: [&str; 12] =
    ["apps", PAGED, "docs", "feed.json", "feed.xml", "icon.svg", "index.md", FULL, "llms.txt", "robots.txt", "sitemap.xml", "style.css"];
/// The name of the only paginated document.
pub const PAGED: &str = "blog";
/// The name of the only document that contains the texts of posts.
pub const FULL: &str = "llms-full.txt";

/// The document with this name if it does not depend on the content, otherwise `None`.
pub fn fixed(name: &str, site_url: &str) -> Option<Document> {
    match name {
        "icon.svg" => Some(Document::from_release("image/svg+xml", look::ICON)),
        "robots.txt" => Some(text::robots(site_url)),
        "style.css" => Some(Document::from_release("text/css; charset=utf-8", look::STYLE)),
        _ => None,
    }
}

/// Renders a document from the content and the URL of the site. All URLs of the content must be
/// absolute.
pub type Renderer = fn(&ShownContent, &str) -> Document;

/// The renderer of the document with this name if the document depends on the content, otherwise
/// `None`. [`fixed`] has the others.
pub fn renderer(name: &str) -> Option<Renderer> {
    match name {
        "apps" => Some(|shown, site_url| page::apps(&shown.content, site_url)),
        PAGED => Some(page::blog),
        "docs" => Some(|shown, site_url| page::docs(&shown.content, site_url)),
        "feed.json" => Some(|shown, site_url| feed::json(&shown.content, site_url)),
        "feed.xml" => Some(|shown, site_url| feed::atom(&shown.content, site_url)),
        "index.md" => Some(text::index),
        FULL => Some(text::llms_full),
        "llms.txt" => Some(text::llms),
        "sitemap.xml" => Some(|shown, site_url| feed::sitemap(&shown.content, site_url)),
        _ => None,
    }
}

/// The maximum number of posts in the document with this name.
pub fn max_posts(name: &str) -> usize {
    match name {
        "apps" => 0,
        PAGED => page::POSTS,
        "docs" => page::RECENT,
        "feed.json" | "feed.xml" => feed::NEWEST,
        "sitemap.xml" => feed::MAX_PAGES,
        _ => MAX_POSTS,
    }
}

#[cfg(test)]
mod tests;
