//! A site's content as files, and how they become what the service publishes.
//!
//! | file | has |
//! |---|---|
//! | `site.toml` | `name`, `description`; in `[resources]` the URLs that are not where they are by default |
//! | `apps.toml` | `[[apps]]` with `id`, `display_name`, `subtitle`, `url` (default `/apps/<id>`), `visible` (default true), in the order of the list |
//! | `blog/*.md` | Markdown after TOML between two lines `+++`: `title`, `published_at`, and where wanted `slug` (default: the file's name), `url` (default `/blog/<slug>`), `excerpt` (default: the text's beginning), `draft` |
//!
//! `site.toml` is required, so that a wrong directory does not empty a site. A URL is absolute, or a path that begins with `/` and
//! follows the site's URL. Everything is read and checked before anything is written; the first thing that is wrong is told with
//! its file and line.

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

/// Reads the content of a site from a directory. Without the site's public URL, what is below it stays a path, and follows whatever URL
/// the site is served at.
pub fn read_directory(dir: &Path, site_url: Option<&str>) -> Result<Content, PublishError> {
    let site = Source::read(dir, "site.toml")?.ok_or_else(|| PublishError::of_file("site.toml", "there is no such file"))?;
    let files = Files { site, apps: Source::read(dir, "apps.toml")?, posts: posts::read_all(dir)? };
    parse(&files, site_url)
}

#[cfg(test)]
mod tests;
