//! `GET /api/v1/projects/{project_id}/oauth2/end-session`: the end-session endpoint of the
//! project (RP-Initiated Logout 1.0 §2).

use api::http::Route;
use api::http::TableAction::BatchGetItem;

use crate::answer::Answer;
use crate::pages::logout;
use crate::visit::authorization::AuthorizationVisit;

pub const ROUTE: Route = Route::get("hosted-logout-show", "/api/v1/projects/{project_id}/oauth2/end-session")
    .summary("Accepts the request of an OAuth client to sign a user out")
    .table(&[BatchGetItem])
    .page(&[]);

pub async fn handle(AuthorizationVisit { visit, parameters }: AuthorizationVisit) -> Answer {
    let answer = logout::begin(&visit, &parameters);
    visit.finish(answer)
}
