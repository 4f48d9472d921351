//! The document with all sections, and what it says after a change.

use futures_util::join;
use http::StatusCode;
use jiff::SignedDuration;
use minijinja::{Value, context};

use crate::account::{PAGE, activity, deletion, emails, keys, passkeys, password, profile, providers, second_step, sessions, teams};
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::cookies::Cookie;

/// How long the text about a change waits for the page that shows it.
const DONE_LIFE: SignedDuration = SignedDuration::from_secs(60);

/// The sections, in their order.
const SECTIONS: [&str; 12] =
    ["profile", "emails", "password", "passkeys", "second-step", "sessions", "providers", "teams", "keys", "activity", "data", "deletion"];

/// What went wrong, and in which section.
pub(super) struct Problem<'a> {
    pub(super) section: &'a str,
    pub(super) text: String,
    pub(super) status: StatusCode,
}

/// The whole page.
pub(super) async fn whole(visit: &Visit, problem: Option<Problem<'_>>) -> Answer {
    let (second_step, sessions, teams, keys, activity) = join!(
        second_step::shown(visit),
        Box::pin(sessions::shown(visit)),
        Box::pin(teams::shown(visit)),
        Box::pin(keys::shown(visit)),
        Box::pin(activity::shown(visit))
    );
    let (password, passkeys, providers, deletion) =
        (password::shown(visit), passkeys::shown(visit), providers::shown(visit), deletion::shown(visit));
    let absent = [
        ("password", password.is_none()),
        ("passkeys", passkeys.is_none()),
        ("providers", providers.is_none()),
        ("teams", teams.is_none()),
        ("keys", keys.is_none()),
        ("deletion", deletion.is_none()),
    ];
    let is_present = |section: &&str| !absent.contains(&(*section, true));
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    // A section may be gone, for example because the project has switched something off.
    let (problem, general) = match problem {
        Some(problem) if is_present(&problem.section) && SECTIONS.contains(&problem.section) => (Some(problem), visit.problem.clone()),
        Some(problem) => (None, Some(problem.text)),
        None => (None, visit.problem.clone()),
    };
    let problem = problem.map(|problem| context! { section => problem.section, text => problem.text });
    let user = visit.visitor.as_ref().map(|visitor| &visitor.user);
    let picture = user.and_then(|user| user.profile_image_url.as_deref());
    let values = context! {
        sections => SECTIONS.into_iter().filter(is_present).collect::<Vec<_>>(),
        who => visit.visitor_shown(),
        general_problem => general,
        problem => problem,
        done => take_done(visit),
        opened => visit.form.text("action"),
        profile => profile::shown(visit),
        emails => emails::shown(visit),
        password => password,
        passkeys => passkeys,
        second_step => second_step,
        sessions => sessions,
        providers => providers,
        teams => teams,
        keys => keys,
        activity => activity,
        deletion => deletion,
    };
    visit.document("account", values).image(picture).status(status).answer()
}

/// Loads the page anew after a change, at its section. The text about the change waits in a cookie,
/// so that no link can make the page say what did not happen.
pub(crate) fn done(visit: &Visit, section: &str, text: &str) -> Answer {
    let section = SECTIONS.into_iter().find(|known| *known == section).unwrap_or_default();
    visit.set_cookie(visit.cookies.set(Cookie::Done, &format!("{section}.{text}"), Some(DONE_LIFE)));
    anew(visit, section)
}

/// Loads the page anew, at a section. A link could not, since the browser is at this URL already.
pub(super) fn anew(visit: &Visit, section: &str) -> Answer {
    let section = SECTIONS.into_iter().find(|known| *known == section).unwrap_or_default();
    Answer::redirect(&format!("{}#{section}", visit.place.url(PAGE, &visit.way_back())))
}

/// The text about the change that was just made.
fn take_done(visit: &Visit) -> Option<Value> {
    let (section, text) = visit.cookies.get(Cookie::Done)?.split_once('.')?;
    visit.set_cookie(visit.cookies.set(Cookie::Done, "", Some(SignedDuration::ZERO)));
    let text = Some(visit.text(&format!("account.done.{text}"))).filter(|text| !text.is_empty())?;
    Some(context! { section => section, text => text })
}
