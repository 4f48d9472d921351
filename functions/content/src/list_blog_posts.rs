//! `GET /api/v1/blog-posts`: lists the metadata of the posts, newest first. A list that would be
//! too long for one answer ends early, and the header `Link` leads to the rest.

use api::content::{ContentQuery, Data, Linked, Problem, number};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::{BlogPost, MOST_BYTES, MOST_POSTS, Window};
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-list-blog-posts", "/api/v1/blog-posts")
    .content()
    .summary("Lists the blog posts with short excerpts")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem]);

/// The part of the list.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct Part {
    /// How many of the newest posts to leave out: a whole number, as in the header `Link` of a list
    /// that ends early. Anything else counts as 0.
    offset: Option<String>,
}

pub async fn handle(State(app): State<App>, ContentQuery(part): ContentQuery<Part>) -> Result<Linked<Json<Data<Vec<BlogPost>>>>, Problem> {
    let site_url = &app.settings.site_url;
    let skip = number(part.offset.as_deref()).unwrap_or(0);
    let (posts, total) = app.store.blog_posts(app.clock.now(), Window { skip, most: MOST_POSTS }).await?;
    let mut bytes = 0;
    let fits = |post: &BlogPost| {
        bytes += serde_json::to_vec(post).map_or(0, |json| json.len() + 1);
        bytes <= MOST_BYTES
    };
    let data: Vec<BlogPost> = posts.into_iter().map(|post| post.at(site_url)).take_while(fits).collect();
    let next = skip.saturating_add(data.len());
    let links = (!data.is_empty() && next < total).then(|| format!("<{site_url}/api/v1/blog-posts?offset={next}>; rel=\"next\""));
    Ok(Linked { answer: Json(Data { data }), links })
}
