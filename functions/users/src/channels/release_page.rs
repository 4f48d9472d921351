//! The pages behind the "This wasn't me" link of a verification email.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use store::link::{Link, Release};

/// What the link of an email is for, or the page that says why it is for nothing.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<Release>, LinkPage>, Error> {
    link_page::find(app, caller, code, "Follow the link of a newer email.").await
}

/// The question, with the form that answers it.
pub(crate) fn question(project: &str, Release { email, .. }: &Release) -> LinkPage {
    let body = format!(
        "<p>Somebody used {} for an account at {}. If that was not you, remove your address from their account: nobody will sign in \
         with it until you do.</p>",
        escape_html(email.as_str()),
        escape_html(project),
    );
    LinkPage::question("Is this account not yours?", &body, "This wasn’t me")
}

pub(crate) fn done(email: &str) -> LinkPage {
    let body = format!("<p>{} does not belong to that account any more.</p>", escape_html(email));
    LinkPage::of("Your address is free again", &body)
}

pub(crate) fn used() -> LinkPage {
    LinkPage::of("This link was used before", "<p>It works once. The address does not belong to that account any more.</p>")
}

/// The account is gone, or has no such address, or is its recipient's by now.
pub(crate) fn nothing_to_release() -> LinkPage {
    LinkPage::of("There is nothing to remove", "<p>The address does not belong to that account any more.</p>")
}
