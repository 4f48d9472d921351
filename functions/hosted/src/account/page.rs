//! The document with all sections, and the text that it shows after a change.

use futures_util::join;
use http::StatusCode;
use minijinja::{Value, context};

use crate::account::{activity, deletion, emails, grants, keys, passkeys, password, profile, providers, second_step, sessions, teams};
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::account::SECTIONS;

/// A problem, and the section in which it is shown.
pub(super) struct Problem<'a> {
    pub(super) section: &'a str,
    pub(super) text: String,
    pub(super) status: StatusCode,
}

/// The whole page.
pub(super) async fn whole(visit: &Visit, problem: Option<Problem<'_>>) -> Answer {
    let (second_step, sessions, grants, teams, keys, activity) = join!(
        second_step::shown(visit),
        Box::pin(sessions::shown(visit)),
        Box::pin(grants::shown(visit)),
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
        ("grants", grants.is_none()),
        ("teams", teams.is_none()),
        ("keys", keys.is_none()),
        ("deletion", deletion.is_none()),
    ];
    let is_present = |section: &&str| !absent.contains(&(*section, true));
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    // A section may have disappeared, for example because the project has disabled a feature.
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
        done => done(visit),
        opened => visit.form.text("action"),
        profile => profile::shown(visit),
        emails => emails::shown(visit),
        password => password,
        passkeys => passkeys,
        second_step => second_step,
        sessions => sessions,
        grants => grants,
        providers => providers,
        teams => teams,
        keys => keys,
        activity => activity,
        deletion => deletion,
    };
    visit.document("account", values).image(picture).status(status).answer()
}

/// The text about the change that was just made.
fn done(visit: &Visit) -> Option<Value> {
    let (section, text) = visit.take_change()?;
    let text = Some(visit.text(&format!("account.done.{text}"))).filter(|text| !text.is_empty())?;
    Some(context! { section => section, text => text })
}
