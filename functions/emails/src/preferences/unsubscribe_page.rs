//! The pages behind the unsubscribe link of a mail.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use model::email::category::Category;
use store::link::{Link, Unsubscribe};

/// What the link of a mail is for, or the page that says why it is for nothing.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<Unsubscribe>, LinkPage>, Error> {
    let instead = "Follow the link of a newer mail, or change what you get in the settings of your account.";
    link_page::find(app, caller, code, instead).await
}

/// The question, with the form that answers it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what `show` gives to every page")]
pub(crate) fn question(project: &str, link: &Unsubscribe) -> LinkPage {
    let body = format!(
        "<p>{} will not send you {} mails any more. Mails that belong to using your account still come.</p>",
        escape_html(project),
        noun(link.category),
    );
    LinkPage::question("Unsubscribe?", &body, "Unsubscribe")
}

pub(crate) fn done(category: Category) -> LinkPage {
    LinkPage::of("You are unsubscribed", &format!("<p>You will not get {} mails any more.</p>", noun(category)))
}

pub(crate) fn used() -> LinkPage {
    let text = "This link was used before, and works once. What you get is in the settings of your account.";
    LinkPage::of("You have unsubscribed already", &format!("<p>{text}</p>"))
}

fn noun(category: Category) -> &'static str {
    match category {
        Category::Transactional => "transactional",
        Category::Marketing => "marketing",
    }
}
