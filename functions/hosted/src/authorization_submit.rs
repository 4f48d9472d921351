//! `POST /api/v1/projects/{project_id}/oauth2/authorize`: the authorization endpoint of the project
//! (RFC 6749 §3.1), for clients that send the request as a form.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use openid_functions::authorization_begin;

use crate::answer::Answer;
use crate::pages::authorize;
use crate::visit::authorization::AuthorizationVisit;

const CALLS: &[Route] = &[authorization_begin::ROUTE];

pub const ROUTE: Route = Route::post("hosted-authorization-submit", "/api/v1/projects/{project_id}/oauth2/authorize")
    .summary("Accepts the authorization request of an OAuth client, as a form")
    .table(&[BatchGetItem])
    .page(CALLS);

pub async fn handle(AuthorizationVisit { visit, parameters }: AuthorizationVisit) -> Answer {
    let answer = authorize::begin(&visit, parameters).await;
    visit.finish(answer)
}
