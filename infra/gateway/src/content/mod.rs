//! A site's content as files, and how it is published.
//!
//! | file | contents |
//! |---|---|
//! | `site.toml` | `name`, `description`; in `[resources]` the URLs that differ from their defaults |
//! | `apps.toml` | `[[apps]]` with `id`, `display_name`, `subtitle`, `url` (default `/apps/<id>`), `visible` (default true), in display order |
//! | `blog/*.md` | TOML between two lines `+++`, then Markdown; the TOML has `title`, `published_at`, and optionally `slug` (default: the file's name), `url` (default `/blog/<slug>`), `excerpt` (default: the beginning of the text), `draft` |
//!
//! `site.toml` is required, so that a wrong directory does not empty a site. A URL is absolute, or
//! a path that begins with `/` and is relative to the site's URL. Everything is validated before
//! anything is written; the first error is reported with its file and line.

mod apps;
mod dates;
mod excerpt;
mod files;
mod links;
mod posts;
mod sample;
mod site;
mod source;

use std::path::Path;

use files::{Files, parse};
use model::content::Content;
use source::Source;

pub use sample::{publish_sample_once, sample};
pub use source::PublishError;

/// Reads the content of a site from a directory. Without the site's public URL, URLs stay paths,
/// relative to whatever URL the site is served at.
pub fn read_directory(dir: &Path, site_url: Option<&str>) -> Result<Content, PublishError> {
    let site = Source::read(dir, "site.toml")?.ok_or_else(|| PublishError::of_file("site.toml", "the file does not exist"))?;
    let files = Files { site, apps: Source::read(dir, "apps.toml")?, posts: posts::read_all(dir)? };
    parse(&files, site_url)
}

#[cfg(test)]
mod tests;
