//! `/handler/email-verification`: the page that verification emails link to, for apps that have no
//! such page.
//!
//! Opening the link changes nothing, as mail scanners open links, too; the button redeems the code.
//! The code belongs to the project in the query parameter `project`, by default to the one that
//! sent it. The page is open to anyone: the code proves access to the email address.

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
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
    let project = match link.project {
        Some(project) => project,
        None => match sender(&pages, &link.code).await {
            Ok(project) => project.map(|project| project.to_string()).unwrap_or_default(),
            Err(error) => {
                tracing::error!("cannot find the project of a code: {error}");
                return shown(&pages, StatusCode::INTERNAL_SERVER_ERROR, FAILED, AGAIN, "");
            }
        },
    };
    let call = Call::new("POST", OPERATION, Level::Client, &project).with_body(&json!({ "code": link.code }));
    let (status, body) = call.answer(&pages, request.extensions()).await;
    let code = body["code"].as_str().unwrap_or_default();
    let (title, text) = match code {
        "" if status.is_success() => ("Your address is verified", "You can close this page and go back to the app."),
        "VERIFICATION_CODE_ALREADY_USED" => {
            ("This link was used before", "The address is already verified, unless it has been removed since.")
        }
        "VERIFICATION_CODE_EXPIRED" => ("This link has expired", "Ask the app for a new verification email."),
        "VERIFICATION_CODE_NOT_FOUND" | "SCHEMA_ERROR" => ("This link is not valid", "Ask the app for a new verification email."),
        _ => (FAILED, body["error"].as_str().unwrap_or(AGAIN)),
    };
    shown(&pages, status, title, text, code)
}

/// The project that sent a code, or else the gateway's first one, which then refuses the code.
async fn sender(pages: &Pages, code: &str) -> Result<Option<ProjectId>, store::Error> {
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
