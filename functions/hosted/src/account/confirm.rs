//! Pages for changes that require the visitor to confirm their identity again, or to prove that
//! they are not a robot. During the proof, hidden fields keep the fields of the form that makes the
//! change. Passwords must never be part of a document, so they are not kept, and the visitor types
//! them again.

use auth_functions::session_reauthenticate;
use http::StatusCode;
use minijinja::{Value, context};
use model::bot_challenge::GuardedOperation;
use serde_json::json;

use crate::account::outcome::Action;
use crate::answer::Answer;
use crate::pages::ways;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;

/// The prefix in the names of the hidden fields.
const PREFIX: &str = "then.";
/// The fields that are not kept in hidden fields. The response of a passkey is among them, because
/// its challenge may already have been used.
const NOT_KEPT: [&str; 7] =
    ["form_token", "old_password", "new_password", "passkey", "passkey_code", "bot_challenge_token", "bot_challenge_phase"];

/// Asks for the password or a code from an app. Users who have no password and no app must sign in
/// again.
pub(super) fn ask(visit: &Visit) -> Answer {
    let form = visit.form.without(&NOT_KEPT);
    form_page(visit, &form, None)
}

/// The page with the form for the proof, and with the fields of the original form in hidden fields.
fn form_page(visit: &Visit, waiting: &Fields, refused: Option<&Reply>) -> Answer {
    let user = visit.visitor.as_ref().map(|visitor| &visitor.user);
    let has_password = visit.project.config.credential_enabled && user.is_some_and(|user| user.password.is_some());
    let values = context! {
        kind => "proof",
        has_password => has_password,
        has_app => user.is_some_and(|user| user.totp.is_some()),
        address => user.and_then(|user| user.primary()).map(|channel| channel.value.to_string()),
        pending => hidden(waiting, PREFIX),
        problem => refused.map(|reply| visit.error_text(reply)),
        challenge => (),
        sign_in => visit.place.path("sign-out", &visit.way_back()),
    };
    visit.document("confirm", values).status(refused.map_or(StatusCode::OK, |reply| reply.status)).answer()
}

/// Hidden fields whose names begin with `prefix`.
fn hidden(fields: &Fields, prefix: &str) -> Vec<Value> {
    fields.pairs().map(|(name, value)| context! { name => format!("{prefix}{name}"), value => value }).collect()
}

/// Shows the challenge that is required before an email is sent.
pub(super) fn challenge(visit: &Visit, refused: &Reply) -> Answer {
    let form = visit.form.without(&NOT_KEPT);
    let failed = (refused.error() == Some("BOT_CHALLENGE_FAILED")).then(|| visit.error_text(refused));
    let values = context! {
        kind => "robot",
        pending => hidden(&form, ""),
        problem => failed,
        challenge => ways::challenge(visit, GuardedOperation::Email, Some(refused)),
    };
    visit.document("confirm", values).status(refused.status).answer()
}

/// Checks the proof, restores the form of the pending action and returns the action. If no action
/// is pending, or if its secrets have to be typed again, returns a page that says so.
pub(super) async fn submit(visit: &mut Visit) -> Result<Action, Answer> {
    let action = Action::of(&visit.form);
    if action.verb == "ask" {
        visit.form = Fields::default().with("action", &format!("{}.again", action.id));
        return Err(ask(visit));
    }
    let body = match action.verb.as_str() {
        "password" => json!({ "password": visit.form.text("password") }),
        _ => json!({ "totp": visit.form.text("totp").trim() }),
    };
    let pending = visit.form.below(PREFIX);
    let reply = visit.call(session_reauthenticate::ROUTE, session_reauthenticate::handle, Call::with(body)).await;
    if reply.error().is_some() {
        return Err(form_page(visit, &pending, Some(&reply)));
    }
    visit.form = pending;
    visit.read_again().await;
    let then = Action::of(&visit.form);
    let is_lost = then.verb == "again" || then.section == "password" || (then.section == "passkeys" && then.verb == "add");
    if is_lost { Err(visit.account_changed(&then.section, "confirmed")) } else { Ok(then) }
}
