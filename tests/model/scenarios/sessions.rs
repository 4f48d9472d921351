//! Refresh tokens, sessions, and OAuth codes that start sessions.

use std::sync::Arc;

use model::project::redirect::RedirectUrl;
use model::provider::account::ProviderAccount;
use model::provider::profile::Profile;
use model::sign_in::authorization::challenge;
use secrecy::SecretString;
use serde_json::json;
use stateright::Property;
use store::Store;
use store::provider::authorization::{AuthorizationCode, CODE_LIFE, PendingAccount, PendingChange, create_code};
use store::provider::tokens::{ProviderTokens, owner};
use support::{SignedInUser, TestApp};
use wire::id::{SessionId, UserId};

use super::{ADA, CALLBACK, EVE, PASSWORD, Stage, doing, end_all, post, redeeming, refresh, send};
use crate::explored::{Scenario, State};
use crate::rules::{answers, is_over, successes};
use crate::service::{Answer, Task};
use crate::table::Table;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// The sort key of the session of the user.
fn session_of(app: &TestApp, user: &SignedInUser) -> String {
    let items = app.table().into_keys();
    let mut own = items.filter(|(pk, sk)| pk.ends_with(&user.user_id) && sk.starts_with("SESSION#")).map(|(_, sk)| sk);
    let only = own.next().unwrap();
    assert_eq!(own.next(), None);
    only
}

pub(super) async fn an_ended_session_gives_no_access_and_no_tokens() -> Stage {
    let app = TestApp::start().await;
    let first = app.sign_up(ADA).await;
    let session = session_of(&app, &first);
    let second = app.sign_in(ADA).await;
    let own = app.signed_in(&first);
    let clients = [
        doing([refresh(&app, &first)]),
        doing([send(&own, "DELETE", "/api/v1/auth/sessions/current", None), send(&own, "GET", "/api/v1/users/me", None)]),
        doing([end_all(&app, &second), refresh(&app, &first)]),
    ];
    Stage::new(app, clients)
        .knowing("session", &session)
        .remembering(|scenario, table| !lives(scenario, table))
        .rule(Property::always("requests after the end are rejected", |model, state: &State| {
            let told = answers(model, state).zip(&state.past.knew);
            told.into_iter().all(|(answer, knew)| *knew != Some(1) || answer.is_none_or(|status| status == 401))
        }))
        .rule(Property::always("a reported end is real", |_, state: &State| {
            let told = state.places.iter().skip(1).filter_map(|place| place.0.answers.first());
            told.into_iter().all(|answer| answer.status != 200 || state.past.happened == 1)
        }))
        .rule(Property::always("ending an existing session is reported as a success", |_, state: &State| {
            let told = state.places[1].0.answers.first();
            told.is_none_or(|answer| answer.status == 200 || answer.status == 401)
        }))
        .rule(Property::sometimes("a refresh comes in time", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 401, 401])
        }))
        .rule(Property::sometimes("a refresh comes too late", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([401, 401, 401])
        }))
}

/// The number of new active users that the table has counted.
fn counted(table: &Table) -> u64 {
    table.iter().filter(|((pk, _), _)| pk.starts_with("F#")).filter_map(|(_, item)| item.plain["un"].as_u64()).sum()
}

pub(super) async fn refreshes_at_once_count_their_user_once() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let clients = [(); 3].map(|()| doing([refresh(&app, &ada)]));
    Stage::new(app, clients).rule(Property::always("a user is active once a day", |_, state: &State| counted(&state.table) <= 1)).rule(
        Property::always("every refresh succeeds and the user is counted", |model, state: &State| {
            !is_over(model, state) || (successes(model, state) == 3 && counted(&state.table) == 1)
        }),
    )
}

/// An authorization code for signing the user in to an app.
async fn code_for(app: &TestApp, user: &SignedInUser) -> String {
    code_that(app, user, |_| {}).await
}

/// A modified authorization code, for flows that do more than sign the user in.
async fn code_that(app: &TestApp, user: &SignedInUser, change: impl FnOnce(&mut AuthorizationCode)) -> String {
    let id = UserId::parse(&user.user_id).unwrap();
    let code = format!("{}{}", id.uuid().as_simple(), "0".repeat(32));
    let mut stored = AuthorizationCode {
        user_id: id,
        epoch: 0,
        begun_in: None,
        redirect_uri: RedirectUrl::parse(CALLBACK).unwrap(),
        code_challenge: challenge(VERIFIER),
        after_callback_redirect_url: None,
        is_new_user: false,
        expires_at: app.now() + CODE_LIFE,
        pending: None,
        new_tokens: None,
        session_id: None,
        handed_over: None,
    };
    change(&mut stored);
    let write = create_code(app.project_id(), &SecretString::from(code.clone()), &stored).unwrap();
    app.app.store.write(write).await.unwrap();
    code
}

fn exchange(app: &TestApp, code: &str, redirect_uri: &str) -> Task {
    let body = json!({
        "grant_type": "authorization_code", "client_id": app.project_id(), "client_secret": "__stack_public_client__", "code": code,
        "redirect_uri": redirect_uri, "code_verifier": VERIFIER,
    });
    post(&app.anonymous(), "/api/v1/auth/oauth/token", body)
}

pub(super) async fn an_authorization_code_starts_one_session_which_its_reuse_ends() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let code = code_for(&app, &ada).await;
    let clients = [
        redeeming(exchange(&app, &code, CALLBACK)),
        redeeming(exchange(&app, &code, CALLBACK)),
        redeeming(exchange(&app, &code, "http://localhost:3000/astray")),
    ];
    Stage::new(app, clients)
        .rule(Property::always("at most one session begins", |_, state: &State| state.past.began.len() <= 1))
        .rule(Property::always("a reused code leaves no session", |model, state: &State| {
            let both = answers(model, state).take(2).all(|answer| answer.is_some());
            let is_live = state.table.live_sessions().any(|session| state.past.began.contains_key(&*format!("SESSION#{}", session.id)));
            !(both && is_live)
        }))
        .rule(Property::always("a misdirected code gives no tokens", |model, state: &State| {
            answers(model, state).nth(2).flatten().is_none_or(|status| status == 400)
        }))
        .rule(Property::sometimes("a misdirected code is invalidated", |model, state: &State| {
            is_over(model, state) && state.past.began.is_empty()
        }))
}

/// After this many wrong passwords, one client redeems an authorization code, one ends all
/// sessions, and one performs the task `other` on the user.
async fn dies(wrong_passwords: usize, other: fn(&TestApp, &SignedInUser) -> Task) -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    for _ in 0..wrong_passwords {
        let wrong = json!({ "email": ADA, "password": "wrong horse battery" });
        assert_eq!(app.client().post("/api/v1/auth/password/sign-in", wrong).await.status(), 400);
    }
    let code = code_for(&app, &ada).await;
    let clients = [redeeming(exchange(&app, &code, CALLBACK)), doing([other(&app, &ada)]), doing([end_all(&app, &ada)])];
    Stage::new(app, clients)
        .remembering(|_, table| table.users().all(|user| user.session_epoch > 0))
        .rule(Property::always("requests after the end are rejected", |model, state: &State| {
            let told = answers(model, state).next().flatten();
            state.past.knew[0] != Some(1) || told.is_none_or(|status| status == 400)
        }))
        .rule(Property::always("the count of wrong passwords restarts and is never exceeded", |_, state: &State| {
            state.table.users().all(|user| user.wrong_passwords <= 1)
        }))
        .rule(Property::sometimes("all three requests succeed", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 200, 200])
        }))
        .rule(Property::sometimes("the code comes too late", |model, state: &State| {
            is_over(model, state) && answers(model, state).next().flatten() == Some(400)
        }))
}

pub(super) async fn an_authorization_code_dies_with_all_sessions_and_with_its_user() -> Stage {
    dies(0, |app, user| send(&app.server(), "DELETE", format!("/api/v1/users/{}", user.user_id), None)).await
}

pub(super) async fn an_authorization_code_dies_with_all_sessions_after_wrong_passwords() -> Stage {
    dies(1, |app, user| post(&app.client(), "/api/v1/auth/password/sign-in", json!({ "email": user.email, "password": PASSWORD }))).await
}

/// The authorization code of a flow that was started in this session to link a provider account to
/// the user.
async fn link_for(app: &TestApp, user: &SignedInUser, session: &str) -> String {
    let (account_id, provider_id) = ("666".to_owned(), "acme".to_owned());
    let profile = Profile { account_id: account_id.clone(), name: None, email: None, email_verified: false, picture: None };
    let (id, email) = (app.app.entropy.uuid().into(), None);
    let account = ProviderAccount { id, provider_id, issuer: None, account_id, email, allow_sign_in: true, allow_connected_accounts: true };
    let access = app.app.sealer.seal(&app.app.entropy, &owner(app.project_id(), &account, None), &"a token".into()).unwrap();
    let tokens = ProviderTokens {
        access,
        refresh: None,
        refresh_scope: None,
        expires_at: None,
        scope: "openid".to_owned(),
        is_revoked: false,
        refreshing_until: None,
        registration: None,
        confirmed_at: None,
        last_report: None,
    };
    code_that(app, user, |code| {
        code.begun_in = Some(SessionId::parse(session.strip_prefix("SESSION#").unwrap()).unwrap());
        code.pending = Some(PendingAccount { change: PendingChange::Link, account, tokens: Some(tokens), profile });
    })
    .await
}

pub(super) async fn a_flow_that_links_an_account_ends_with_its_session() -> Stage {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up(ADA).await, app.sign_up(EVE).await);
    let [session, of_eve] = [session_of(&app, &ada), session_of(&app, &eve)];
    let [code, rival] = [link_for(&app, &ada, &session).await, link_for(&app, &eve, &of_eve).await];
    let clients = [
        redeeming(exchange(&app, &code, CALLBACK)),
        doing([send(&app.signed_in(&ada), "DELETE", "/api/v1/auth/sessions/current", None)]),
        redeeming(exchange(&app, &rival, CALLBACK)),
    ];
    Stage::new(app, clients)
        .knowing("session", &session)
        .knowing("user", &ada.user_id)
        .remembering(|scenario, table| !lives(scenario, table))
        .remembering(|scenario, table| is_linked(scenario, table) && lives(scenario, table))
        .rule(Property::always("an account is only linked while its flow's session is valid", |model, state: &State| {
            !is_linked(&model.scenario, &state.table) || state.past.happened & 2 != 0
        }))
        .rule(Property::always("an account is linked to one user", |_, state: &State| {
            state.table.users().filter(|user| !user.provider_accounts.is_empty()).count() <= 1
        }))
        .rule(Property::sometimes("the link comes in time", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 200, 409])
        }))
        .rule(Property::sometimes("the link comes too late", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([400, 200, 200])
        }))
}

/// Whether the scenario's session gives access.
fn lives(scenario: &Scenario, table: &Table) -> bool {
    table.live_sessions().any(|session| format!("SESSION#{}", session.id) == scenario.known["session"])
}

/// Whether the scenario's user is linked to a provider account.
fn is_linked(scenario: &Scenario, table: &Table) -> bool {
    table.user(&scenario.known["user"]).is_some_and(|user| !user.provider_accounts.is_empty())
}

/// A task that calls the store directly, and turns the result into an HTTP status.
fn asking<F: Future<Output = Result<bool, store::Error>> + Send + 'static>(ask: impl Fn(Store) -> F + Send + Sync + 'static) -> Task {
    let ask = Arc::new(ask);
    Arc::new(move |app, _| {
        let ask = Arc::clone(&ask);
        Box::pin(async move {
            let status = match ask(app.store.clone()).await {
                Ok(true) => 200,
                Ok(false) | Err(store::Error::Conflict(_)) => 409,
                Err(_) => 503,
            };
            Answer { status, code: None }
        })
    })
}

pub(super) async fn an_oauth_flow_is_started_and_finished_once() -> Stage {
    let app = TestApp::start().await;
    let state = SecretString::from("the state that a provider gives back");
    let authorization = app.authorization("acme");
    let begin = {
        let state = state.clone();
        asking(move |store| {
            let (state, authorization) = (state.clone(), authorization.clone());
            async move { store.begin_authorization(&state, &authorization).await.map(|()| true) }
        })
    };
    let take = || {
        let state = state.clone();
        redeeming(asking(move |store| {
            let state = state.clone();
            async move { Ok(store.take_authorization(&state).await?.is_some()) }
        }))
    };
    let clients = [doing([begin]), take(), take()];
    Stage::new(app, clients)
        .rule(Property::always("a started flow exists", |model, state: &State| {
            answers(model, state).next().flatten().is_none_or(|status| status == 200)
        }))
        .rule(Property::always("at most one client finishes the flow", |model, state: &State| {
            answers(model, state).skip(1).filter(|answer| *answer == Some(200)).count() <= 1
        }))
        .rule(Property::sometimes("one client is in time and one is too late", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 200, 409])
        }))
}
