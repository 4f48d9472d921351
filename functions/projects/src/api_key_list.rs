//! `GET /api/v1/internal/api-keys`: the sets of API keys of the project, newest first; revoked and expired ones too.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::key_set::KeySetRead;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("projects-api-key-list", "/api/v1/internal/api-keys")
    .summary("Lists the sets of API keys of the project")
    .table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct ApiKeys {
    items: Vec<KeySetRead>,
    /// Always false: a project has few.
    is_paginated: bool,
}

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<ApiKeys>, Error> {
    let sets = app.store.key_sets(&access.project.id).await?;
    Ok(Json(ApiKeys { items: sets.iter().map(KeySetRead::of).collect(), is_paginated: false }))
}
