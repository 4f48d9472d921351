//! `account-settings`: shows users all the data of their accounts that they can see and change.
//!
//! The page is one document with a section for each subject, and a form or button for each change.
//! The value of a button names the section, the action and the item (`sessions.end:…`). Most
//! buttons can therefore share one form. The user's own data was read at the start of the visit.
//! Lists of other items are read through the operations, which also make all changes.
//!
//! After a change, the browser loads the page again, so reloading the page does not repeat the
//! change. Data that is shown only once, such as recovery codes, is shown in a separate document.

mod activity;
mod confirm;
mod data;
mod deletion;
mod emails;
mod grants;
mod keys;
mod list;
mod outcome;
mod page;
mod passkeys;
mod password;
mod profile;
mod providers;
mod second_step;
mod sessions;
mod teams;
mod times;

use auth_functions::session_refresh;
use http::StatusCode;
use jiff::SignedDuration;

use crate::account::outcome::{Action, Outcome};
use crate::account::page::Problem;
use crate::answer::Answer;
use crate::pages::{provider, sign_in};
use crate::visit::Visit;
use crate::visit::call::Call;

/// If a session has not been used for this long, opening the page marks it as used.
const UNUSED: SignedDuration = SignedDuration::from_mins(5);

pub(crate) async fn show(visit: &mut Visit) -> Answer {
    if let Some(answer) = provider::fetch_session(visit) {
        return answer;
    }
    match enter(visit).await {
        Ok(()) => page::whole(visit, None).await,
        Err(answer) => answer,
    }
}

pub(crate) async fn submit(visit: &mut Visit) -> Answer {
    if let Err(answer) = enter(visit).await {
        return answer;
    }
    if !visit.is_own_form() {
        visit.problem = Some(visit.text("common.expired_form"));
        return page::whole(visit, None).await.with_status(StatusCode::FORBIDDEN);
    }
    let mut action = Action::of(&visit.form);
    if action.section == "confirm" {
        match confirm::submit(visit).await {
            Ok(pending) => action = pending,
            Err(answer) => return answer,
        }
    }
    let outcome = perform(visit, &action).await;
    answer(visit, &action, outcome).await
}

/// Admits a visitor who has an account, and keeps the session alive. Any other visitor must sign in
/// first.
async fn enter(visit: &mut Visit) -> Result<(), Answer> {
    let Some(visitor) = visit.visitor.as_ref().filter(|visitor| !visitor.user.is_anonymous) else {
        return Err(Answer::redirect(&sign_in::first(visit)));
    };
    if visit.app.clock.now().duration_since(visitor.session.last_used_at) > UNUSED {
        let reply = visit.call(session_refresh::ROUTE, session_refresh::handle, Call::new().with_token()).await;
        if reply.status == StatusCode::UNAUTHORIZED {
            return Err(signed_out(visit));
        }
        if let Some(token) = visit.refresh_token().filter(|_| reply.error().is_none()) {
            visit.keep_session(token);
        }
    }
    Ok(())
}

/// Handles a session that has ended since the visit began.
fn signed_out(visit: &mut Visit) -> Answer {
    visit.forget_session();
    visit.visitor = None;
    Answer::redirect(&sign_in::first(visit))
}

async fn perform(visit: &mut Visit, action: &Action) -> Outcome {
    match action.section.as_str() {
        "profile" => profile::submit(visit, action).await,
        "emails" => emails::submit(visit, action).await,
        "password" => password::submit(visit).await,
        "passkeys" => passkeys::submit(visit, action).await,
        "second-step" => second_step::submit(visit, action).await,
        "sessions" => sessions::submit(visit, action).await,
        "grants" => grants::submit(visit, action).await,
        "providers" => providers::submit(visit, action).await,
        "teams" => teams::submit(visit, action).await,
        "keys" => keys::submit(visit, action).await,
        "data" => data::submit(visit).await,
        "deletion" => deletion::submit(visit).await,
        _ => Outcome::Nothing,
    }
}

async fn answer(visit: &mut Visit, action: &Action, outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Nothing => visit.account_anew(&action.section),
        Outcome::Done(text) => visit.account_changed(&action.section, text),
        Outcome::Answer(answer) => answer,
        Outcome::Mistake(text) => {
            let problem = Problem { section: &action.section, text, status: StatusCode::BAD_REQUEST };
            page::whole(visit, Some(problem)).await
        }
        Outcome::Refusal(reply) => match reply.error() {
            Some("REAUTHENTICATION_REQUIRED") => confirm::ask(visit),
            Some("BOT_CHALLENGE_REQUIRED" | "BOT_CHALLENGE_FAILED") => confirm::challenge(visit, &reply),
            _ if reply.status == StatusCode::UNAUTHORIZED => signed_out(visit),
            _ => {
                let problem = Problem { section: &action.section, text: visit.error_text(&reply), status: reply.status };
                page::whole(visit, Some(problem)).await
            }
        },
    }
}
