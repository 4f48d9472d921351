//! The second step of a sign-in, with authenticator apps, recovery codes and remembered devices.

use std::fmt::Write as _;

use auth_functions::{
    mfa_authenticator_begin, mfa_authenticator_delete, mfa_authenticator_update, mfa_authenticator_verify, mfa_device_delete,
    mfa_device_list, mfa_recovery_codes_create,
};
use http::StatusCode;
use minijinja::{Value, context};
use model::user::totp::AuthenticatorView;
use qrcode::{Color, EcLevel, QrCode};
use serde_json::{Value as Json, json};

use crate::account::list::{items, list, place, text};
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

pub(super) async fn shown(visit: &Visit) -> Option<Value> {
    let user = &visit.visitor.as_ref()?.user;
    let remembers = visit.project.config.second_factor.remember_device_days > 0;
    let devices = if user.totp.is_some() && remembers {
        Some(visit.call(mfa_device_list::ROUTE, mfa_device_list::handle, Call::new()).await)
    } else {
        None
    };
    let device = |device: &Json| {
        context! {
            id => text(device, "id"),
            place => place(&device["last_used_at_end_user_ip_info"]),
            used => visit.ago(&device["last_used_at_millis"]),
            until => day(&device["expires_at_millis"]),
            is_current => device["is_current_device"] == true,
        }
    };
    let app = |app: AuthenticatorView| {
        context! {
            id => app.id.to_string(),
            name => app.name,
            used => app.last_used_at_millis.and_then(|millis| visit.ago(&json!(millis))),
            since => app.created_at_millis.and_then(|millis| day(&json!(millis))),
        }
    };
    Some(context! {
        apps => list(user.apps().map(AuthenticatorView::from), app),
        codes_left => user.recovery_codes().map_or(0, |codes| codes.left),
        devices => list(devices.as_ref().map_or(&[][..], items), device),
        remembers => remembers,
    })
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "begin" => begin(visit).await,
        "verify" => verify(visit).await,
        "rename" => {
            let call = Call::with(json!({ "name": visit.form.text("name").trim() })).at(&action.id);
            Outcome::of(visit.call(mfa_authenticator_update::ROUTE, mfa_authenticator_update::handle, call).await, "renamed")
        }
        "delete" => {
            let call = Call::new().at(&action.id);
            let reply = visit.call(mfa_authenticator_delete::ROUTE, mfa_authenticator_delete::handle, call).await;
            Outcome::of(reply, "second_step_app_deleted")
        }
        "codes" => {
            let reply = visit.call(mfa_recovery_codes_create::ROUTE, mfa_recovery_codes_create::handle, Call::new()).await;
            if reply.error().is_some() { Outcome::Refusal(reply) } else { codes(visit, &reply.body["codes"]) }
        }
        "forget" => {
            let call = Call::new().at(&action.id);
            Outcome::of(visit.call(mfa_device_delete::ROUTE, mfa_device_delete::handle, call).await, "second_step_device_forgotten")
        }
        _ => Outcome::Nothing,
    }
}

async fn begin(visit: &Visit) -> Outcome {
    let reply = visit.call(mfa_authenticator_begin::ROUTE, mfa_authenticator_begin::handle, Call::new()).await;
    if reply.error().is_some() {
        return Outcome::Refusal(reply);
    }
    let field = |name: &str| reply.text(name).to_owned();
    Outcome::Answer(set_up(visit, &field("code"), &field("secret_base32"), &field("otpauth_url"), None))
}

/// Shows the secret and asks for a code. After a wrong code, the new form contains the same secret
/// and URL, because the operation returns them only once.
fn set_up(visit: &Visit, code: &str, secret: &str, url: &str, refused: Option<&Reply>) -> Answer {
    let spaced = secret.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ");
    let values = context! {
        code => code, secret => secret, url => url, spaced => spaced, qr => qr_code(url),
        problem => refused.map(|reply| visit.error_text(reply)), app_name => visit.form.text("app_name"),
    };
    let status = refused.map_or(StatusCode::OK, |reply| reply.status);
    visit.document("authenticator", values).status(status).answer()
}

async fn verify(visit: &Visit) -> Outcome {
    let (form, digits) = (&visit.form, |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>());
    let mut body = json!({ "code": form.text("setup"), "totp": digits(form.text("totp")) });
    if let Some(name) = form.get("app_name").map(str::trim).filter(|name| !name.is_empty()) {
        body["name"] = json!(name);
    }
    let reply = visit.call(mfa_authenticator_verify::ROUTE, mfa_authenticator_verify::handle, Call::with(body)).await;
    match reply.error() {
        None if reply.body["recovery_codes"].is_array() => codes(visit, &reply.body["recovery_codes"]),
        None => Outcome::Done("second_step_app_added"),
        Some("INVALID_TOTP_CODE" | "SCHEMA_ERROR") => {
            Outcome::Answer(set_up(visit, form.text("setup"), form.text("secret"), form.text("url"), Some(&reply)))
        }
        Some(_) => Outcome::Refusal(reply),
    }
}

/// Shows new recovery codes once.
fn codes(visit: &Visit, codes: &Json) -> Outcome {
    let codes: Vec<String> = codes.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    let values = context! { kind => "codes", secrets => codes, section => "second-step" };
    Outcome::Answer(visit.document("shown_once", values).answer())
}

/// The path of a QR code in SVG, and the code's width in modules. `None` if the text is too long or
/// is not an `otpauth:` URL.
fn qr_code(text: &str) -> Option<Value> {
    // The text was sent in a form, so it may be arbitrary.
    let text = Some(text).filter(|text| text.starts_with("otpauth://"))?;
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (width, modules) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (y, row) in modules.chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|one, next| one == next) {
            if run.first() == Some(&Color::Dark) {
                // Writing to a string does not fail.
                let _ = write!(path, "M{x} {y}h{}v1H{x}z", run.len());
            }
            x += run.len();
        }
    }
    Some(context! { path => path, width => width })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qr_code_is_the_path_of_its_dark_modules() {
        let code = qr_code("otpauth://totp/App:ada@example.com?secret=ABC").unwrap_or_default();
        let path = code.get_attr("path").unwrap_or_default();
        // The finder pattern in the corner is seven modules wide.
        assert!(path.as_str().is_some_and(|path| path.starts_with("M0 0h7v1H0z")), "{path}");
        assert!(qr_code("javascript:alert(1)").is_none());
        assert!(qr_code(&format!("otpauth://{}", "x".repeat(5000))).is_none());
    }
}
