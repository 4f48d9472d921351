//! Parses the files of a site once they have been read.

use std::collections::{BTreeMap, BTreeSet};

use model::content::Content;

use super::folder::Folder;
use super::gallery::Gallery;
use super::illustrations::Illustrations;
use super::links::Links;
use super::source::{PublishError, Source};
use super::{apps, posts, site};

pub(super) struct Files {
    pub(super) site: Source,
    pub(super) apps: Option<Source>,
    /// The posts, ordered by file name.
    pub(super) posts: Vec<Source>,
}

pub(super) fn parse(files: &Files, gallery: Gallery, site_url: Option<&str>) -> Result<Folder, PublishError> {
    let mut illustrations = Illustrations { gallery, pictures: BTreeMap::new(), images: BTreeSet::new(), warnings: Vec::new() };
    let links = Links::parse(site_url)?;
    let (blog_posts, texts) = posts::parse_all(&files.posts, &links, &mut illustrations)?;
    let site = site::parse(&files.site, &links, &mut illustrations)?;
    let apps = files.apps.as_ref().map(|source| apps::parse(source, &links, &mut illustrations)).transpose()?.unwrap_or_default();
    let Illustrations { gallery, pictures, images, warnings } = illustrations;
    let content = Content { site, apps, blog_posts, texts, pictures, images };
    Ok(Folder { content, warnings, files: gallery.into_files() })
}
