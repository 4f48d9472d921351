//! The URLs in the content. By default, they are below the site's URL; if the site's URL is
//! unknown, they remain paths.

use toml::Spanned;
use url::Url;

use super::source::{Place, PublishError};

/// The maximum length of an id or a slug, in characters. Ids and slugs are segments of a URL.
const MAX_SEGMENT: usize = 100;

pub(super) struct Links {
    /// The URL of the site without a trailing slash; empty if unknown, so that resolved URLs remain
    /// paths.
    pub site_url: String,
}

/// A placeholder for the site's URL while a path is validated.
const ANY_SITE: &str = "https://site.invalid";

impl Links {
    pub(super) fn parse(site_url: Option<&str>) -> Result<Self, PublishError> {
        let Some(site_url) = site_url else { return Ok(Self { site_url: String::new() }) };
        let url = absolute(site_url).map_err(|message| PublishError::in_file(format!("the site's URL `{site_url}`"), message))?;
        Ok(Self { site_url: url.trim_end_matches('/').to_owned() })
    }

    /// Resolves a URL or path in the content to a URL.
    fn resolve(&self, text: &str) -> Result<String, &'static str> {
        if !text.starts_with('/') || text.starts_with("//") {
            return absolute(text);
        }
        let checked = absolute(&format!("{ANY_SITE}{text}"))?;
        Ok(format!("{}{}", self.site_url, checked.trim_start_matches(ANY_SITE)))
    }

    /// The given URL or, if none is given, the URL of `path` below the site's URL.
    pub(super) fn or_default(&self, place: &Place<'_>, given: Option<&Spanned<String>>, path: &str) -> Result<String, PublishError> {
        match given {
            Some(given) => self.resolve(given.get_ref()).map_err(|message| place.error(given, format!("`{}` {message}", given.get_ref()))),
            None => Ok(format!("{}{path}", self.site_url)),
        }
    }
}

fn absolute(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str = "is not a URL: expected an absolute http or https URL, or a path that begins with a single /";
    // The URL parser silently drops, encodes or replaces white space, control characters and
    // backslashes.
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(EXPECTED);
    }
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host()).ok_or(EXPECTED)?;
    let has_slashes = text.split_once(':').is_some_and(|(_, rest)| rest.starts_with("//"));
    if has_slashes { Ok(url.into()) } else { Err(EXPECTED) }
}

/// Validates an id or a slug, which is used in URLs without encoding: `[a-z0-9][a-z0-9._-]*`.
pub(super) fn segment(text: &str) -> Result<(), String> {
    let is_first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = text.starts_with(is_first) && text.chars().all(|c| is_first(c) || matches!(c, '.' | '_' | '-')) && text.len() <= MAX_SEGMENT;
    let rule = "must begin with a lowercase letter or a digit, and may contain only those, `.`, `_` and `-`";
    if fits { Ok(()) } else { Err(format!("`{text}` {rule}; at most {MAX_SEGMENT} characters")) }
}
