//! `GET /handler/{page}`: shows a page to a user of the project.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use auth_functions::{cli_complete, oauth_authorize, oauth_cross_domain, oauth_token, session_delete, session_delete_current};
use openid_functions::{authorization_complete, logout_begin};
use teams_functions::invitation_details;

use crate::answer::Answer;
use crate::pages;
use crate::visit::Visit;

/// Showing a page only reads data, with two exceptions: the end of a provider's flow starts a
/// session, and a client may sign its user out.
const CALLS: &[Route] = &[
    authorization_complete::ROUTE,
    cli_complete::ROUTE,
    invitation_details::ROUTE,
    logout_begin::ROUTE,
    oauth_authorize::ROUTE,
    oauth_cross_domain::ROUTE,
    oauth_token::ROUTE,
    session_delete::ROUTE,
    session_delete_current::ROUTE,
];

pub const ROUTE: Route =
    Route::get("hosted-page-show", "/handler/{page}").summary("Shows a hosted page, such as sign-in").table(&[BatchGetItem]).page(CALLS);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = pages::show(&mut visit).await;
    visit.finish(answer)
}
