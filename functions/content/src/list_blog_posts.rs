//! `GET /api/v1/blog-posts`: lists the metadata of all posts, newest first.

use api::content::{Data, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::BlogPost;

pub const ROUTE: Route = Route::get("content-list-blog-posts", "/api/v1/blog-posts")
    .content()
    .summary("Lists the blog posts with short excerpts")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem]);

pub async fn handle(State(app): State<App>) -> Result<Json<Data<Vec<BlogPost>>>, Problem> {
    let data = app.store.blog_posts(app.clock.now()).await?.into_iter().map(|post| post.at(&app.settings.site_url)).collect();
    Ok(Json(Data { data }))
}
