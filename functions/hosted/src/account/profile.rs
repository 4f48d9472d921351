//! Name and picture.

use minijinja::{Value, context};
use serde_json::json;
use users_functions::me_update;

use crate::account::outcome::{Action, Outcome};
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) fn shown(visit: &Visit) -> Value {
    let user = visit.visitor.as_ref().map(|visitor| &visitor.user);
    let name = user.and_then(|user| user.display_name.as_deref()).unwrap_or_default();
    let typed = Some(visit.form.text("display_name")).filter(|_| Action::of(&visit.form).section == "profile");
    context! {
        name => typed.unwrap_or(name),
        picture => user.and_then(|user| user.profile_image_url.as_deref()),
        picture_url => visit.form.text("picture_url"),
    }
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    let (body, text) = match action.verb.as_str() {
        "remove-picture" => (json!({ "profile_image_url": null }), "profile_picture_removed"),
        _ => {
            let mut body = json!({ "display_name": visit.form.get("display_name").map(str::trim) });
            if let Some(url) = visit.form.get("picture_url").map(str::trim) {
                body["profile_image_url"] = json!(url);
            }
            (body, "profile_saved")
        }
    };
    Outcome::of(visit.call(me_update::ROUTE, me_update::handle, Call::with(body)).await, text)
}
