//! Access tokens that expire while a command is running, for example during a long export.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{file, json_of, run, serve};
use crate::support::{Folder, fails};

const PROJECT: &str = "5f0b2c1e-8c0c-4c0e-9d0e-1c2b3a495867";

fn answer(status: u16, body: &Value) -> String {
    let body = body.to_string();
    format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// A deployment whose first access token has already expired when it is used. The session can be
/// renewed `renewals` times.
fn deployment(renewals: usize) -> String {
    let renewed = AtomicUsize::new(0);
    serve(move |request| {
        if request.starts_with("POST /api/v1/auth/sessions/current/refresh ")
            && request.contains("x-service-refresh-token: the-refresh-token")
        {
            let number = renewed.fetch_add(1, Ordering::SeqCst);
            if number < renewals {
                return answer(200, &json!({ "access_token": format!("token-{number}") }));
            }
            return answer(401, &json!({ "code": "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED", "error": "the session has ended" }));
        }
        let is_of_project = request.contains(&format!("x-service-project-id: {PROJECT}"));
        if is_of_project && request.contains("x-service-admin-access-token: token-1") {
            return answer(200, &json!({ "items": [] }));
        }
        answer(401, &json!({ "code": "ADMIN_ACCESS_TOKEN_EXPIRED", "error": "the token has expired" }))
    })
}

/// A folder with the saved session of a sign-in to this deployment.
fn signed_in(name: &str, url: &str) -> Folder {
    let folder = Folder::new(name);
    let logins = json!({ "logins": [{ "url": url, "refresh_token": "the-refresh-token" }] });
    folder.write("config/gatelet/logins.json", &logins.to_string());
    folder
}

#[test]
fn a_command_that_outlives_its_access_token_gets_another_one() {
    let folder = signed_in("renewal", &deployment(2));
    assert_eq!(json_of(&folder, &["call", "GET", "/users", "--project", PROJECT]), json!({ "items": [] }));
}

#[test]
fn a_command_whose_session_ends_while_it_runs_asks_to_sign_in_again() {
    let url = deployment(1);
    let folder = signed_in("renewal-ended", &url);
    let ended = fails(&run(&folder, &["call", "GET", "/users", "--project", PROJECT]));
    assert!(ended.contains(&format!("the session at {url} has ended: run `gateway login {url}`")), "{ended}");
    assert!(std::fs::read_to_string(file(&folder)).unwrap().contains(&url), "only a sign-out forgets the session");
}
