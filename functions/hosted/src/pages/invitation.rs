//! `team-invitation`: shows the team of an invitation, and accepts it.

use serde_json::json;
use teams_functions::{invitation_accept, invitation_details};
use users_functions::contact_channel_send_own_code;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::{sign_in, ways};
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

pub(super) async fn show(visit: &Visit) -> Answer {
    let code = visit.query.get("code").or_else(|| visit.form.get("code")).unwrap_or_default();
    let Some(name) = visit.visitor_name() else { return Answer::redirect(&sign_in::first(visit)) };
    let call = Call::with(json!({ "code": code }));
    let reply = visit.call(invitation_details::ROUTE, invitation_details::handle, call).await;
    if reply.error().is_some() {
        return refused(visit, &reply, code);
    }
    let team = reply.text("team_display_name");
    Notice::new(visit, visit.fill("invitation.title", &[("team", team)]))
        .text(visit.fill("invitation.text", &[("team", team), ("name", &name)]))
        .hidden("code", code)
        .button("accept", visit.text("invitation.accept"))
        .link("sign-out", visit.text("invitation.another"))
        .answer()
}

pub(super) async fn submit(visit: &Visit) -> Answer {
    let code = visit.form.text("code");
    if visit.form.text("action") == "send" {
        return send(visit, code).await;
    }
    let reply = visit.call(invitation_accept::ROUTE, invitation_accept::handle, Call::with(json!({ "code": code }))).await;
    match reply.error() {
        None => Notice::new(visit, visit.text("invitation.done_title"))
            .text(visit.text("invitation.done"))
            .link("account-settings", visit.text("common.account"))
            .answer(),
        Some(_) => refused(visit, &reply, code),
    }
}

/// The page that explains why the visitor cannot join. If the visitor's email address is not
/// verified yet, it may still be the invited address.
fn refused(visit: &Visit, reply: &Reply, code: &str) -> Answer {
    let notice = Notice::new(visit, visit.text("invitation.title_unknown"));
    let unverified = unverified(visit).filter(|_| reply.error().is_some_and(|error| error.starts_with("TEAM_INVITATION_")));
    match unverified {
        Some(email) => notice
            .text(visit.fill("invitation.verify_first", &[("email", &email)]))
            .hidden("code", code)
            .button("accept", visit.text("invitation.accept"))
            .button("send", visit.text("onboarding.send"))
            .answer(),
        None => notice.refused(reply).link("sign-out", visit.text("invitation.another")).answer(),
    }
}

/// The visitor's primary email address, if it is not verified.
fn unverified(visit: &Visit) -> Option<String> {
    let primary = visit.visitor.as_ref()?.user.primary()?;
    (!primary.is_verified).then(|| primary.value.to_string())
}

/// Sends an email with the link that verifies the address.
async fn send(visit: &Visit, code: &str) -> Answer {
    let email = unverified(visit).unwrap_or_default();
    let body = json!({ "email": email, "callback_url": visit.place.url("email-verification", &visit.way_back()) });
    let call = Call::with(ways::with_solution(visit, body));
    let reply = visit.call(contact_channel_send_own_code::ROUTE, contact_channel_send_own_code::handle, call).await;
    let notice = Notice::new(visit, visit.text("invitation.title_unknown")).hidden("code", code);
    let notice = match reply.error() {
        None => notice.text(visit.fill("onboarding.sent", &[("email", &email)])),
        Some(_) => notice.refused(&reply),
    };
    notice.button("accept", visit.text("invitation.accept")).button("send", visit.text("onboarding.send")).answer()
}
