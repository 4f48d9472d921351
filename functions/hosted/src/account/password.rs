//! Sets a first password, or changes the password and ends all other sessions.

use auth_functions::{password_set, password_update};
use minijinja::{Value, context};
use serde_json::json;

use crate::account::outcome::Outcome;
use crate::visit::Visit;
use crate::visit::call::Call;

/// `None` if the project has disabled passwords.
pub(super) fn shown(visit: &Visit) -> Option<Value> {
    let config = &visit.project.config;
    let user = &visit.visitor.as_ref()?.user;
    // Password managers store the new password under this name.
    let address = user.primary().map(|channel| channel.value.to_string());
    config.credential_enabled.then(|| context! { has => user.password.is_some(), min => config.password_min_length, address => address })
}

pub(super) async fn submit(visit: &Visit) -> Outcome {
    let new = visit.form.text("new_password");
    let has_password = visit.visitor.as_ref().is_some_and(|visitor| visitor.user.password.is_some());
    if has_password {
        let body = json!({ "old_password": visit.form.text("old_password"), "new_password": new });
        let reply = visit.call(password_update::ROUTE, password_update::handle, Call::with(body).with_token()).await;
        return Outcome::of(reply, "password_changed");
    }
    let reply = visit.call(password_set::ROUTE, password_set::handle, Call::with(json!({ "password": new }))).await;
    Outcome::of(reply, "password_set")
}
