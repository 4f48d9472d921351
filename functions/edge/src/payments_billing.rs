//! `GET /api/v1/payments/billing/{customer_type}/{customer_id}`: reports that a customer has no
//! billing. Without this response, the prebuilt account pages of the SDKs would break.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::Error;
use serde::Serialize;
use utoipa::ToSchema;

use crate::customers::{CUSTOMER_ERRORS, CustomerPath, check};

pub const ROUTE: Route = Route::get("edge-payments-billing", "/api/v1/payments/billing/{customer_type}/{customer_id}")
    .summary("Reports that a customer has no billing")
    .table(&[BatchGetItem])
    .errors(CUSTOMER_ERRORS);

/// A customer's payment details.
#[derive(Serialize, ToSchema)]
pub struct Billing {
    /// The value is always false, because Gatelet has no payments.
    has_customer: bool,
    /// The value is always null, because Gatelet has no payments.
    #[schema(value_type = Option<Object>)]
    default_payment_method: (),
}

pub async fn handle(access: Access<Client>, Input { path, .. }: Input<IgnoredBody, Nothing, CustomerPath>) -> Result<Json<Billing>, Error> {
    check(&access, &path, &ROUTE).await?;
    Ok(Json(Billing { has_customer: false, default_payment_method: () }))
}
