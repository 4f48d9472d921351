//! `cli-auth-confirm`: allows a command-line tool or a device to sign in.
//!
//! Another person may have started the sign-in and sent the link. So that the visitor can decide,
//! the page says what happens next and where the sign-in was started, and shows the same code as
//! the tool (RFC 8628 §5.4).

use auth_functions::cli_complete;
use minijinja::context;
use model::session::cli::UserCode;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::sign_in;
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) async fn show(visit: &Visit) -> Answer {
    let Some(name) = visit.visitor_name() else { return Answer::redirect(&sign_in::first(visit)) };
    let (user_code, login_code) = (visit.query.get("user_code"), visit.query.get("login_code"));
    let Some(code) = user_code.or(login_code).map(str::to_owned) else { return ask(visit, "") };
    let reply = visit.call(cli_complete::ROUTE, cli_complete::handle, Call::with(json!({ "login_code": code, "mode": "check" }))).await;
    if reply.error().is_some() {
        return ask(visit, &visit.error_text(&reply));
    }
    let place = &reply.body["place"];
    let place =
        [&place["city_name"], &place["country_code"], &place["ip"]].into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    let minutes =
        reply.body["created_at_millis"].as_i64().map_or(0, |began| (visit.app.clock.now().as_millisecond() - began).max(0) / 60_000);
    let notice = Notice::new(visit, visit.text("device.title"));
    let notice = match user_code.and_then(UserCode::parse) {
        Some(user_code) => notice.text(visit.fill("device.text", &[("name", &name)])).code(&user_code.shown()),
        None => notice.text(visit.fill("device.text_link", &[("name", &name)])),
    };
    let place = match minutes {
        0 => visit.fill("device.place_now", &[("place", &place)]),
        _ => visit.fill("device.place", &[("place", &place), ("minutes", &minutes.to_string())]),
    };
    notice
        .text(place)
        .text(visit.text("device.warning"))
        .hidden("code", &code)
        .button("allow", visit.text("device.allow"))
        .button("deny", visit.text("device.deny"))
        .answer()
}

/// The page that asks for the code that a device shows.
fn ask(visit: &Visit, problem: &str) -> Answer {
    let values = context! { problem => problem, problems => context! { code => "" } };
    visit.document("device", values).answer()
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    if visit.visitor.is_none() {
        return Answer::redirect(&sign_in::first(visit));
    }
    if visit.form.text("action") == "enter" {
        let query = visit.query.clone().with("user_code", visit.form.text("user_code").trim());
        return Answer::redirect(&visit.place.url(&visit.page, &query));
    }
    let is_allowed = visit.form.text("action") == "allow";
    let token = visit.visitor.as_ref().map(|visitor| visitor.token.expose_secret().to_owned());
    let body = if is_allowed {
        json!({ "login_code": visit.form.text("code"), "mode": "complete", "refresh_token": token })
    } else {
        json!({ "login_code": visit.form.text("code"), "mode": "deny" })
    };
    let reply = visit.call(cli_complete::ROUTE, cli_complete::handle, Call::with(body)).await;
    let (title, text) = if is_allowed { ("device.done_title", "device.done") } else { ("device.denied_title", "device.denied") };
    match reply.error() {
        None => Notice::new(visit, visit.text(title)).text(visit.text(text)).answer(),
        Some(_) => Notice::new(visit, visit.text("device.title")).refused(&reply).answer(),
    }
}
