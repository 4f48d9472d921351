//! Describes the tools, their parameters and their results, and runs them.

use flows::App;
use model::content::Window;
use model::content::search::SearchHit;
use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use crate::published::{apps, found, portable_post, site, window};

/// The maximum number of posts in a list.
const POSTS: usize = 200;

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The schema of an object whose fields are all strings.
fn texts(fields: &[&str]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties, "required": fields })
}

fn list(item: &Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn tool(name: &str, title: &str, description: &str, input: &Value, data: &Value) -> Value {
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": input,
        "outputSchema": { "type": "object", "properties": { "data": data }, "required": ["data"] },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

/// The tools, in a fixed order. The first tool has no parameters, so it is easy to try out.
pub(super) fn all() -> Value {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let app = texts(&["id", "displayName", "subtitle", "url"]);
    let post = ["slug", "title", "publishedAt", "excerpt", "url"];
    let with_text = texts(&[&post[..], &["text"]].concat());
    let found = texts(&["kind", "title", "url", "summary"]);
    json!([
        tool("list_apps", "List apps", "Lists the public apps.", &nothing, &list(&app)),
        tool(
            "get_app",
            "Get an app",
            "Returns a public app.",
            &schema(&json!({ "appId": text("The app's id, from list_apps.") }), &["appId"]),
            &app
        ),
        tool(
            "list_blog_posts",
            "List posts",
            &format!(
                "Lists the blog posts, newest first, with excerpts: {POSTS} at a time. The result contains the number of all posts as `total`, unless `offset` is beyond the last post."
            ),
            &schema(&json!({ "offset": { "type": "integer", "minimum": 0, "description": "How many of the newest posts to skip." } }), &[]),
            &list(&texts(&post)),
        ),
        tool("get_site", "Get the site", "Returns the site and the URLs of its documents.", &nothing, &json!({ "type": "object" })),
        tool(
            "get_blog_post",
            "Read a post",
            "Returns a blog post with its text in Markdown.",
            &schema(&json!({ "slug": text("The post's slug, from list_blog_posts.") }), &["slug"]),
            &with_text,
        ),
        tool(
            "search",
            "Search",
            "Finds apps and posts by words in their names, titles and excerpts.",
            &schema(&json!({ "query": text("Words to look for.") }), &["query"]),
            &list(&found),
        ),
    ])
}

/// The number of posts to skip, from the arguments of `list_blog_posts`.
fn offset(arguments: &Map<String, Value>) -> Result<usize, Refusal> {
    let offset = arguments.get("offset").map_or(Some(0), Value::as_u64).filter(|_| arguments.keys().all(|name| name == "offset"));
    let offset = offset.and_then(|offset| usize::try_from(offset).ok());
    offset.ok_or_else(|| Refusal::misused("The tool takes only `offset`, an integer of at least 0."))
}

/// The only argument of a tool, which is a string.
fn argument<'a>(name: &str, arguments: &'a Map<String, Value>) -> Result<&'a str, Refusal> {
    match arguments.get(name) {
        Some(Value::String(text)) if arguments.len() == 1 => Ok(text),
        _ => Err(Refusal::misused(format!("The tool takes exactly one argument, `{name}`, a string."))),
    }
}

/// Calls a tool, and returns its structured result.
pub(super) async fn call(app: &App, name: &str, arguments: &Map<String, Value>) -> Result<Value, Refusal> {
    let site_url = &app.settings.site_url;
    if matches!(name, "list_apps" | "get_site") && !arguments.is_empty() {
        return Err(Refusal::misused("The tool takes no arguments."));
    }
    let data = match name {
        "list_apps" => json!(apps(app).await?),
        "list_blog_posts" => {
            let skip = offset(arguments)?;
            let shown = window(app, Window { skip, max: POSTS }).await?;
            let posts = shown.content.blog_posts;
            // If all public posts are skipped, the total would include posts that are not public
            // yet.
            let is_known = skip == 0 || !posts.is_empty();
            return Ok(if is_known { json!({ "data": posts, "total": shown.total }) } else { json!({ "data": posts }) });
        }
        "get_site" => json!(site(app).await?),
        "get_app" => {
            let id = argument("appId", arguments)?;
            let one = app.store.apps().await?.into_iter().find(|one| one.id == id);
            let one = one.ok_or(Refusal::Advice("There is no such app; list_apps returns the ids of all apps."))?;
            json!(one.at(site_url))
        }
        "get_blog_post" => {
            let post = portable_post(app, argument("slug", arguments)?).await?;
            let (post, text) = post.ok_or(Refusal::Advice("There is no such post; list_blog_posts returns the slugs of all posts."))?;
            let mut post = json!(post);
            post["text"] = text.into();
            post
        }
        "search" => found(app, argument("query", arguments)?).await?.iter().map(SearchHit::json).collect(),
        _ => return Err(Refusal::misused("There is no such tool; tools/list returns all.")),
    };
    Ok(json!({ "data": data }))
}
