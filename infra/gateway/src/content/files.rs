//! Reads all files of a site.

use model::content::Content;

use super::links::Links;
use super::source::{PublishError, Source};
use super::{apps, posts, site};

/// The files of a site.
pub(super) struct Files {
    pub(super) site: Source,
    pub(super) apps: Option<Source>,
    /// The posts, ordered by the names of their files.
    pub(super) posts: Vec<Source>,
}

pub(super) fn parse(files: &Files, site_url: Option<&str>) -> Result<Content, PublishError> {
    let links = Links::of(site_url)?;
    let (blog_posts, texts) = posts::parse_all(&files.posts, &links)?;
    Ok(Content {
        site: site::parse(&files.site, &links)?,
        apps: files.apps.as_ref().map(|source| apps::parse(source, &links)).transpose()?.unwrap_or_default(),
        blog_posts,
        texts,
    })
}
