//! `POST /api/v1/auth/otp/sign-in/check-code`: says whether a sign-in code would be accepted, without redeeming it.
//!
//! It counts an attempt like a sign-in does; otherwise it would be an oracle for guessing (WIRE.md, decision 4).

use axum::extract::State;
use deserr::Deserr;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::{Code, Purpose};
use shared::model::limit::Limit;
use shared::product_api::{Access, Client, Error, Input};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-otp-check-sign-in-code", "/api/v1/auth/otp/sign-in/check-code")
    .summary("Checks a sign-in code without redeeming it")
    .limit(Limit::Code)
    .table(&[BatchGetItem, UpdateItem]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CheckCode {
    /// For a link, the value of its query parameter `code`; for a typed code, its six characters followed by the nonce.
    code: Code,
}

#[derive(Serialize, ToSchema)]
pub struct Checked {
    is_code_valid: bool,
}

pub async fn handle(State(app): State<App>, access: Access<Client>, Input { body, .. }: Input<CheckCode>) -> Result<Json<Checked>, Error> {
    let decision = app.store.try_code(&access.project.id, Purpose::SignIn, &body.code, app.clock.now()).await?;
    Ok(Json(Checked { is_code_valid: decision.is_ok() }))
}
