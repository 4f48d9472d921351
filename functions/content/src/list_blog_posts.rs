//! `GET /api/v1/blog-posts`: lists the metadata of the posts, newest first. A list that is too long
//! for one response ends early, and the header `Link` contains the URL of the rest.

use api::content::{ContentNumber, Data, LinkedResponse, NumberParameter, Problem};
use api::http::{Json, Route, TableAction};
use api::product::page;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use flows::App;
use model::content::{BlogPost, Window};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-list-blog-posts", "/api/v1/blog-posts")
    .content()
    .summary("Lists the blog posts with short excerpts")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem]);

/// The maximum number of posts in a response, which limits the number of reads. Posts are rarely so
/// short that a response could contain more posts.
const MAX_POSTS: usize = 4_000;

/// The requested part of the list.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct Part {
    /// The number of the newest posts to skip. A whole number from 1, as in the header `Link` of a
    /// list that ends early. With any other value, the list starts at the newest post.
    offset: Option<String>,
}

impl NumberParameter for Part {
    const NAME: &'static str = "offset";
    const MIN: usize = 1;
    const PATH: &'static str = "blog-posts";
}

/// If the offset is not a multiple of this number, the list ends at the next multiple. Because each
/// offset is cached separately, a single caller could otherwise cause thousands of reads of all
/// posts per minute.
const STEP: usize = 100;

/// The part of the list that follows the newest `skip` posts.
fn window(skip: usize) -> Window {
    Window { skip, max: if skip.is_multiple_of(STEP) { MAX_POSTS } else { STEP - skip % STEP } }
}

pub async fn handle(State(app): State<App>, offset: ContentNumber<Part>) -> Result<LinkedResponse<Json<Data<Vec<BlogPost>>>>, Response> {
    let skip = offset.canonical().map_err(IntoResponse::into_response)?;
    list(&app, skip.unwrap_or(0)).await.map_err(IntoResponse::into_response)
}

async fn list(app: &App, skip: usize) -> Result<LinkedResponse<Json<Data<Vec<BlogPost>>>>, Problem> {
    let site_url = &app.settings.site_url;
    let (posts, total) = app.store.blog_posts(app.clock.now(), window(skip)).await?;
    let mut data: Vec<BlogPost> = posts.into_iter().map(|post| post.at(site_url)).collect();
    data.truncate(page::fitting(&data));
    let mut next = skip.saturating_add(data.len());
    // A list that ends early ends at a multiple of `STEP`, so that the next list can have its full
    // length.
    if next < total && next - next % STEP > skip {
        next -= next % STEP;
        data.truncate(next - skip);
    }
    let links = (!data.is_empty() && next < total).then(|| format!("<{site_url}/api/v1/blog-posts?offset={next}>; rel=\"next\""));
    Ok(LinkedResponse { answer: Json(Data { data }), links })
}
