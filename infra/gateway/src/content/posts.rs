//! `blog/*.md`: the posts.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use model::content::BlogPost;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::illustrations::Illustrations;
use super::links::{Links, segment};
use super::source::{Place, PublishError, Source, collapsed};
use super::{dates, excerpt};

const FENCE: &str = "+++";
/// The maximum length of a post's text in bytes; the text shares an item with the post's metadata.
const MAX_TEXT: usize = 370_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    slug: Option<Spanned<String>>,
    title: Option<Spanned<String>>,
    published_at: Option<Spanned<Value>>,
    url: Option<Spanned<String>>,
    excerpt: Option<Spanned<String>>,
    image: Option<Spanned<String>>,
    #[serde(default)]
    draft: bool,
}

/// Reads the Markdown files of the folder `blog/`, if it exists. Skips hidden files, because
/// editors use them as temporary files.
pub(super) fn read_all(dir: &Path) -> Result<Vec<Source>, PublishError> {
    let entries = match std::fs::read_dir(dir.join("blog")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(PublishError::in_file("blog", error)),
    };
    let mut posts = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| PublishError::in_file("blog", error))?.path();
        let file_name = path.file_name().unwrap_or_default();
        let name = file_name.to_string_lossy();
        if name.starts_with('.') || path.extension().is_none_or(|extension| extension != "md") || path.is_dir() {
            continue;
        }
        let name = format!("blog/{name}");
        if file_name.to_str().is_none() {
            return Err(PublishError::in_file(name, "the name of the file is not UTF-8: rename it"));
        }
        posts.push(Source::read(dir, &name)?.ok_or_else(|| PublishError::in_file(&name, "the link points to no file"))?);
    }
    posts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(posts)
}

/// Parses the posts; returns them newest first, and their texts by slug. Drafts are validated but
/// not published.
pub(super) fn parse_all(
    sources: &[Source],
    links: &Links,
    illustrations: &mut Illustrations,
) -> Result<(Vec<BlogPost>, BTreeMap<String, String>), PublishError> {
    let (mut posts, mut texts, mut slugs) = (Vec::new(), BTreeMap::new(), HashMap::new());
    for source in sources {
        let (range, body) = divide(source)?;
        let start = range.start;
        let matter: FrontMatter = source.toml(range)?;
        let (place, start_of_body) = (Place { source, start }, source.text.len() - body.len());
        let post = parse(&matter, &place, links, body)?;
        let picture = illustrations.find(&place, matter.image.as_ref())?;
        let (text, images) = illustrations.replace_paths(source, start_of_body, body)?;
        if text.len() > MAX_TEXT {
            let message = format!("the text has {} bytes; at most {MAX_TEXT} can be published", text.len());
            return Err(source.error(start_of_body, message));
        }
        if let Some(other) = slugs.insert(post.slug.clone(), &source.name) {
            let at = matter.slug.as_ref().map_or(0, |slug| start + slug.span().start);
            return Err(source.error(at, format!("the slug `{}` is already used by {other}", post.slug)));
        }
        if !matter.draft {
            illustrations.show(&images);
            illustrations.show_at(&format!("/blog/{}", post.slug), picture);
            texts.insert(post.slug.clone(), text);
            posts.push(post);
        }
    }
    posts.sort_by(|a, b| b.published_at.cmp(&a.published_at).then_with(|| a.slug.cmp(&b.slug)));
    Ok((posts, texts))
}

fn parse(matter: &FrontMatter, place: &Place<'_>, links: &Links, body: &str) -> Result<BlogPost, PublishError> {
    let slug = slug(matter, place)?;
    Ok(BlogPost {
        title: place.required(matter.title.as_ref(), "title", 0)?,
        published_at: published_at(matter.published_at.as_ref(), place)?,
        excerpt: excerpt_of(matter.excerpt.as_ref(), place, body)?,
        url: links.or_default(place, matter.url.as_ref(), &format!("/blog/{slug}"))?,
        slug,
    })
}

/// The range of the TOML between the two fences, and the Markdown after it.
fn divide(source: &Source) -> Result<(Range<usize>, &str), PublishError> {
    let (mut start, mut offset) = (None, 0);
    for line in source.text.split_inclusive('\n') {
        let is_fence = line.trim_end() == FENCE;
        match start {
            None if is_fence => start = Some(line.len()),
            None => break,
            Some(start) if is_fence => return Ok((start..offset, &source.text[offset + line.len()..])),
            Some(_) => {}
        }
        offset += line.len();
    }
    let missing = if start.is_some() {
        "the closing line `+++` of the front matter is missing"
    } else {
        "the file must begin with front matter: TOML between two lines of `+++`"
    };
    Err(source.error(0, missing))
}

fn slug(matter: &FrontMatter, place: &Place<'_>) -> Result<String, PublishError> {
    let (slug, at) = match &matter.slug {
        Some(slug) => (slug.get_ref().as_str(), place.start + slug.span().start),
        None => (file_stem(&place.source.name), 0),
    };
    segment(slug).map_err(|message| place.source.error(at, format!("the slug {message}")))?;
    if slug.strip_suffix(".md").is_some() {
        return Err(place.source.error(at, format!("the slug `{slug}` must not end with `.md`, as the URL of a post's Markdown does")));
    }
    Ok(slug.to_owned())
}

/// The name of a file without its folder and extension: `hello` for `blog/hello.md`.
fn file_stem(name: &str) -> &str {
    let name = name.strip_prefix("blog/").unwrap_or(name);
    name.strip_suffix(".md").unwrap_or(name)
}

fn published_at(value: Option<&Spanned<Value>>, place: &Place<'_>) -> Result<String, PublishError> {
    let value = value.ok_or_else(|| place.source.error(place.start, "`published_at` is missing"))?;
    let text = match value.get_ref() {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    dates::normalised(&text).map_err(|message| place.error(value, format!("`{text}` {message}")))
}

fn excerpt_of(given: Option<&Spanned<String>>, place: &Place<'_>, body: &str) -> Result<String, PublishError> {
    let Some(given) = given else { return Ok(excerpt::from_markdown(body)) };
    let text = collapsed(given.get_ref());
    let (length, max) = (text.chars().count(), excerpt::MAX_CHARACTERS);
    if length > max { Err(place.error(given, format!("`excerpt` has {length} characters; at most {max} are allowed"))) } else { Ok(text) }
}
