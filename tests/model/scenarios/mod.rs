//! The scenarios: their initial states, the actions of three clients, and the rules in addition to
//! those of every scenario.

mod accounts;
mod clients;
mod codes;
mod sessions;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use futures_util::future::LocalBoxFuture;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use stateright::Property;
use support::{Caller, SignedInUser, TestApp};
use tower::ServiceExt as _;

use crate::check::check;
use crate::explored::{Client, Event, Exploration, Scenario};
use crate::service::{Answer, Task};
use crate::services::Services;
use crate::table::{Engines, Table};

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
/// The password of every user that the test helpers create.
const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";
const CALLBACK: &str = "http://localhost:3000/x";
const CHANNELS: &str = "/api/v1/contact-channels";
const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";
const END_ALL: &str = "/api/v1/auth/sessions?include_current=true";

/// A scenario that is being prepared: the service with the initial table, the clients, and the
/// rules.
struct Stage {
    app: TestApp,
    clients: Vec<Client>,
    rules: Vec<Property<Exploration>>,
    known: BTreeMap<&'static str, String>,
    events: Vec<Event>,
    faults: u8,
}

impl Stage {
    fn new(app: TestApp, clients: [Client; 3]) -> Self {
        Self { app, clients: clients.into(), rules: Vec::new(), known: BTreeMap::new(), events: Vec::new(), faults: 1 }
    }

    /// Adds an id that rules can use by this name.
    fn knowing(mut self, name: &'static str, id: &str) -> Self {
        self.known.insert(name, id.to_owned());
        self
    }

    /// Adds an event that states remember; the first event is bit 0.
    fn remembering(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    fn rule(mut self, property: Property<Exploration>) -> Self {
        self.rules.push(property);
        self
    }

    fn into_scenario(self, name: &'static str) -> Scenario {
        let Self { app, clients, rules, known, events, faults } = self;
        let services = Services::new(app.app.settings.clone(), app.app.clock.clone());
        let (table, engines, conditions) = (Table::of(app.table()), Engines::default(), Mutex::default());
        Scenario { name, clients, rules, faults, known, events, table, services, engines, conditions }
    }
}

/// A scenario that is prepared and checked when it is first used.
pub(crate) struct Scene {
    name: &'static str,
    stage: fn() -> LocalBoxFuture<'static, Stage>,
    scenario: OnceLock<Arc<Scenario>>,
}

impl Scene {
    fn new(name: &'static str, stage: fn() -> LocalBoxFuture<'static, Stage>) -> Self {
        Self { name, stage, scenario: OnceLock::new() }
    }

    pub(crate) fn checked(&self) -> &Arc<Scenario> {
        self.scenario.get_or_init(|| {
            let stage = tokio::runtime::Runtime::new().unwrap().block_on((self.stage)());
            let scenario = Arc::new(stage.into_scenario(self.name));
            check(&scenario);
            scenario
        })
    }
}

macro_rules! scenes {
    ($($area:ident::$name:ident,)*) => {
        pub(crate) static ALL: LazyLock<Vec<Scene>> =
            LazyLock::new(|| vec![$(Scene::new(stringify!($name), || Box::pin($area::$name()))),*]);

        $(
            #[test]
            fn $name() {
                ALL.iter().find(|scene| scene.name == stringify!($name)).unwrap().checked();
            }
        )*
    };
}

scenes! {
    codes::of_three_resets_with_two_codes_one_succeeds,
    codes::a_sign_in_code_starts_one_session_and_none_after_all_were_ended,
    codes::two_codes_and_a_password_create_one_account_for_an_address,
    codes::of_two_attempts_with_one_totp_code_one_signs_in,
    codes::of_two_attempts_with_one_recovery_code_one_signs_in,
    codes::two_recovery_codes_at_once_both_sign_in,
    codes::an_invitation_is_accepted_once_or_revoked,
    codes::a_link_releases_an_address_once,
    accounts::of_three_sign_ups_with_an_address_one_succeeds,
    accounts::a_reset_that_proves_an_address_takes_the_account_exclusively,
    accounts::of_two_proofs_of_an_address_one_is_the_first,
    accounts::of_three_users_who_verify_an_address_one_gets_it,
    accounts::a_deleted_account_frees_its_address_and_leaves_nothing_else,
    accounts::a_deletion_removes_what_a_concurrent_change_added,
    sessions::an_ended_session_gives_no_access_and_no_tokens,
    sessions::refreshes_at_once_count_their_user_once,
    sessions::an_authorization_code_starts_one_session_which_its_reuse_ends,
    sessions::an_authorization_code_dies_with_all_sessions_and_with_its_user,
    sessions::an_authorization_code_dies_with_all_sessions_after_wrong_passwords,
    sessions::a_flow_that_links_an_account_ends_with_its_session,
    sessions::an_oauth_flow_is_started_and_finished_once,
    clients::a_code_of_a_client_gives_tokens_once_and_its_reuse_ends_them,
    clients::tabs_that_refresh_at_once_share_a_successor,
    clients::an_outdated_token_of_a_client_ends_the_grant,
    clients::first_decisions_at_once_are_both_remembered,
    clients::later_decisions_at_once_are_both_remembered,
    clients::decisions_about_resources_at_once_are_both_remembered,
    clients::an_ended_grant_does_not_come_back,
}

/// A client whose only task redeems an item.
fn redeeming(task: Task) -> Client {
    Client { tasks: vec![task], redeems: true }
}

/// A client with several tasks in sequence that redeem nothing.
fn doing(tasks: impl IntoIterator<Item = Task>) -> Client {
    Client { tasks: tasks.into_iter().collect(), redeems: false }
}

/// Sends a request. Succeeds if the response contains `success`, because the status of pages is
/// always 200.
fn send_until(caller: &Caller, method: &'static str, path: impl Into<String>, body: Option<Value>, success: &'static str) -> Task {
    let (caller, path): (Caller, String) = (caller.clone(), path.into());
    Arc::new(move |_, router| {
        let request = caller.request(method, &path);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        let request = request.build();
        Box::pin(async move {
            let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&body);
            let error: Value = serde_json::from_slice(&body).unwrap_or_default();
            let status = if text.contains(success) { parts.status.as_u16() } else { 409 };
            Answer { status, code: error["code"].as_str().map(str::to_owned) }
        })
    })
}

fn send(caller: &Caller, method: &'static str, path: impl Into<String>, body: Option<Value>) -> Task {
    send_until(caller, method, path, body, "")
}

fn post(caller: &Caller, path: impl Into<String>, body: Value) -> Task {
    send(caller, "POST", path, Some(body))
}

fn reset(app: &TestApp, code: &str, password: &str) -> Task {
    post(&app.client(), "/api/v1/auth/password/reset", json!({ "code": code, "password": password }))
}

fn otp_sign_in(app: &TestApp, code: &str) -> Task {
    post(&app.client(), "/api/v1/auth/otp/sign-in", json!({ "code": code }))
}

fn password_sign_up(app: &TestApp, email: &str) -> Task {
    post(&app.client(), "/api/v1/auth/password/sign-up", json!({ "email": email, "password": PASSWORD }))
}

fn verify(app: &TestApp, code: &str) -> Task {
    post(&app.client(), format!("{CHANNELS}/verify"), json!({ "code": code }))
}

fn refresh(app: &TestApp, user: &SignedInUser) -> Task {
    send(&app.client().with("x-stack-refresh-token", &user.refresh_token), "POST", REFRESH, None)
}

/// Ends all sessions of a user, which also invalidates the user's earlier codes.
fn end_all(app: &TestApp, user: &SignedInUser) -> Task {
    send(&app.signed_in(user), "DELETE", END_ALL, None)
}

/// Requests a code for resetting the password, and reads it from the email.
async fn reset_code(app: &TestApp, email: &str) -> String {
    let body = json!({ "email": email, "callback_url": CALLBACK });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    app.last_mail(email).await.code()
}

/// Adds a pending sign-in address to the user; returns the id of the channel.
async fn wish(app: &TestApp, user: &SignedInUser, email: &str) -> String {
    let body = json!({ "user_id": "me", "value": email, "type": "email", "used_for_auth": true });
    let answer = app.signed_in(user).post(CHANNELS, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Requests a code for verifying a channel, and reads it from the email.
async fn verification_code(app: &TestApp, user: &SignedInUser, channel: &str, email: &str) -> String {
    let path = format!("{CHANNELS}/me/{channel}/send-verification-code");
    let answer = app.signed_in(user).post(&path, json!({ "callback_url": CALLBACK })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    app.last_mail(email).await.code()
}

/// The id of the user's channel that has this address.
async fn channel(app: &TestApp, user: &SignedInUser, email: &str) -> String {
    let list = app.server().get(&format!("{CHANNELS}?user_id={}", user.user_id)).await.json();
    let channel = list["items"].as_array().unwrap().iter().find(|channel| channel["value"] == email).unwrap();
    channel["id"].as_str().unwrap().to_owned()
}
