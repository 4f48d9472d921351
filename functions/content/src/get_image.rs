//! `GET /images/{image}`: returns an image of a post or of a page.
//!
//! An image is named after its content and never changes. If the deployment has a distribution, AWS
//! serves images from the bucket, and calls this function only for images that are missing from the
//! bucket.

use api::content::{ContentPath, NamedResource, Problem, ServedDocument};
use api::http::{Need, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::image::ImageName;
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-get-image", "/images/{image}")
    .content()
    .media(&["image/*"])
    .summary("Returns an image of a post or of a page")
    .table(&[TableAction::Query])
    .needs(&[Need::Images])
    .problems(&["route_not_found"]);

/// The requested image.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ImagePath {
    /// The name of the image, which consists of its digest, its size in pixels and its format.
    #[schema(example = "xyHJLoy5B2_7R8KcBuNvRl-k37BTDDdh2kbivw4_PGM-2x1.png")]
    image: String,
}

impl NamedResource for ImagePath {
    const PROBLEM: Problem = Problem::RouteNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<ImagePath>) -> Result<ServedDocument, Problem> {
    let name: ImageName = path.image.parse().map_err(|_| Problem::RouteNotFound)?;
    let bytes = app.shelf()?.get(&name).await?.ok_or(Problem::RouteNotFound)?;
    Ok(ServedDocument::image(name.format.media_type(), bytes))
}
