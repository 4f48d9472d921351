//! The pages behind the unsubscribe link of an email.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use model::email::category::Category;
use store::link::{Link, Unsubscribe};

/// Finds the link of an email. If the link is invalid, returns a page that explains why.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<Unsubscribe>, LinkPage>, Error> {
    let instead = "Follow the link in a newer email, or choose which emails you get in your account settings.";
    link_page::find(app, caller, code, instead).await
}

/// The page with the form that asks for confirmation.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "`show` passes a reference to every page")]
pub(crate) fn question(project: &str, link: &Unsubscribe) -> LinkPage {
    let body = format!(
        "<p>{} will no longer send you {} emails. You will still get the emails needed to use your account.</p>",
        escape_html(project),
        noun(link.category),
    );
    LinkPage::question("Unsubscribe?", &body, "Unsubscribe")
}

pub(crate) fn done(category: Category) -> LinkPage {
    LinkPage::of("You are unsubscribed", &format!("<p>You will no longer get {} emails.</p>", noun(category)))
}

pub(crate) fn used() -> LinkPage {
    let text = "This link works once. You can choose in your account settings which emails you get.";
    LinkPage::of("You have already unsubscribed", &format!("<p>{text}</p>"))
}

fn noun(category: Category) -> &'static str {
    match category {
        Category::Transactional => "transactional",
        Category::Marketing => "marketing",
    }
}
