//! The pages behind the "This wasn't me" link of a verification email. Whoever follows the link is a person at a browser, so errors are
//! pages as well; programs have the status and the code in a header.

use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use http::StatusCode;
use shared::App;
use shared::http::{Describe, Description, Page, escape_html};
use shared::model::code::{Code, Rejected};
use shared::product_api::error::ErrorCode;
use shared::product_api::{Error, KnownError};
use shared::store::release_links::ReleaseLink;
use utoipa::ToSchema;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LinkQuery {
    /// The code of the link.
    pub(crate) code: Code,
}

/// A page, for whatever reason.
pub struct Shown(pub(crate) Response);

impl IntoResponse for Shown {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Describe for Shown {
    fn describe(description: &mut Description) {
        Page::describe(description);
    }
}

/// What the link of an email is for, or the page that says why it is for nothing.
pub(crate) async fn find(app: &App, code: &Code) -> Result<Result<ReleaseLink, Shown>, Error> {
    let rejected = match app.store.release_link(code).await? {
        None => Rejected::NotFound,
        Some(link) if link.expires_at <= app.clock.now() => Rejected::Expired,
        Some(link) => return Ok(Ok(link)),
    };
    let error = KnownError::from(rejected);
    let text = "Follow the link of a newer email.";
    let mut answer = Page::of(error.status(), "This link does not work any more", &format!("<p>{text}</p>")).into_response();
    answer.extensions_mut().insert(ErrorCode(error.code()));
    Ok(Err(Shown(answer)))
}

/// The question, with the form that answers it.
pub(crate) fn question(project: &str, email: &str) -> Shown {
    let body = format!(
        "<p>Somebody used {} for an account at {}. If that was not you, remove your address from their account: nobody will sign in \
         with it until you do.</p>\n<form method=\"post\"><button>This wasn’t me</button></form>",
        escape_html(email),
        escape_html(project),
    );
    shown("Is this account not yours?", &body)
}

pub(crate) fn done(email: &str) -> Shown {
    shown("Your address is free again", &format!("<p>{} does not belong to that account any more.</p>", escape_html(email)))
}

pub(crate) fn used() -> Shown {
    shown("This link was used before", "<p>It works once. The address does not belong to that account any more.</p>")
}

/// The account is gone, or has no such address, or is its recipient's by now.
pub(crate) fn nothing_to_release() -> Shown {
    shown("There is nothing to remove", "<p>The address does not belong to that account any more.</p>")
}

fn shown(title: &str, body: &str) -> Shown {
    Shown(Page::of(StatusCode::OK, title, body).into_response())
}
