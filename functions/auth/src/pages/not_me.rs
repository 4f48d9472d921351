//! The pages behind the "This wasn't me" link of an email about an account.

use api::http::client::Caller;
use api::http::escape_html;
use api::product::link_page::{self, LinkPage};
use errors::Error;
use flows::App;
use model::code::Code;
use model::notice::NotMe;
use store::link::Link;

/// How the recipient can sign in to the account again.
pub(crate) enum WayBack {
    /// The recipient has received an email with a link for setting a new password.
    Emailed,
    /// The recipient signs in as usual. No link can be sent, because the project does not use
    /// passwords or has no page for setting them.
    AsUsual,
    /// The recipient cannot use this email address, because it is not used for signing in or now
    /// belongs to another user.
    Taken,
}

/// Finds the link of an email. If the link is invalid, returns a page that explains why.
pub(crate) async fn find(app: &App, caller: &Caller, code: &Code) -> Result<Result<Link<NotMe>, LinkPage>, Error> {
    link_page::find(app, caller, code, "Follow the link in a newer email, or choose “Forgot password?” where you sign in.").await
}

/// The page with the form that asks for confirmation.
pub(crate) fn question(project: &str, link: &NotMe) -> LinkPage {
    let undo = match link.before {
        Some(_) => "Addresses, authenticator apps, passkeys and linked accounts will be restored to what they were before the change.",
        None => "Changes are kept: only the link in the email to your account’s oldest address undoes them.",
    };
    let body = format!(
        "<p>If somebody else has used your account at {}, you can lock them out. Everybody will be signed out, and the password \
         will be removed. {undo}</p><p>If possible, you will get an email at {} to set a new password.</p>",
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
        WayBack::Taken => format!("You cannot sign in to this account with {email}. Use another address of the account."),
    };
    let undone = if link.before.is_some() { "The changes are undone, and " } else { "" };
    let body = format!("<p>{undone}everybody is signed out. {next}</p>");
    LinkPage::of("Everybody else is locked out of your account", &body.replacen("<p>everybody", "<p>Everybody", 1))
}

pub(crate) fn used() -> LinkPage {
    LinkPage::of(
        "This link has already been used",
        "<p>It works only once. Choose “Forgot password?” where you sign in to set a new password.</p>",
    )
}

/// The page for a project or account that no longer exists, or for a link that is no longer valid
/// ([`Refusal`](model::notice::Refusal)).
pub(crate) fn nothing_to_undo() -> LinkPage {
    let text = "The change has already been undone, or the address or account is no longer yours. If you cannot get into your account, \
                choose “Forgot password?” where you sign in.";
    LinkPage::of("There is nothing to undo", &format!("<p>{text}</p>"))
}
