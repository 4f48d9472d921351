//! The user's sessions, with the places from which they were used.

use auth_functions::{session_delete, session_delete_all, session_list};
use minijinja::{Value, context};

use crate::account::list::{items, list, place, text};
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) async fn shown(visit: &Visit) -> Value {
    let call = Call::new().query("user_id=me&limit=100".to_owned());
    let reply = visit.call(session_list::ROUTE, session_list::handle, call).await;
    let all = items(&reply);
    let is_current = |session: &&serde_json::Value| session["is_current_session"] == true;
    // The current session comes first, so that it is always among the rows that are shown.
    let sorted = all.iter().filter(is_current).chain(all.iter().filter(|session| !is_current(session)));
    let shown = list(sorted, |session| {
        context! {
            id => text(session, "id"),
            client => text(session, "client_name"),
            place => place(&session["last_used_at_end_user_ip_info"]),
            used => visit.ago(&session["last_used_at"]),
            since => day(&session["created_at"]),
            is_current => is_current(&session),
        }
    });
    context! { list => shown, has_others => all.len() > 1 }
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "end" => {
            let reply = visit.call(session_delete::ROUTE, session_delete::handle, Call::for_me().at(&action.id)).await;
            Outcome::of(reply, "sessions_ended")
        }
        "end-others" => {
            let reply = visit.call(session_delete_all::ROUTE, session_delete_all::handle, Call::for_me()).await;
            Outcome::of(reply, "sessions_others_ended")
        }
        _ => Outcome::Nothing,
    }
}
