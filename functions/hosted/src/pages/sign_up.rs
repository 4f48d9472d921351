//! `sign-up`: creates an account.

use auth_functions::password_sign_up;
use http::StatusCode;
use minijinja::context;
use model::bot_challenge::GuardedOperation;
use serde_json::json;

use crate::answer::Answer;
use crate::pages::{sign_in, signed_in, ways};
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

pub(super) fn show(visit: &Visit) -> Answer {
    form(visit, None)
}

fn form(visit: &Visit, reply: Option<&Reply>) -> Answer {
    let values = context! {
        problem => visit.problem.clone().or_else(|| visit.general_problem(reply)),
        problems => visit.field_problems(reply),
        ways => ways::ways(visit),
        email => visit.form.get("email").or_else(|| visit.query.get("login_hint")).unwrap_or_default(),
        min_length => visit.project.config.password_min_length,
        challenge => ways::challenge(visit, GuardedOperation::SignUp, reply),
    };
    visit.document("sign_up", values).status(reply.map_or(StatusCode::OK, |reply| reply.status)).answer()
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    if visit.form.text("action") == "code" {
        return sign_in::send_code(visit).await;
    }
    let body = json!({
        "email": visit.form.text("email").trim(),
        "password": visit.form.text("password"),
        "verification_callback_url": visit.place.url("email-verification", &visit.way_back()),
    });
    let call = Call::with(ways::with_solution(visit, body)).anonymous();
    let reply = visit.call(password_sign_up::ROUTE, password_sign_up::handle, call).await;
    match signed_in::take(visit, reply, "password").await {
        Ok(answer) => answer,
        Err(reply) => form(visit, Some(&reply)),
    }
}
