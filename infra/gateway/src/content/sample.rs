//! The content that is shown until other content is published. The content describes a fictional
//! product, and is validated by the usual rules.

use jiff::Timestamp;
use model::content::Content;
use store::Store;
use store::content::images::Shelf;

use super::files::{Files, parse};
use super::folder::Folder;
use super::gallery::Gallery;
use super::source::Source;

macro_rules! file {
    ($name:literal) => {
        Source::new($name, include_str!(concat!("../../sample/", $name)))
    };
}

/// The sample content of a site whose URL is `site_url`, an absolute http or https URL. Without
/// `site_url`, URLs in the content are relative to the URL that serves the site.
///
/// # Panics
///
/// If `site_url` is not an absolute http or https URL. The settings reject such URLs beforehand.
pub fn sample(site_url: Option<&str>) -> Content {
    folder(site_url).content
}

/// The sample content, ready to publish.
pub(super) fn folder(site_url: Option<&str>) -> Folder {
    let files = Files {
        site: file!("site.toml"),
        apps: Some(file!("apps.toml")),
        posts: vec![file!("blog/codes-that-survive-a-mail-scanner.md"), file!("blog/hello.md"), file!("blog/one-table.md")],
    };
    #[expect(clippy::expect_used, reason = "the files are part of the program, and a test parses them")]
    parse(&files, Gallery::empty(), site_url).expect("the sample content is valid")
}

/// Publishes the sample content if the table has never had content.
pub async fn publish_sample_once(store: &Store, now: Timestamp) -> anyhow::Result<()> {
    if store.site().await?.is_none() {
        folder(None).publish(store, Some(&Shelf::Table(store.clone())), now).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_valid_and_relative_to_the_site() {
        let content = sample(None);
        assert_eq!(content.site.at("https://example.com").url, "https://example.com");
        assert!(content.apps.iter().all(|app| app.url.starts_with("https://") || app.url.starts_with('/')));
        assert!(content.apps.iter().all(|app| app.id != "lantern-labs"), "a hidden app is not published");
        assert_eq!(content.blog_posts.len(), 3);
        assert!(content.blog_posts.is_sorted_by(|a, b| a.published_at >= b.published_at));
        assert!(content.blog_posts.iter().all(|post| !post.excerpt.is_empty()));
    }
}
