//! `gateway reseal` after the deployment secret of a gateway has been replaced.

use std::process::Command;
use std::time::Duration;

use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};
use wire::clock::Clock;

use crate::support::{Folder, Gateway, end_of, fails, gateway, succeeds, variable};

const OLD: &str = "the deployment secret of this test";
const NEW: &str = "the deployment secret after that one";
const EMAIL: &str = "ada@example.com";
const APP_SECRET: &[u8] = b"12345678901234567890";
const APP_SECRET_BASE64: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

/// The current time step of authenticator apps (RFC 6238).
fn step_now() -> i64 {
    Clock::system().now().as_second() / 30
}

/// The code of an authenticator app in a time step.
fn code(step: i64) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, APP_SECRET), &step.to_be_bytes());
    let offset = usize::from(tag.as_ref()[19] & 15);
    let number = u32::from_be_bytes(tag.as_ref()[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// A command on this data with a current secret and, optionally, a previous secret.
fn with_secrets(data: &str, arguments: &[&str], current: &str, previous: Option<&str>) -> Command {
    let mut command = gateway(&[arguments, &["--data", data]].concat());
    command.env("GATELET_SECRET", current);
    if let Some(previous) = previous {
        command.env("GATELET_SECRET_PREVIOUS", previous);
    }
    command
}

fn start(data: &str, secret: &str) -> Gateway {
    Gateway::spawn(&mut with_secrets(data, &["--listen", "127.0.0.1:0"], secret, None))
}

/// Creates an account with an authenticator app, and configures a project with a provider and an
/// RSA key.
async fn prepare(data: &str) -> String {
    let gateway = start(data, OLD);
    let project = gateway.line("Project");
    let ada = gateway.sign_up(&project, EMAIL).await;
    gateway.change_user(&project, &ada, json!({ "totp_secret_base64": APP_SECRET_BASE64 })).await;
    wait_for_emails(&gateway, data, &project).await;
    sign_with_rsa(&gateway, data, &project).await;
    let provider = r#"config.oauth_providers=[{"id":"github","client_id":"x","client_secret":"the-secret"}]"#;
    succeeds(&end_of(&mut with_secrets(data, &["project", "set", &project, provider], OLD, None)));
    // Before the gateway exits, it links the audit trail.
    gateway.signal("INT");
    assert!(gateway.wait().0.success());
    project
}

/// Lets the project sign access tokens with an RSA key.
async fn sign_with_rsa(gateway: &Gateway, data: &str, project: &str) {
    let key = variable(&std::fs::read_to_string(format!("{data}/keys.env")).unwrap(), "GATELET_SUPER_SECRET_ADMIN_KEY");
    let admin = [("x-stack-project-id", project), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", key.as_str())];
    for (method, path, body) in
        [(Method::POST, "signing-keys", json!({})), (Method::PATCH, "projects/current", json!({ "access_token_algorithm": "RS256" }))]
    {
        let answer = gateway.send(method, &format!("/api/v1/internal/{path}"), &admin, Some(body)).await;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
    }
}

/// Waits until all emails have been sent, because queued emails also contain sealed codes.
async fn wait_for_emails(gateway: &Gateway, data: &str, project: &str) {
    let key = variable(&std::fs::read_to_string(format!("{data}/keys.env")).unwrap(), "GATELET_SECRET_SERVER_KEY");
    let server = [("x-stack-project-id", project), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", key.as_str())];
    for _ in 0..2_400 {
        let entries: Value = gateway.send(Method::GET, "/api/v1/emails/outbox", &server, None).await.json().await.unwrap();
        let entries = entries["items"].as_array().unwrap();
        if !entries.is_empty() && entries.iter().all(|entry| entry["status"] == "sent") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("emails are still waiting");
}

/// Signs in with the password and the current code of the authenticator app; retries if the code
/// expired in transit.
async fn sign_in(gateway: &Gateway, project: &str) -> (u16, Value) {
    loop {
        let body = json!({ "email": EMAIL, "password": "correct horse battery" });
        let (_, first) = gateway.client(project, Method::POST, "/api/v1/auth/password/sign-in", Some(body)).await;
        let attempt = first["details"]["attempt_code"].as_str().unwrap_or_else(|| panic!("{first}"));
        let step = step_now();
        let body = json!({ "code": attempt, "type": "totp", "totp": code(step) });
        let answer = gateway.client(project, Method::POST, "/api/v1/auth/mfa/sign-in", Some(body)).await;
        if answer.0 == 200 || step == step_now() {
            return answer;
        }
    }
}

#[tokio::test]
async fn after_resealing_the_new_secret_opens_everything() {
    let folder = Folder::new("reseal");
    let data = folder.data();
    let project = prepare(&data).await;
    let refused = |secret: &str| fails(&end_of(&mut with_secrets(&data, &["--listen", "127.0.0.1:0"], secret, None)));
    assert!(refused(NEW).contains("GATELET_SECRET does not belong to this data"), "{}", refused(NEW));
    let reseal = |current: &str, previous: Option<&str>| end_of(&mut with_secrets(&data, &["reseal"], current, previous));

    let lost = fails(&reseal(NEW, None));
    assert!(lost.contains("3 sealed values, such as the one at ") && !lost.contains("the-secret"), "{lost}");
    let done = succeeds(&reseal(NEW, Some(OLD)));
    assert!(done.starts_with("Resealed: 3; already sealed with the current secret: 0\n"), "{done}");
    let again = succeeds(&reseal(NEW, Some(OLD)));
    assert!(again.starts_with("Resealed: 0; already sealed with the current secret: 3\n"), "{again}");
    assert!(again.contains("Trail links re-authenticated: 0; "), "{again}");
    // The command also works without the previous secret, which proves that the previous secret is
    // no longer needed.
    assert_eq!(succeeds(&reseal(NEW, None)), again);

    let (status, signed_in) = sign_in(&start(&data, NEW), &project).await;
    assert_eq!(status, 200, "{signed_in}");
    // The base64 form of the header with `at+jwt` and `RS256`.
    let header = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiIs";
    assert!(signed_in["access_token"].as_str().unwrap().starts_with(header), "{signed_in}");
    assert!(fails(&reseal(OLD, None)).contains("3 sealed values"));
    assert!(refused(OLD).contains("GATELET_SECRET does not belong to this data"), "{}", refused(OLD));
}

#[tokio::test]
async fn resealing_a_table_takes_both_secrets_from_the_environment() {
    let folder = Folder::new("reseal-table");
    let data = folder.data();
    prepare(&data).await;
    let arguments = ["--listen", "127.0.0.1:0", "--dynamodb-port", "0"];
    let other = Gateway::spawn(&mut with_secrets(&data, &arguments, NEW, Some(OLD)));
    let reseal = |secrets: &[(&str, &str)]| {
        let mut command = gateway(&["reseal", "--table", "gatelet"]);
        end_of(command.envs(other.table_variables()).envs(secrets.iter().copied()))
    };
    assert!(fails(&reseal(&[])).contains("GATELET_SECRET is not set"));
    let done = succeeds(&reseal(&[("GATELET_SECRET", NEW), ("GATELET_SECRET_PREVIOUS", OLD)]));
    assert!(done.starts_with("Resealed: 3;"), "{done}");
    assert!(succeeds(&reseal(&[("GATELET_SECRET", NEW)])).starts_with("Resealed: 0; already sealed with the current secret: 3\n"));
}
