//! The pages behind the "This wasn't me" link of a verification email.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use store::link::{Link, Release};

/// Finds the link of an email. If the link is invalid, returns a page that explains why.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<Release>, LinkPage>, Error> {
    link_page::find(app, caller, code, "Follow the link in a newer email.").await
}

/// The page with the form that asks for confirmation.
pub(crate) fn question(project: &str, Release { email, .. }: &Release) -> LinkPage {
    let body = format!(
        "<p>Somebody used {} for an account at {}. If that was not you, remove your address from that account. Nobody will be able to \
         sign in with it until you use it yourself.</p>",
        escape_html(email.as_str()),
        escape_html(project),
    );
    LinkPage::question("Is this account not yours?", &body, "This wasn’t me")
}

pub(crate) fn done(email: &str) -> LinkPage {
    let body = format!("<p>{} no longer belongs to that account.</p>", escape_html(email));
    LinkPage::of("Your address is free again", &body)
}

pub(crate) fn used() -> LinkPage {
    LinkPage::of("This link has already been used", "<p>It works only once. The address was removed from that account.</p>")
}

/// The page for an account that no longer exists, no longer has the address, or now belongs to the
/// recipient.
pub(crate) fn nothing_to_release() -> LinkPage {
    LinkPage::of("There is nothing to remove", "<p>That account is gone, no longer has the address, or is yours now.</p>")
}
