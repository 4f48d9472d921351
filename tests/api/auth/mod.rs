//! Sign-up, sign-in, credentials, second factors, sessions, OAuth, and the notices about changes to
//! how a user signs in.

pub(crate) mod account_notices;
mod anonymous;
mod cli_complete;
mod cli_create;
mod cli_poll;
mod connected_account_token_own;
mod connected_accounts;
mod impersonation;
mod machine_tokens;
pub(crate) mod mfa_authenticators;
mod mfa_devices;
mod mfa_passkey;
pub(crate) mod mfa_recovery_codes;
pub(crate) mod mfa_sign_in;
mod new_sign_in;
mod oauth_accounts;
mod oauth_apple_native;
mod oauth_apple_tokens;
pub(crate) mod oauth_authorize;
mod oauth_authorize_refusals;
pub(crate) mod oauth_callback;
mod oauth_catalog;
mod oauth_client_basic;
mod oauth_code;
mod oauth_cross_domain;
mod oauth_device_authorize;
mod oauth_link_sessions;
mod oauth_odd_answers;
mod oauth_provider_accounts;
mod oauth_provider_list;
mod oauth_providers_fail;
mod oauth_real_providers;
mod oauth_redirects;
mod oauth_token;
mod oauth_unfinished;
mod oauth_unfinished_tokens;
mod one_sign_in_account;
mod openid_checklist;
mod otp_check_sign_in_code;
mod otp_send_sign_in_code;
mod otp_sign_in;
mod packed_accounts;
mod passkey_delete;
mod passkey_initiate_authentication;
mod passkey_initiate_registration;
mod passkey_list;
mod passkey_register;
mod passkey_sign_in;
mod passkey_update;
mod password_change;
mod password_closed;
mod password_reset;
mod password_sign_in;
mod password_sign_up;
mod password_strength;
mod provider_changes;
mod reported_tokens;
mod reseal;
mod second_factor_of_every_way;
mod second_factor_required;
mod second_factor_sessions;
mod second_factor_teams;
mod session_delete_all;
mod session_delete_current;
mod session_list;
mod session_list_pages;
mod session_reauthenticate;
mod session_refresh;
mod session_server;
mod shared_providers;
mod sign_up_rules;
mod tokens;

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

/// Asserts that an operation with client access rejects callers without client access, regardless
/// of the body.
async fn assert_takes_client_access(app: &TestApp, method: &str, path: &str) {
    let send = |caller: support::Caller| async move { caller.request(method, path).json(&json!({ "nonsense": 1 })).send().await };
    let project = app.project_id().as_str();
    let cases = [
        (app.anonymous(), 401, "ACCESS_TYPE_REQUIRED"),
        (app.client().without("x-stack-access-type"), 400, "PROJECT_KEY_WITHOUT_ACCESS_TYPE"),
        (app.client().with("x-stack-publishable-client-key", "pck_wrong"), 401, "INVALID_PUBLISHABLE_CLIENT_KEY"),
        (app.client().with("x-stack-access-token", "no.token.this"), 401, "UNPARSABLE_ACCESS_TOKEN"),
        (app.anonymous().with("x-stack-project-id", project).with("x-stack-access-type", "server"), 401, "SERVER_AUTHENTICATION_REQUIRED"),
        (app.server().with("x-stack-secret-server-key", "ssk_wrong"), 401, "INVALID_SECRET_SERVER_KEY"),
    ];
    for (caller, status, code) in cases {
        let answer = send(caller).await;
        assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{method} {path}");
    }
}

/// Asserts an error and returns its details.
#[track_caller]
pub(crate) fn assert_error(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
    answer.json()["details"].clone()
}

/// The lines of a schema error, one for each problem.
#[track_caller]
fn problems(answer: &Answer) -> Vec<String> {
    let details = assert_error(answer, 400, "SCHEMA_ERROR");
    let lines = details["message"].as_str().unwrap().lines().skip(1);
    lines.map(|line| line.trim_start_matches("  - ").to_owned()).collect()
}

/// Whether the user's access token permits reading the user's account.
async fn opens_own_data(app: &TestApp, user: &SignedInUser) -> bool {
    let me = app.signed_in(user).get("/api/v1/users/me").await;
    me.status() == 200 && me.json()["id"] == user.user_id
}
