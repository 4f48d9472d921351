//! `forgot-password` and `password-reset`.

use auth_functions::{password_reset, password_send_reset_code};
use http::StatusCode;
use minijinja::context;
use serde_json::json;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

pub(super) fn show_forgot(visit: &Visit) -> Answer {
    forgot(visit, None)
}

fn forgot(visit: &Visit, reply: Option<&Reply>) -> Answer {
    form(visit, "forgot", "", reply)
}

/// The page with the form. The form's URL keeps the query parameters that lead back to the app.
fn form(visit: &Visit, text: &str, code: &str, reply: Option<&Reply>) -> Answer {
    let values = context! {
        text => text,
        action => visit.place.path(&visit.page, &visit.way_back()),
        code => code,
        email => visit.form.get("email").or_else(|| visit.query.get("login_hint")).unwrap_or_default(),
        min_length => visit.project.config.password_min_length,
        problem => visit.problem.clone().or_else(|| visit.general_problem(reply)),
        problems => visit.field_problems(reply),
    };
    visit.document("password", values).status(reply.map_or(StatusCode::OK, |reply| reply.status)).answer()
}

pub(super) async fn submit_forgot(visit: &Visit) -> Answer {
    let email = visit.form.text("email").trim().to_owned();
    let body = json!({ "email": email, "callback_url": visit.place.url("password-reset", &visit.way_back()) });
    let reply = visit.call(password_send_reset_code::ROUTE, password_send_reset_code::handle, Call::with(body).anonymous()).await;
    match reply.error() {
        None => Notice::new(visit, visit.text("forgot.sent_title"))
            .text(visit.fill("forgot.sent", &[("email", &email)]))
            .link("sign-in", visit.text("sign_in.link"))
            .answer(),
        Some(_) => forgot(visit, Some(&reply)),
    }
}

pub(super) fn show_reset(visit: &Visit) -> Answer {
    form(visit, "reset", visit.query.get("code").or_else(|| visit.form.get("code")).unwrap_or_default(), None)
}

pub(super) async fn submit_reset(visit: &Visit) -> Answer {
    let code = visit.form.text("code").to_owned();
    let body = json!({ "code": code, "password": visit.form.text("password") });
    let reply = visit.call(password_reset::ROUTE, password_reset::handle, Call::with(body).anonymous()).await;
    match reply.error() {
        None => Notice::new(visit, visit.text("reset.done_title"))
            .text(visit.text("reset.done"))
            .link("sign-in", visit.text("sign_in.link"))
            .answer(),
        Some(_) if Visit::is_about_code(&reply) => {
            Notice::new(visit, visit.text("forgot.title")).refused(&reply).link("forgot-password", visit.text("forgot.submit")).answer()
        }
        Some(_) => form(visit, "reset", &code, Some(&reply)),
    }
}
