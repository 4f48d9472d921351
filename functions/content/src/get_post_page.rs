//! `GET /blog/{slug}`: returns a post as a page. If the path ends with `.md`, returns the post in
//! Markdown.

use api::content::{ContentPath, NamedResource, Problem, ServedDocument};
use api::http::{Route, TableAction};
use axum::extract::State;
use flows::App;
use serde::Deserialize;
use site::{page, text};
use store::content::PostText;
use utoipa::ToSchema;

use crate::published::{front, portable, with_post};

pub const ROUTE: Route = Route::get("content-get-post-page", "/blog/{slug}")
    .content()
    .media(&["text/html", "text/markdown"])
    .summary("Returns a blog post with its text, as a page or in Markdown")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem])
    .problems(&["post_not_found"]);

/// The requested post.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PostPath {
    /// The slug of the post, followed by `.md` for Markdown.
    #[schema(example = "hello.md")]
    slug: String,
}

impl NamedResource for PostPath {
    const PROBLEM: Problem = Problem::PostNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<PostPath>) -> Result<ServedDocument, Problem> {
    let site_url = &app.settings.site_url;
    let (slug, is_markdown) = match path.slug.strip_suffix(".md") {
        Some(slug) => (slug, true),
        None => (path.slug.as_str(), false),
    };
    let found = async { Ok(app.store.post_text(slug, app.clock.now()).await?) };
    let (front, found) = futures_util::try_join!(front(&app), found)?;
    let found = found.ok_or(Problem::PostNotFound)?;
    let since = with_post(front.since, Some(&found.post));
    let document = if is_markdown {
        let (post, text) = portable(found, site_url);
        text::post(&post, &text)
    } else {
        let PostText { post, text, picture } = found;
        page::post(&front.value.site, &post.at(site_url), &text, picture.as_deref(), site_url)
    };
    Ok(ServedDocument::from(document).since(since))
}
