//! `onboarding`: shows a restricted user the steps that are left.

use model::user::restriction::RestrictedReason;
use serde_json::json;
use users_functions::contact_channel_send_own_code;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::{sign_in, signed_in, ways};
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) fn show(visit: &Visit) -> Answer {
    let Some(visitor) = &visit.visitor else { return Answer::redirect(&sign_in::first(visit)) };
    let project = visit.project.display_name.as_str();
    let notice = Notice::new(visit, visit.text("onboarding.title"));
    match visitor.user.restricted_reason_in(&visitor.session, &visit.project.config) {
        None => notice.text(visit.text("onboarding.nothing")).button("continue", visit.text("onboarding.next")).answer(),
        Some(RestrictedReason::EmailNotVerified) => {
            let email = visitor.user.primary().map(|channel| channel.value.to_string()).unwrap_or_default();
            notice
                .text(visit.fill("onboarding.verify", &[("email", &email)]))
                .button("continue", visit.text("onboarding.next"))
                .button("send", visit.text("onboarding.send"))
                .link("sign-out", visit.text("sign_out.title"))
                .answer()
        }
        Some(RestrictedReason::SecondFactorRequired) => notice
            .text(visit.fill("onboarding.factor", &[("project", project)]))
            .link("account-settings", visit.text("onboarding.factor_link"))
            .link("sign-out", visit.text("sign_out.title"))
            .answer(),
        Some(RestrictedReason::Anonymous) => Answer::redirect(&visit.place.url("sign-up", &visit.way_back())),
        Some(RestrictedReason::RestrictedByAdministrator) => notice
            .text(visit.fill("onboarding.restricted", &[("project", project)]))
            .link("sign-out", visit.text("sign_out.title"))
            .answer(),
    }
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    let Some(visitor) = &visit.visitor else { return Answer::redirect(&sign_in::first(visit)) };
    if visit.form.text("action") != "send" {
        let is_restricted = visitor.user.restricted_reason_in(&visitor.session, &visit.project.config).is_some();
        return if is_restricted { show(visit) } else { signed_in::go_back(visit).await };
    }
    let email = visitor.user.primary().map(|channel| channel.value.to_string()).unwrap_or_default();
    let body = json!({ "email": email, "callback_url": visit.place.url("email-verification", &visit.way_back()) });
    let call = Call::with(ways::with_solution(visit, body));
    let reply = visit.call(contact_channel_send_own_code::ROUTE, contact_channel_send_own_code::handle, call).await;
    let notice = Notice::new(visit, visit.text("onboarding.title")).button("continue", visit.text("onboarding.next"));
    match reply.error() {
        None => notice.text(visit.fill("onboarding.sent", &[("email", &email)])).answer(),
        Some(_) => notice.refused(&reply).button("send", visit.text("onboarding.send")).answer(),
    }
}
