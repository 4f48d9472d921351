//! `sign-out`: ends the session on the pages and in every app that shares it.

use auth_functions::session_delete_current;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::visit::Visit;
use crate::visit::call::Call;
use crate::visit::way_back::WayBack;

pub(super) fn show(visit: &Visit) -> Answer {
    let Some(visitor) = visit.visitor_name() else { return done(visit) };
    Notice::new(visit, visit.text("sign_out.title"))
        .text(visit.fill("sign_out.text", &[("name", &visitor)]))
        .button("sign-out", visit.text("sign_out.submit"))
        .link("account-settings", visit.text("common.account"))
        .answer()
}

pub(super) async fn submit(visit: &Visit) -> Answer {
    if visit.visitor.is_some() {
        let reply = visit.call(session_delete_current::ROUTE, session_delete_current::handle, Call::new()).await;
        // If the session has ended in the meantime, the visitor is already signed out.
        if reply.status.is_server_error() || reply.error() == Some("RATE_LIMITED") {
            return Notice::new(visit, visit.text("sign_out.title"))
                .refused(&reply)
                .button("sign-out", visit.text("sign_out.submit"))
                .answer();
        }
    }
    visit.forget_session();
    done(visit)
}

fn done(visit: &Visit) -> Answer {
    match WayBack::of(visit).after_sign_out(visit) {
        Some(url) => Answer::redirect(&url),
        None => Notice::new(visit, visit.text("sign_out.done_title"))
            .text(visit.text("sign_out.done"))
            .link("sign-in", visit.text("sign_in.link"))
            .answer(),
    }
}
