//! `sign-in`: offers every way to sign in that the project has enabled, and to continue as the
//! current user.

use auth_functions::{otp_send_sign_in_code, otp_sign_in, password_sign_in};
use http::StatusCode;
use minijinja::context;
use model::bot_challenge::GuardedOperation;
use serde_json::json;

use crate::answer::Answer;
use crate::pages::{authorize, passkey, signed_in, ways};
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};
use crate::visit::cookies::Cookie;
use crate::visit::fields::Fields;
use crate::visit::way_back::WayBack;

/// The number of characters of a code that are in the email. The remaining characters are the
/// nonce.
const TYPED: usize = 6;

pub(super) fn show(visit: &Visit) -> Answer {
    form(visit, None)
}

/// The form, and the reason if an operation has rejected the form.
fn form(visit: &Visit, reply: Option<&Reply>) -> Answer {
    let values = context! {
        problem => visit.problem.clone().or_else(|| visit.general_problem(reply)),
        note => note(visit),
        problems => visit.field_problems(reply),
        visitor => visit.visitor_shown().filter(|_| !authorize::wants_another(visit)),
        ways => ways::ways(visit),
        last => visit.cookies.get(Cookie::Way),
        email => visit.form.get("email").or_else(|| visit.query.get("login_hint")).unwrap_or_default(),
        challenge => ways::challenge(visit, GuardedOperation::SendSignInCode, reply),
    };
    visit.document("sign_in", values).status(reply.map_or(StatusCode::OK, |reply| reply.status)).answer()
}

/// A note about the page or app to which the visitor will return.
fn note(visit: &Visit) -> Option<String> {
    let back = WayBack::of(visit);
    if back.is_untrusted(visit) {
        return Some(visit.fill("common.untrusted", &[("project", &visit.project.display_name)]));
    }
    match back.own_page(visit)?.as_str() {
        "team-invitation" => Some(visit.text("invitation.sign_in_first")),
        "cli-auth-confirm" => Some(visit.text("device.sign_in_first")),
        _ => None,
    }
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    match visit.form.text("action") {
        "continue" if visit.visitor.is_some() => signed_in::go_back(visit).await,
        "code" => send_code(visit).await,
        "enter-code" => enter_code(visit).await,
        "passkey-begin" => passkey::begin(visit).await,
        "passkey" => {
            let reply = passkey::sign_in(visit).await;
            taken(visit, reply, "passkey").await
        }
        _ => password(visit).await,
    }
}

async fn password(visit: &mut Visit) -> Answer {
    let body = json!({ "email": visit.form.text("email").trim(), "password": visit.form.text("password") });
    let reply = visit.call(password_sign_in::ROUTE, password_sign_in::handle, Call::with(body).anonymous()).await;
    taken(visit, reply, "password").await
}

/// Completes a sign-in, or shows the form again.
async fn taken(visit: &mut Visit, reply: Reply, way: &str) -> Answer {
    match signed_in::take(visit, reply, way).await {
        Ok(answer) => answer,
        Err(reply) => form(visit, Some(&reply)),
    }
}

/// Sends a code, and shows the form to enter it. Redeeming the code can also create an account.
pub(super) async fn send_code(visit: &Visit) -> Answer {
    let callback = visit.place.url("magic-link-callback", &visit.way_back());
    let body = json!({ "email": visit.form.text("email").trim(), "callback_url": callback });
    let call = Call::with(ways::with_solution(visit, body)).anonymous();
    let reply = visit.call(otp_send_sign_in_code::ROUTE, otp_send_sign_in_code::handle, call).await;
    match reply.error() {
        None => ask_for_code(visit, reply.text("nonce"), None),
        Some(_) => form(visit, Some(&reply)),
    }
}

fn ask_for_code(visit: &Visit, nonce: &str, reply: Option<&Reply>) -> Answer {
    let problem = reply.map(|reply| visit.error_text(reply));
    let values = context! {
        email => visit.form.text("email"),
        nonce => nonce,
        problem => (),
        problems => context! { code => problem.unwrap_or_default() },
        challenge => ways::challenge(visit, GuardedOperation::SendSignInCode, None),
    };
    visit.document("code", values).status(reply.map_or(StatusCode::OK, |reply| reply.status)).answer()
}

async fn enter_code(visit: &mut Visit) -> Answer {
    let typed: String = visit.form.text("code").chars().filter(char::is_ascii_alphanumeric).take(2 * TYPED).collect();
    let nonce = visit.form.text("nonce").to_owned();
    let body = json!({ "code": format!("{}{nonce}", typed.to_ascii_lowercase()) });
    let reply = visit.call(otp_sign_in::ROUTE, otp_sign_in::handle, Call::with(body).anonymous()).await;
    match signed_in::take(visit, reply, "code").await {
        Ok(answer) => answer,
        Err(reply) => ask_for_code(visit, &nonce, Some(&reply)),
    }
}

/// The URL of the sign-in page, for pages that require a signed-in visitor. After the sign-in, the
/// visitor returns to the current page, with the query parameters that the page needs. No other
/// parameters are kept, because the way back is also part of links in emails.
pub(crate) fn first(visit: &Visit) -> String {
    let needed: &[&str] = match visit.page.as_str() {
        "team-invitation" => &["code"],
        "cli-auth-confirm" => &["user_code", "login_code"],
        _ => &[],
    };
    let here = visit.place.path(&visit.page, &visit.query.only(needed).or(&visit.way_back()));
    visit.place.url("sign-in", &Fields::default().with("after_auth_return_to", &here))
}
