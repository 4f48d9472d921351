//! Completes links of verification emails that do not name a project:
//! `/handler/email-verification?code=…`.
//!
//! Hosted pages need a project in the query, or a host that belongs to a project. A link with
//! neither is completed with the project that sent the code. Anyone may open a link without a
//! project, so the search for the project counts as an unproved request from the caller's IP
//! address.

use api::http::client::Caller;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::any;
use flows::limits::unproved;
use http::{StatusCode, header};
use model::code::{Code, Purpose};
use tower::ServiceExt as _;
use url::form_urlencoded;
use wire::id::ProjectId;

use super::request::path_with;
use super::state::Pages;

pub(super) const PATH: &str = "/handler/email-verification";
const LATER: &str = "There were too many attempts from your IP address; try again in a few minutes.";

pub(super) fn router(pages: Pages) -> Router {
    Router::new().route(PATH, any(complete)).with_state(pages)
}

async fn complete(State(pages): State<Pages>, request: Request) -> Response {
    let query: Vec<(String, String)> = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()).into_owned().collect();
    let value = |name: &str| query.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let has_own_host = host.and_then(|host| pages.app.settings.own_pages.project_of(host)).is_some();
    let code = value("code").unwrap_or_default().to_owned();
    if has_own_host || code.is_empty() || value("project_id").or_else(|| value("project")).is_some() {
        return pages.api.clone().oneshot(request).await.into_response();
    }
    let (parts, _) = request.into_parts();
    let caller = Caller::read(&parts, &pages.app.settings);
    match sender(&pages, &caller, &code).await {
        Ok(project) => {
            let project = project.map(|project| project.to_string()).unwrap_or_default();
            Redirect::to(&path_with(PATH, &[("code", &code), ("project_id", &project)])).into_response()
        }
        Err(store::Error::Limited(_)) => pages.message(StatusCode::TOO_MANY_REQUESTS, "Try again later", LATER, &[]),
        Err(error) => {
            tracing::error!("cannot find the project of a code: {error}");
            pages.message(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong", "Try again.", &[])
        }
    }
}

/// The project that sent a code or, if no project did, the gateway's first project, which then
/// rejects the code.
async fn sender(pages: &Pages, caller: &Caller, code: &str) -> Result<Option<ProjectId>, store::Error> {
    unproved(&pages.app, None, &caller.place).await?;
    let projects: Vec<ProjectId> = pages.projects().await?.into_iter().map(|project| project.id).collect();
    let found = match Code::parse(code) {
        Ok(code) => pages.app.store.project_of_code(&projects, Purpose::VerifyEmail, &code).await?,
        Err(_) => None,
    };
    Ok(found.or_else(|| projects.into_iter().next()))
}
