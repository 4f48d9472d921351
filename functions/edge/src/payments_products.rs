//! `GET /api/v1/payments/products/{customer_type}/{customer_id}`: returns an empty list of a
//! customer's products. The prebuilt account pages of the SDKs then hide their payments page.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::Error;
use serde::Serialize;
use utoipa::ToSchema;

use crate::customers::{CUSTOMER_ERRORS, CustomerPath, check};

pub const ROUTE: Route = Route::get("edge-payments-products", "/api/v1/payments/products/{customer_type}/{customer_id}")
    .summary("Returns an empty list of a customer's products")
    .table(&[BatchGetItem])
    .errors(CUSTOMER_ERRORS);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProductsQuery {
    /// 1 to 100. Default: 100.
    limit: Option<Limit<100, 100>>,
    /// Ignored. There is only one page, so the response contains no cursor.
    #[expect(dead_code, reason = "SDKs send it, but there is only one page")]
    cursor: Option<String>,
}

/// A customer's product.
#[derive(Serialize, ToSchema)]
pub struct CustomerProduct {}

pub async fn handle(
    access: Access<Client>,
    Input { path, query, .. }: Input<IgnoredBody, ProductsQuery, CustomerPath>,
) -> Result<Json<Page<CustomerProduct>>, Error> {
    page::limit(query.limit, &ROUTE)?;
    check(&access, &path, &ROUTE).await?;
    Ok(Json(Page::new(Vec::new(), None)))
}
