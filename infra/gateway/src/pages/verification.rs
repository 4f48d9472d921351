//! `/handler/email-verification`: the page that verification emails link to, for apps that have no
//! such page yet.
//!
//! Opening the link changes nothing, as mail scanners open links too; the button redeems the code.
//! The code belongs to the project that the query parameter `project` names, by default to the
//! gateway's first project. The page is open to anybody: the code proves access to the email
//! address.

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use wire::level::Level;

use super::answer;
use super::call::Call;
use super::state::Pages;

pub(super) const PATH: &str = "/handler/email-verification";
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
    let first = pages.private.as_ref().map(|private| private.keys.project_id.to_string());
    let project = link.project.or(first).unwrap_or_default();
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
        _ => ("The address could not be verified", body["error"].as_str().unwrap_or("Something went wrong; try again.")),
    };
    shown(&pages, status, title, text, code)
}

fn shown(pages: &Pages, status: StatusCode, title: &str, text: &str, error: &str) -> Response {
    let page = json!({ "title": title, "text": text, "asks": false, "error": error });
    answer::page(status, pages.frame.page("verification", "", page))
}
