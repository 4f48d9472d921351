//! The pages behind the "This wasn't me" link of an email about an account.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use model::notice::NotMe;
use store::link::Link;

/// How the recipient gets into the account afterwards.
pub(crate) enum WayBack {
    /// By the code that was sent.
    Emailed,
    /// As usual: no code can be sent, since the project has no passwords or no page for them.
    AsUsual,
    /// Not by this address: somebody else signs in with it.
    Taken,
}

/// What the link of an email is for, or the page that says why it is for nothing.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<NotMe>, LinkPage>, Error> {
    link_page::find(app, caller, code, "Follow the link of a newer email, or choose “Forgot password?” where you sign in.").await
}

/// The question, with the form that answers it.
pub(crate) fn question(project: &str, link: &NotMe) -> LinkPage {
    let undo = match link.before {
        Some(_) => "Addresses, the authenticator app and linked accounts will be as they were before the change in the email.",
        None => "Changes stay: the link in the email to the address that your account has had for longest undoes them.",
    };
    let body = format!(
        "<p>If somebody else was in your account at {}, shut them out. Everybody will be signed out, and the password will be removed. \
         {undo}</p><p>To set a new password, you get an email at {}.</p>",
        escape_html(project),
        escape_html(link.email.as_str()),
    );
    LinkPage::question("Wasn’t this you?", &body, "This wasn’t me")
}

pub(crate) fn done(link: &NotMe, way_back: &WayBack) -> LinkPage {
    let email = escape_html(link.email.as_str());
    let next = match way_back {
        WayBack::Emailed => format!("We have sent a link to set a new password to {email}."),
        WayBack::AsUsual => format!("Sign in with {email} as usual, or choose “Forgot password?” where you sign in."),
        WayBack::Taken => format!("Somebody else signs in with {email} by now: sign in with another address of your account."),
    };
    let undone = if link.before.is_some() { "The changes are undone, and " } else { "" };
    let body = format!("<p>{undone}everybody is signed out. {next}</p>");
    LinkPage::of("Your account is closed to everybody else", &body.replacen("<p>everybody", "<p>Everybody", 1))
}

pub(crate) fn used() -> LinkPage {
    LinkPage::of("This link was used before", "<p>It works once. Choose “Forgot password?” where you sign in to set a new password.</p>")
}

/// The account is gone, has another owner, or what the link is about is undone.
pub(crate) fn nothing_to_undo() -> LinkPage {
    let text = "The change was undone before, or the account is another one by now. Choose “Forgot password?” where you sign in if \
                you cannot get into your account.";
    LinkPage::of("There is nothing to undo", &format!("<p>{text}</p>"))
}
