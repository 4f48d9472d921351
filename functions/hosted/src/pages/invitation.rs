//! `team-invitation`: shows the team of an invitation, and accepts it.

use serde_json::json;
use teams_functions::{invitation_accept, invitation_details};

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::sign_in;
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) async fn show(visit: &Visit) -> Answer {
    let code = visit.query.text("code");
    let Some(name) = visit.visitor_name() else { return Answer::redirect(&sign_in::first(visit)) };
    let call = Call::with(json!({ "code": code }));
    let reply = visit.call(invitation_details::ROUTE, invitation_details::handle, call).await;
    if reply.error().is_some() {
        return Notice::new(visit, visit.text("invitation.title_unknown"))
            .refused(&reply)
            .link("sign-out", visit.text("sign_out.title"))
            .answer();
    }
    let team = reply.text("team_display_name");
    Notice::new(visit, visit.fill("invitation.title", &[("team", team)]))
        .text(visit.fill("invitation.text", &[("team", team), ("name", &name)]))
        .hidden("code", code)
        .button("accept", visit.text("invitation.accept"))
        .answer()
}

pub(super) async fn submit(visit: &Visit) -> Answer {
    let call = Call::with(json!({ "code": visit.form.text("code") }));
    let reply = visit.call(invitation_accept::ROUTE, invitation_accept::handle, call).await;
    match reply.error() {
        None => Notice::new(visit, visit.text("invitation.done_title"))
            .text(visit.text("invitation.done"))
            .link("account-settings", visit.text("common.account"))
            .answer(),
        Some(_) => Notice::new(visit, visit.text("invitation.title_unknown")).refused(&reply).answer(),
    }
}
