//! `GET /api/v1/internal/api-keys`: the sets of API keys of the project, newest first; revoked and expired ones too.

use axum::extract::State;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, Query};
use shared::http::{Json, Route};
use shared::model::key_set::KeySetRead;
use shared::product_api::error::Error;
use shared::product_api::{Access, Admin, Input};
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
