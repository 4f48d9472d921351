//! Teams and invitations to teams.

use futures_util::join;
use minijinja::{Value, context};
use serde_json::json;
use teams_functions::{invitation_accept_by_id, invitation_list, membership_delete, team_create, team_list};

use crate::account::list::{items, list, text};
use crate::account::outcome::{Action, Outcome};
use crate::visit::Visit;
use crate::visit::call::Call;

/// The number of teams to read is greater than the number shown, but is limited, because a team may
/// be large.
fn some() -> Call {
    Call::new().query("user_id=me&limit=100".to_owned())
}

/// `None` if there are no teams and no invitations, and the user cannot create a team.
pub(super) async fn shown(visit: &Visit) -> Option<Value> {
    let (teams, invitations) =
        join!(visit.call(team_list::ROUTE, team_list::handle, some()), visit.call(invitation_list::ROUTE, invitation_list::handle, some()));
    let can_create = visit.project.config.client_team_creation_enabled;
    let is_empty = items(&teams).is_empty() && items(&invitations).is_empty();
    (!is_empty || can_create).then(|| {
        context! {
            list => list(items(&teams), |team| context! { id => text(team, "id"), name => text(team, "display_name") }),
            invitations => list(items(&invitations), |invitation| {
                let (team, email) = (text(invitation, "team_display_name"), text(invitation, "recipient_email"));
                context! { id => text(invitation, "id"), name => team, email => email }
            }),
            can_create => can_create,
            typed => visit.form.text("team_name"),
        }
    })
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "leave" => {
            let call = Call::new().at(&action.id).at("me");
            Outcome::of(visit.call(membership_delete::ROUTE, membership_delete::handle, call).await, "teams_left")
        }
        "accept" => {
            let call = Call::for_me().at(&action.id);
            Outcome::of(visit.call(invitation_accept_by_id::ROUTE, invitation_accept_by_id::handle, call).await, "teams_joined")
        }
        "create" => {
            let call = Call::with(json!({ "display_name": visit.form.text("team_name").trim() }));
            Outcome::of(visit.call(team_create::ROUTE, team_create::handle, call).await, "teams_created")
        }
        _ => Outcome::Nothing,
    }
}
