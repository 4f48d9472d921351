//! `/handler/email-verification`: the page that verification emails link to, for apps that have no
//! such page.
//!
//! Opening the link changes nothing, as mail scanners open links, too; the button redeems the code.
//! The code belongs to the project in the query parameter `project`, by default to the one that
//! sent it. The page is open to anyone: the code proves access to the email address. So a search
//! for the project counts as an unproved request of the caller's IP address, and the code is
//! redeemed with the rights of an anonymous client.

use api::http::client::Caller;
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use axum::routing::get;
use flows::limits::unproved;
use http::StatusCode;
use http::request::Parts;
use model::code::{Code, Purpose};
use serde::Deserialize;
use serde_json::json;
use wire::id::ProjectId;
use wire::level::Level;

use super::answer;
use super::call::Call;
use super::state::Pages;

pub(super) const PATH: &str = "/handler/email-verification";
const FAILED: &str = "The address could not be verified";
const AGAIN: &str = "Something went wrong; try again.";
const LATER: &str = "There were too many attempts from your IP address; try again in a few minutes.";
const OPERATION: &str = "/api/v1/contact-channels/verify";

pub(super) fn router(pages: Pages) -> Router {
    Router::new().route(PATH, get(ask).post(redeem)).with_state(pages)
}

#[derive(Deserialize)]
struct Link {
    #[serde(default)]
    code: String,
    project: Option<String>,
}

async fn ask(State(pages): State<Pages>, Query(link): Query<Link>) -> Response {
    if link.code.is_empty() {
        return shown(&pages, StatusCode::BAD_REQUEST, "This link is incomplete", "Open the complete link from the email.", "");
    }
    let page = json!({ "title": "Verify your email address", "text": "Confirm that this address is yours.", "asks": true, "error": "" });
    pages.page("verification", "", page)
}

async fn redeem(State(pages): State<Pages>, Query(link): Query<Link>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let project = match link.project {
        Some(project) => project,
        None => match sender(&pages, &parts, &link.code).await {
            Ok(project) => project.map(|project| project.to_string()).unwrap_or_default(),
            Err(store::Error::Limited(_)) => return shown(&pages, StatusCode::TOO_MANY_REQUESTS, FAILED, LATER, ""),
            Err(error) => {
                tracing::error!("cannot find the project of a code: {error}");
                return shown(&pages, StatusCode::INTERNAL_SERVER_ERROR, FAILED, AGAIN, "");
            }
        },
    };
    let call = Call::new("POST", OPERATION, Level::Client, &project).of_a_stranger().with_body(&json!({ "code": link.code }));
    let (status, body) = call.answer(&pages, &parts.extensions).await;
    let code = body["code"].as_str().unwrap_or_default();
    let (title, text) = match code {
        "" if status.is_success() => ("Your address is verified", "You can close this page and go back to the app."),
        "VERIFICATION_CODE_ALREADY_USED" => {
            ("This link has already been used", "The address is already verified, unless it has been removed since.")
        }
        "VERIFICATION_CODE_EXPIRED" => ("This link has expired", "Ask the app for a new verification email."),
        "VERIFICATION_CODE_NOT_FOUND" | "SCHEMA_ERROR" => ("This link is not valid", "Ask the app for a new verification email."),
        "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT" => {
            (FAILED, "The project requires a client key, which this page does not have: the app needs a page of its own.")
        }
        _ => (FAILED, body["error"].as_str().unwrap_or(AGAIN)),
    };
    shown(&pages, status, title, text, code)
}

/// The project that sent a code, or else the gateway's first one, which then refuses the code.
async fn sender(pages: &Pages, parts: &Parts, code: &str) -> Result<Option<ProjectId>, store::Error> {
    unproved(&pages.app, None, &Caller::read(parts, &pages.app.settings).place).await?;
    let projects: Vec<ProjectId> = pages.projects().await?.into_iter().map(|project| project.id).collect();
    let found = match Code::parse(code) {
        Ok(code) => pages.app.store.project_of_code(&projects, Purpose::VerifyEmail, &code).await?,
        Err(_) => None,
    };
    Ok(found.or_else(|| projects.into_iter().next()))
}

fn shown(pages: &Pages, status: StatusCode, title: &str, text: &str, error: &str) -> Response {
    let page = json!({ "title": title, "text": text, "asks": false, "error": error });
    answer::page(status, pages.frame.page("verification", "", page))
}
