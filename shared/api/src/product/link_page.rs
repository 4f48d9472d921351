//! Pages behind the links of emails ([`links`](store::link)). Whoever follows one is a person at a browser, so errors are pages as
//! well; programs have the status and the code in a header. A page asks, and its form answers: nothing changes on GET, as mail scanners
//! follow links.

use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{AnsweredCode, Error, KnownError};
use flows::App;
use flows::limits::unproved;
use http::StatusCode;
use model::code::{Code, Rejected};
use store::link::{Link, Purpose};
use utoipa::ToSchema;

use crate::http::client::Caller;
use crate::http::describe::{Describe, Description};
use crate::http::text::Page;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LinkQuery {
    /// The code of the link.
    pub code: Code,
}

/// A page, for whatever reason.
pub struct LinkPage(Response);

impl LinkPage {
    /// `title` and `body` are HTML.
    pub fn of(title: &str, body: &str) -> Self {
        Self(Page::of(StatusCode::OK, title, body).into_response())
    }

    /// A question, with the form that answers it.
    pub fn question(title: &str, body: &str, button: &str) -> Self {
        Self::of(title, &format!("{body}\n<form method=\"post\"><button>{button}</button></form>"))
    }
}

impl IntoResponse for LinkPage {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Describe for LinkPage {
    fn describe(description: &mut Description) {
        Page::describe(description);
    }
}

/// What a link that is followed with GET shows: the question, to which `question` is given the name of the project and what the link is
/// for; `used` when it was used before. `found` is what [`find`] found.
pub async fn show<P: Purpose>(
    app: &App,
    found: Result<Link<P>, LinkPage>,
    used: impl FnOnce() -> LinkPage,
    question: impl FnOnce(&str, &P) -> LinkPage,
) -> Result<LinkPage, Error> {
    let link = match found {
        Ok(link) if link.used => return Ok(used()),
        Ok(link) => link,
        Err(page) => return Ok(page),
    };
    let project = app.store.project(&link.project_id).await?.map(|row| row.project.display_name);
    Ok(question(&project.unwrap_or_default(), &link.purpose))
}

/// The link of a code, or the page that says why there is none; `instead` says what to do then. Codes that nobody has are counted by the
/// address.
pub async fn find<P: Purpose>(app: &App, caller: &Caller, code: &Code, instead: &str) -> Result<Result<Link<P>, LinkPage>, Error> {
    let rejected = match app.store.link(code).await? {
        None => {
            unproved(app, None, &caller.place).await?;
            Rejected::NotFound
        }
        Some(link) if link.expires_at <= app.clock.now() => Rejected::Expired,
        Some(link) => return Ok(Ok(link)),
    };
    let error = KnownError::from(rejected);
    let page = Page::of(error.status(), "This link does not work any more", &format!("<p>{instead}</p>"));
    let mut answer = page.into_response();
    answer.extensions_mut().insert(AnsweredCode(error.code()));
    Ok(Err(LinkPage(answer)))
}
