//! The pages behind the unsubscribe link of a mail. Whoever follows the link is a person at a browser, so errors are pages as well; programs
//! have the status and the code in a header.

use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use http::StatusCode;
use shared::App;
use shared::http::{Page, escape_html};
use shared::model::code::{Code, Rejected};
use shared::model::outbox::Category;
use shared::product_api::error::ErrorCode;
use shared::product_api::{Error, KnownError};
use shared::store::unsubscribe_links::UnsubscribeLink;
use utoipa::ToSchema;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LinkQuery {
    /// The code of the link.
    pub(crate) code: Code,
}

/// What the link of a mail is for, or the page that says why it is for nothing.
pub(crate) async fn find(app: &App, code: &Code) -> Result<Result<UnsubscribeLink, Response>, Error> {
    let rejected = match app.store.unsubscribe_link(code).await? {
        None => Rejected::NotFound,
        Some(link) if link.expires_at <= app.clock.now() => Rejected::Expired,
        Some(link) => return Ok(Ok(link)),
    };
    let error = KnownError::from(rejected);
    let text = "Follow the link of a newer mail, or change what you get in the settings of your account.";
    let mut answer = Page::of(error.status(), "This link does not work any more", &format!("<p>{text}</p>")).into_response();
    answer.extensions_mut().insert(ErrorCode(error.code()));
    Ok(Err(answer))
}

/// The question, with the form that answers it.
pub(crate) fn question(project: &str, category: Category) -> Page {
    let body = format!(
        "<p>{} will not send you {} mails any more. Mails that belong to using your account still come.</p>\n\
         <form method=\"post\"><button>Unsubscribe</button></form>",
        escape_html(project),
        noun(category),
    );
    Page::of(StatusCode::OK, "Unsubscribe?", &body)
}

pub(crate) fn done(category: Category) -> Page {
    Page::of(StatusCode::OK, "You are unsubscribed", &format!("<p>You will not get {} mails any more.</p>", noun(category)))
}

pub(crate) fn used() -> Page {
    let text = "This link was used before, and works once. What you get is in the settings of your account.";
    Page::of(StatusCode::OK, "You have unsubscribed already", &format!("<p>{text}</p>"))
}

fn noun(category: Category) -> &'static str {
    match category {
        Category::Transactional => "transactional",
        Category::Marketing => "marketing",
    }
}
