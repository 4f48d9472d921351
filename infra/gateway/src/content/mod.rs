//! The content of a site as files, and its publication.
//!
//! | file | contents |
//! |---|---|
//! | `site.toml` | `name`, `description`, optionally `image`; in `[resources]` the URLs that differ from their defaults |
//! | `apps.toml` | `[[apps]]` with `id`, `display_name`, `subtitle`, `url` (default `/apps/<id>`), `visible` (default true), `image`, in display order |
//! | `blog/*.md` | TOML between two lines `+++`, then Markdown; the TOML has `title`, `published_at`, and optionally `slug` (default: the file's name), `url` (default `/blog/<slug>`), `excerpt` (default: the beginning of the text), `draft`, `image` |
//! | images | PNG, JPEG, GIF, WebP or AVIF by their content, anywhere in the folder, referred to by relative paths |
//!
//! `site.toml` is required, so that publishing the wrong directory does not empty a site. A URL is
//! absolute, or a path that begins with `/` and is relative to the site's URL. All files are
//! validated before anything is written; the first error is reported with its file and line.
//!
//! `image` is the picture for link previews: in `site.toml` for the start page and the lists,
//! otherwise for an app or a post. Pages without an image get a picture that shows their title.

mod apps;
mod dates;
mod drawing;
mod excerpt;
mod files;
mod folder;
mod gallery;
mod illustrations;
mod links;
mod posts;
mod sample;
mod site;
mod source;

use std::path::Path;

use files::{Files, parse};
use gallery::Gallery;
use source::Source;

pub use folder::{Folder, PublishSummary};
pub use sample::{publish_sample_once, sample};
pub use source::PublishError;

/// Reads the content of a site from a directory. If the site's public URL is unknown, URLs remain
/// paths, relative to the URL that serves the site.
pub fn read_directory(dir: &Path, site_url: Option<&str>) -> Result<Folder, PublishError> {
    let missing = || {
        let what = if dir.is_dir() { "lacks this file, which every content folder needs" } else { "does not exist" };
        PublishError::in_file("site.toml", format!("the folder {} {what}", dir.display()))
    };
    let site = Source::read(dir, "site.toml")?.ok_or_else(missing)?;
    let files = Files { site, apps: Source::read(dir, "apps.toml")?, posts: posts::read_all(dir)? };
    parse(&files, Gallery::open(dir)?, site_url)
}

#[cfg(test)]
mod tests;
