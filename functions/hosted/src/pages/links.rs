//! Links in emails: `email-verification` and `magic-link-callback`. Opening a link must not change
//! anything, because mail scanners also open links. Only the button on the page makes the change.

use auth_functions::otp_sign_in;
use serde_json::json;
use users_functions::contact_channel_verify;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::signed_in;
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) fn show_verification(visit: &Visit) -> Answer {
    let Some(code) = visit.query.get("code").or_else(|| visit.form.get("code")) else { return incomplete(visit) };
    Notice::new(visit, visit.text("verify.title"))
        .text(visit.text("verify.text"))
        .hidden("code", code)
        .button("verify", visit.text("verify.submit"))
        .answer()
}

pub(super) async fn submit_verification(visit: &Visit) -> Answer {
    let call = Call::with(json!({ "code": visit.form.text("code") }));
    let reply = visit.call(contact_channel_verify::ROUTE, contact_channel_verify::handle, call).await;
    match reply.error() {
        None => Notice::new(visit, visit.text("verify.done_title"))
            .text(visit.text("verify.done"))
            .link("sign-in", visit.text("verify.next"))
            .answer(),
        Some("VERIFICATION_CODE_ALREADY_USED") => Notice::new(visit, visit.text("verify.used_title"))
            .text(visit.text("verify.used"))
            .link("sign-in", visit.text("verify.next"))
            .answer(),
        Some(_) => Notice::new(visit, visit.text("verify.title")).refused(&reply).link("sign-in", visit.text("sign_in.link")).answer(),
    }
}

pub(super) fn show_magic_link(visit: &Visit) -> Answer {
    let Some(code) = visit.query.get("code").or_else(|| visit.form.get("code")) else { return incomplete(visit) };
    Notice::new(visit, visit.text("magic.title"))
        .text(visit.text("magic.text"))
        .hidden("code", code)
        .button("sign-in", visit.text("magic.submit"))
        .answer()
}

pub(super) async fn submit_magic_link(visit: &mut Visit) -> Answer {
    let call = Call::with(json!({ "code": visit.form.text("code") })).anonymous();
    let reply = visit.call(otp_sign_in::ROUTE, otp_sign_in::handle, call).await;
    match signed_in::take(visit, reply, "code").await {
        Ok(answer) => answer,
        Err(reply) => {
            Notice::new(visit, visit.text("magic.title")).refused(&reply).link("sign-in", visit.text("common.start_again")).answer()
        }
    }
}

fn incomplete(visit: &Visit) -> Answer {
    Notice::new(visit, visit.text("problem.no_project")).text(visit.text("problem.next")).answer()
}
