//! The pages. Each page has a function that shows it. If the page has a form, another function
//! handles the form.

pub(crate) mod authorize;
mod device;
mod factor_form;
mod invitation;
mod links;
pub(crate) mod logout;
pub(crate) mod notice;
mod onboarding;
mod passkey;
mod password;
pub(crate) mod provider;
mod second_factor;
pub(crate) mod sign_in;
mod sign_out;
mod sign_up;
mod signed_in;
pub(crate) mod ways;

use http::StatusCode;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::visit::Visit;
use crate::visit::authorization::{AUTHORIZE, LOGOUT};

/// Shows a page.
pub(crate) async fn show(visit: &mut Visit) -> Answer {
    if let Some(answer) = provider::fetch_session(visit) {
        return answer;
    }
    match visit.page.as_str() {
        AUTHORIZE => authorize::show(visit).await,
        LOGOUT => logout::show(visit).await,
        "sign-in" => sign_in::show(visit),
        "sign-up" => sign_up::show(visit),
        "forgot-password" => password::show_forgot(visit),
        "password-reset" => password::show_reset(visit),
        "email-verification" => links::show_verification(visit),
        "magic-link-callback" => links::show_magic_link(visit),
        "mfa" => Answer::redirect(&visit.place.url("sign-in", &visit.way_back())),
        "sign-out" => sign_out::show(visit),
        "team-invitation" => invitation::show(visit).await,
        "cli-auth-confirm" => device::show(visit).await,
        "onboarding" => onboarding::show(visit),
        "oauth-start" => provider::start(visit).await,
        "oauth-callback" => provider::finish(visit).await,
        "error" => provider::show_error(visit),
        _ => missing(visit),
    }
}

/// Handles a page's form.
pub(crate) async fn submit(visit: &mut Visit) -> Answer {
    if !visit.is_own_form() {
        return again(visit).await;
    }
    match visit.page.as_str() {
        AUTHORIZE => authorize::submit(visit).await,
        LOGOUT => logout::submit(visit).await,
        "sign-in" => sign_in::submit(visit).await,
        "sign-up" => sign_up::submit(visit).await,
        "forgot-password" => password::submit_forgot(visit).await,
        "password-reset" => password::submit_reset(visit).await,
        "email-verification" => links::submit_verification(visit).await,
        "magic-link-callback" => links::submit_magic_link(visit).await,
        "mfa" => second_factor::submit(visit).await,
        "sign-out" => sign_out::submit(visit).await,
        "team-invitation" => invitation::submit(visit).await,
        "cli-auth-confirm" => device::submit(visit).await,
        "onboarding" => onboarding::submit(visit).await,
        "oauth-start" => provider::start(visit).await,
        _ => missing(visit),
    }
}

/// If a form does not belong to this browser's session, shows the page again instead of handling
/// the form. The session may have begun or ended in another tab, cookies may be blocked, or another
/// site may have sent the form.
async fn again(visit: &mut Visit) -> Answer {
    visit.problem = Some(visit.text("common.expired_form"));
    if visit.page == "mfa" {
        // Without the sign-in attempt in the form, the sign-in cannot continue.
        return sign_in::show(visit).with_status(StatusCode::FORBIDDEN);
    }
    let answer = Box::pin(show(visit)).await;
    answer.with_status(StatusCode::FORBIDDEN)
}

fn missing(visit: &Visit) -> Answer {
    Notice::new(visit, visit.text("problem.not_found"))
        .link("sign-in", visit.text("sign_in.link"))
        .answer()
        .with_status(StatusCode::NOT_FOUND)
}
