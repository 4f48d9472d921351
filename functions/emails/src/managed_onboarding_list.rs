//! `GET /api/v1/internal/emails/managed-onboarding/list`: lists the email domains that are managed
//! for a project. The list is empty, because projects use their own mail servers or send from the
//! deployment's email address.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::page::List;
use api::product::{Access, Admin, Input};
use errors::Error;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("emails-managed-onboarding-list", "/api/v1/internal/emails/managed-onboarding/list")
    .summary("Returns an empty list of managed email domains")
    .table(&[BatchGetItem]);

/// A managed email domain.
#[derive(Serialize, ToSchema)]
pub struct ManagedDomain {}

pub async fn handle(_: Access<Admin>, _: Input) -> Result<Json<List<ManagedDomain>>, Error> {
    Ok(Json(List::whole(Vec::new())))
}
