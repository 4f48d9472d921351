//! Pages behind the links in emails ([`links`](store::link)). Visitors are people in a browser, so
//! the error for a link that no longer works is also a page. Programs recognize the error by the
//! status and headers. A GET only shows a question with a form, which the visitor submits to
//! confirm. A GET must not change anything, because email scanners follow links.

use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{AnsweredCode, Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::unproved;
use http::StatusCode;
use model::code::{Code, CodeRefusal};
use store::link::{Link, Purpose};
use utoipa::ToSchema;

use crate::http::client::Caller;
use crate::http::describe::{Describe, Description};
use crate::http::text::Page;

/// The query of a link.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LinkQuery {
    /// The code of the link.
    #[deserr(default = unknown(), from(String) = code_of)]
    pub code: Code,
}

/// The code of a link. Text that is not a code, for example because a mail program cut the link
/// off, becomes a code that does not exist. Visitors then see the page for links that no longer
/// work.
fn code_of(text: String) -> Code {
    Code::parse(&text).unwrap_or_else(|_| unknown())
}

fn unknown() -> Code {
    Code::new(String::new().into())
}

/// The page behind a link: a question, a result or an error.
pub struct LinkPage(Response);

impl LinkPage {
    /// A page with status 200; `title` and `body` are HTML.
    pub fn of(title: &str, body: &str) -> Self {
        Self(Page::of(StatusCode::OK, title, body).into_response())
    }

    /// A question with a form to confirm.
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

/// The page of a link on GET. `found` is the result of [`find`]. `question` builds the page from
/// the project's name and the link's purpose; `used` builds the page for a link that has already
/// been used.
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

/// The link with this code, or the page for links that no longer work. `instead` is HTML for that
/// page, which tells visitors what to do instead. Requests with unknown codes are counted by the
/// caller's IP address.
pub async fn find<P: Purpose>(app: &App, caller: &Caller, code: &Code, instead: &str) -> Result<Result<Link<P>, LinkPage>, Error> {
    let rejected = match app.store.link(code).await? {
        None => {
            unproved(app, None, &caller.place).await?;
            CodeRefusal::NotFound
        }
        Some(link) if link.expires_at <= app.clock.now() => CodeRefusal::Expired,
        Some(link) => return Ok(Ok(link)),
    };
    let error = KnownError::from(rejected);
    let page = Page::of(error.status(), "This link no longer works", &format!("<p>{instead}</p>"));
    let mut answer = page.into_response();
    answer.extensions_mut().insert(AnsweredCode(ErrorCode::from(&error)));
    Ok(Err(LinkPage(answer)))
}
