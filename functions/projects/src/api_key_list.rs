//! `GET /api/v1/internal/api-keys`: lists the project's sets of API keys, newest first. Revoked and
//! expired sets are included. A project has so few sets that the list needs no pages
//! ([`Quota::KeySets`](model::quota::Quota::KeySets)).

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::page::List;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::key_set::KeySetRead;

pub const ROUTE: Route = Route::get("projects-api-key-list", "/api/v1/internal/api-keys")
    .summary("Lists the project's sets of API keys")
    .table(&[BatchGetItem, Query]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<List<KeySetRead>>, Error> {
    let sets = app.store.key_sets(&access.project.id).await?;
    Ok(Json(List::whole(sets.iter().map(KeySetRead::of).collect())))
}
