//! The form for a second factor.

use http::StatusCode;
use minijinja::context;
use serde_json::Value;

use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::Reply;

/// The page that asks for the second factor of a sign-in.
pub(super) fn ask(visit: &Visit, reply: &Reply) -> Answer {
    let factors = reply.body["details"]["factors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let factors = factors.collect::<Vec<_>>().join(" ");
    form(visit, reply.detail("attempt_code"), &factors, None)
}

/// The form, and the reason if an operation has rejected the form.
pub(super) fn form(visit: &Visit, attempt: &str, factors: &str, reply: Option<&Reply>) -> Answer {
    let has = |name: &str| factors.split(' ').any(|factor| factor == name);
    let text = reply.map(|reply| visit.error_text(reply));
    let is_recovery = visit.form.text("action") == "recovery-code";
    let of = |is_its: bool| text.clone().filter(|_| is_its).unwrap_or_default();
    let values = context! {
        attempt => attempt,
        factors => context! { passkey => has("passkey"), recovery => has("recovery-code"), names => factors },
        problem => (),
        problems => context! { totp => of(!is_recovery), recovery => of(is_recovery) },
        remember_days => visit.project.config.second_factor.remember_device_days,
    };
    visit.document("mfa", values).status(reply.map_or(StatusCode::OK, |reply| reply.status)).answer()
}
