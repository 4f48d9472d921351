//! Deleting the account. The deletion cannot be undone, so the visitor has to type an email address
//! or a word first.

use minijinja::{Value, context};
use users_functions::me_delete;

use crate::account::outcome::Outcome;
use crate::pages::notice::Notice;
use crate::visit::Visit;
use crate::visit::call::Call;

/// The text that the visitor has to type: the primary email address or, if there is none, a word.
fn wanted(visit: &Visit) -> String {
    let address = visit.visitor.as_ref().and_then(|visitor| visitor.user.primary()).map(|channel| channel.value.to_string());
    address.unwrap_or_else(|| visit.text("account.deletion.word"))
}

/// `None` if the project does not allow users to delete their accounts.
pub(super) fn shown(visit: &Visit) -> Option<Value> {
    visit.project.config.client_user_deletion_enabled.then(|| context! { wanted => wanted(visit), typed => visit.form.text("typed") })
}

pub(super) async fn submit(visit: &mut Visit) -> Outcome {
    let typed = visit.form.text("typed").trim().to_lowercase();
    if typed != wanted(visit).to_lowercase() && typed != visit.text("account.deletion.word").to_lowercase() {
        return Outcome::Mistake(visit.fill("account.deletion.mistyped", &[("wanted", &wanted(visit))]));
    }
    let reply = visit.call(me_delete::ROUTE, me_delete::handle, Call::new()).await;
    if reply.error().is_some() {
        return Outcome::Refusal(reply);
    }
    visit.forget_session();
    visit.visitor = None;
    let notice = Notice::new(visit, visit.text("account.deletion.done_title"));
    let text = visit.fill("account.deletion.done", &[("project", &visit.project.display_name)]);
    Outcome::Answer(notice.text(text).link("sign-in", visit.text("sign_in.link")).answer())
}
