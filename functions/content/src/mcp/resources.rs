//! The resources, which are the index of the site, its summary for models, and each post. Each
//! resource is also a document of the site, and has the URL of that document. Replies of this
//! operation are not cached, so the index and the summary end after [`SHOWN`] posts. After the last
//! post, they state how many posts are left and where to find them. At their own URLs, the index
//! and the summary are cached, so they can be 50 times as long.

use api::content::Problem;
use flows::App;
use model::content::{BlogPost, ShownContent, Window};
use serde_json::{Map, Value, json};
use site::{Document, Renderer, text};

use super::refusal::Refusal;
use crate::published::{newest, portable_post, window};

/// The maximum number of posts on a page of the list of resources.
const POSTS: usize = 100;
/// The maximum number of posts in a document. The number is a multiple of 100, because lists that
/// begin at such an offset are cached.
const SHOWN: usize = 200;

/// The documents that every site has, each with its name, title, description and renderer.
const DOCUMENTS: [(&str, &str, &str, Renderer); 2] = [
    ("index.md", "Start page", "The site with its apps and posts, in Markdown", text::index),
    ("llms.txt", "Site for language models", "Apps, posts, APIs and documents as lists of links", text::llms),
];

fn post_uri(slug: &str, site_url: &str) -> String {
    format!("{site_url}/blog/{slug}.md")
}

/// A page of the list of resources. The cursor is the number of posts on the previous pages.
pub(super) async fn list(app: &App, params: &Map<String, Value>) -> Result<Value, Refusal> {
    let first = match params.get("cursor") {
        None => 0,
        Some(cursor) => {
            let cursor = cursor.as_str().and_then(|cursor| cursor.parse().ok());
            cursor.ok_or(Refusal::misused("`cursor` must be a `nextCursor` of this list."))?
        }
    };
    Ok(page(&window(app, Window { skip: first, max: POSTS }).await?, &app.settings.site_url))
}

fn page(shown: &ShownContent, site_url: &str) -> Value {
    let documents = DOCUMENTS.iter().filter(|_| shown.skipped == 0).map(|(name, title, description, render)| {
        let media_type = render(shown, site_url).media_type;
        json!({ "uri": format!("{site_url}/{name}"), "name": name, "title": title, "description": description, "mimeType": media_type })
    });
    let post = |post: &BlogPost| {
        json!({
            "uri": post_uri(&post.slug, site_url),
            "name": post.slug,
            "title": post.title,
            "description": post.excerpt,
            "mimeType": site::MARKDOWN,
            "annotations": { "lastModified": post.published_at },
        })
    };
    let posts = shown.content.blog_posts.iter().map(post);
    let mut page = json!({ "resources": documents.chain(posts).collect::<Vec<_>>() });
    let next = shown.skipped.saturating_add(POSTS);
    if next < shown.total {
        page["nextCursor"] = next.to_string().into();
    }
    page
}

/// The URI template of posts.
pub(super) fn templates(site_url: &str) -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": post_uri("{slug}", site_url),
        "name": "post",
        "title": "Post",
        "description": "A blog post in Markdown; list_blog_posts returns the slugs",
        "mimeType": site::MARKDOWN,
    }] })
}

/// Returns the text of a resource.
pub(super) async fn read(app: &App, params: &Map<String, Value>) -> Result<Value, Refusal> {
    let uri = params.get("uri").and_then(Value::as_str).ok_or(Refusal::misused("`uri` must be the URI of a resource."))?;
    let document = document(app, uri).await?.ok_or_else(|| Refusal::NoResource(uri.to_owned()))?;
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": document.media_type, "text": document.body }] }))
}

async fn document(app: &App, uri: &str) -> Result<Option<Document>, Problem> {
    let site_url = &app.settings.site_url;
    let Some(path) = uri.strip_prefix(site_url.as_str()).and_then(|rest| rest.strip_prefix('/')) else { return Ok(None) };
    if let Some((.., render)) = DOCUMENTS.iter().find(|(name, ..)| *name == path) {
        return Ok(Some(render(&newest(app, SHOWN).await?, site_url)));
    }
    let Some(slug) = path.strip_prefix("blog/").and_then(|name| name.strip_suffix(".md")) else { return Ok(None) };
    Ok(portable_post(app, slug).await?.map(|(post, text)| text::post(&post, &text)))
}

#[cfg(test)]
mod tests {
    use model::content::Content;

    use super::*;

    #[test]
    fn the_pages_of_the_list_have_every_post_once() {
        let post = |number: usize| BlogPost {
            slug: format!("post-{number}"),
            title: String::new(),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: String::new(),
            url: String::new(),
        };
        let site_url = "https://example.com";
        let window = |skipped: usize| {
            let blog_posts = (0..2 * POSTS).map(post).skip(skipped).take(POSTS).collect();
            ShownContent { content: Content { blog_posts, ..Content::unpublished(site_url) }, skipped, total: 2 * POSTS }
        };
        let (first, second) = (page(&window(0), site_url), page(&window(POSTS), site_url));
        let uris = |page: &Value| page["resources"].as_array().unwrap().iter().map(|one| one["uri"].clone()).collect::<Vec<_>>();
        assert_eq!(first["nextCursor"], POSTS.to_string());
        assert_eq!((second["nextCursor"].clone(), uris(&second).len()), (Value::Null, POSTS));
        let listed = [uris(&first), uris(&second)].concat();
        assert_eq!(listed[..2], ["https://example.com/index.md", "https://example.com/llms.txt"]);
        let expected: Vec<_> = (0..2 * POSTS).map(|number| Value::from(post_uri(&post(number).slug, site_url))).collect();
        assert_eq!(listed[2..], expected);
        assert!(uris(&page(&window(usize::MAX), site_url)).is_empty());
    }
}
