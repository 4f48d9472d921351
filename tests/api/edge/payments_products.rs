//! `GET /api/v1/payments/products/{customer_type}/{customer_id}`. The tests in `payments_billing`
//! cover access.

use serde_json::json;
use support::TestApp;

#[tokio::test]
async fn the_product_list_is_one_empty_page() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let wanted = json!({ "items": [], "is_paginated": true, "pagination": { "next_cursor": null } });
    for query in ["", "?limit=1", "?limit=100&cursor=anything"] {
        let answer = app.signed_in(&ada).get(&format!("/api/v1/payments/products/user/me{query}")).await;
        assert_eq!((answer.status(), answer.json()), (200, wanted.clone()), "{query}");
    }
    for query in ["?limit=0", "?limit=101", "?limit=x", "?nonsense=1"] {
        let answer = app.signed_in(&ada).get(&format!("/api/v1/payments/products/user/me{query}")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{query}");
    }
}
