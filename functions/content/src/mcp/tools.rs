//! The tools: what they take and return, and what they do.

use api::content::Problem;
use flows::App;
use serde_json::{Map, Value, json};
use site::search;

use crate::published::{content, site};

/// The result of a tool.
pub(super) enum Outcome {
    Done(Value),
    /// The tool cannot do what it was asked; the text tells the model what it can do instead.
    Failed(&'static str),
    /// The call does not fit the tool.
    Misused(String),
}

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// An object whose fields are all texts.
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

/// The tools in a fixed order. The first needs no parameters, so that clients can try it.
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
        tool("list_blog_posts", "List posts", "Lists the blog posts, newest first, with excerpts.", &nothing, &list(&texts(&post))),
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
            "Finds apps and posts by words of their names, titles and excerpts.",
            &schema(&json!({ "query": text("Words to look for.") }), &["query"]),
            &list(&found),
        ),
    ])
}

/// The only argument of a tool, a text.
fn argument<'a>(name: &str, arguments: &'a Map<String, Value>) -> Result<&'a str, Outcome> {
    match arguments.get(name) {
        Some(Value::String(text)) if arguments.len() == 1 => Ok(text),
        _ => Err(Outcome::Misused(format!("The tool takes exactly one argument, `{name}`, a text."))),
    }
}

/// Calls a tool.
pub(super) async fn call(app: &App, name: &str, arguments: &Map<String, Value>) -> Result<Outcome, Problem> {
    match run(app, name, arguments).await? {
        Ok(data) => Ok(Outcome::Done(json!({ "data": data }))),
        Err(outcome) => Ok(outcome),
    }
}

async fn run(app: &App, name: &str, arguments: &Map<String, Value>) -> Result<Result<Value, Outcome>, Problem> {
    let site_url = &app.settings.site_url;
    if matches!(name, "list_apps" | "list_blog_posts" | "get_site") && !arguments.is_empty() {
        return Ok(Err(Outcome::Misused("The tool takes no arguments.".to_owned())));
    }
    Ok(match name {
        "list_apps" => Ok(json!(content(app).await?.apps)),
        "list_blog_posts" => Ok(json!(content(app).await?.blog_posts)),
        "get_site" => Ok(json!(site(app).await?)),
        "get_app" => match argument("appId", arguments) {
            Ok(id) => {
                let found = app.store.apps().await?.into_iter().find(|one| one.id == id);
                found
                    .map(|found| json!(found.at(site_url)))
                    .ok_or(Outcome::Failed("There is no such app; list_apps returns the ids of all."))
            }
            Err(outcome) => Err(outcome),
        },
        "get_blog_post" => match argument("slug", arguments) {
            Ok(slug) => {
                let found = app.store.post_text(slug, app.clock.now()).await?.map(|found| {
                    let mut post = json!(found.post.at(site_url));
                    post["text"] = found.text.into();
                    post
                });
                found.ok_or(Outcome::Failed("There is no such post; list_blog_posts returns the slugs of all."))
            }
            Err(outcome) => Err(outcome),
        },
        "search" => match argument("query", arguments) {
            Ok(query) => Ok(search::find(&content(app).await?, query).iter().map(search::Found::json).collect()),
            Err(outcome) => Err(outcome),
        },
        _ => Err(Outcome::Misused("There is no such tool; tools/list returns all.".to_owned())),
    })
}
