//! Codes and links from emails, second factors, and invitations.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use stateright::Property;
use support::{TestApp, authenticator_code};

use super::{
    ADA, CALLBACK, NEW, PASSWORD, Stage, doing, end_all, otp_sign_in, password_sign_up, post, redeeming, reset, reset_code, send,
    send_until, verify,
};
use crate::explored::{Client, Exploration, State};
use crate::rules::{answers, is_over, successes};

/// Whether this client succeeded.
fn told(model: &Exploration, state: &State, client: usize) -> bool {
    answers(model, state).nth(client).flatten().is_some_and(|status| status < 300)
}

/// Adds the rule for a scenario in which a client ends all sessions.
fn ended(stage: Stage) -> Stage {
    let stage = stage.remembering(|_, table| table.users().any(|user| user.session_epoch > 0));
    stage.rule(Property::always("no session begins after all were ended", |_, state: &State| {
        state.past.happened == 0 || state.table.live_sessions().count() == 0
    }))
}

/// Adds the rules for two clients that present the same proof while a third client ends all
/// sessions.
fn one_session(stage: Stage) -> Stage {
    stage
        .rule(Property::always("at most one session begins", |_, state: &State| state.past.began.len() <= 1))
        .rule(Property::always("unless the sessions are ended, exactly one attempt succeeds", |model, state: &State| {
            !is_over(model, state) || told(model, state, 0) || told(model, state, 1) || state.past.happened > 0
        }))
}

pub(super) async fn of_three_resets_with_two_codes_one_succeeds() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    let [first, second] = [reset_code(&app, ADA).await, reset_code(&app, ADA).await];
    assert_ne!(first, second);
    let clients =
        [reset(&app, &first, "the first horse battery"), reset(&app, &first, "the second horse battery"), reset(&app, &second, NEW)];
    Stage::new(app, clients.map(redeeming))
        .knowing("ada", &ada.user_id)
        .rule(Property::always("the password is set at most once", |model, state: &State| {
            let ada = state.table.user(&model.scenario.known["ada"]).unwrap();
            let redeemed: u8 = state.past.redeemed.iter().sum();
            redeemed <= 1 && ada.credential_epoch == u64::from(redeemed) && ada.password.is_some() == (redeemed == 1)
        }))
        .rule(Property::always("exactly one attempt succeeds", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 1
        }))
        .rule(Property::sometimes("the other code wins", |model, state: &State| told(model, state, 2)))
        .rule(Property::sometimes("the shared code wins", |model, state: &State| told(model, state, 1)))
}

pub(super) async fn a_sign_in_code_starts_one_session_and_none_after_all_were_ended() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    let code = app.sign_in_code(ADA).await;
    let clients = [redeeming(otp_sign_in(&app, &code)), redeeming(otp_sign_in(&app, &code)), doing([end_all(&app, &ada)])];
    one_session(ended(Stage::new(app, clients)))
        .rule(Property::sometimes("a session begins and is ended", |model, state: &State| {
            is_over(model, state) && successes(model, state) == 2
        }))
        .rule(Property::sometimes("a code comes too late", |model, state: &State| is_over(model, state) && successes(model, state) == 1))
}

pub(super) async fn two_codes_and_a_password_create_one_account_for_an_address() -> Stage {
    let app = TestApp::start().await;
    let [first, second] = [app.sign_in_code(ADA).await, app.sign_in_code(ADA).await];
    assert_ne!(first, second);
    let clients = [redeeming(otp_sign_in(&app, &first)), redeeming(otp_sign_in(&app, &second)), doing([password_sign_up(&app, ADA)])];
    Stage::new(app, clients)
        .rule(Property::always("there is one account", |_, state: &State| state.table.users().count() <= 1))
        .rule(Property::always("once the address is proved, only its prover has a session", |_, state: &State| {
            let is_proved = state.table.users().any(|user| user.channels.iter().any(|channel| channel.is_verified));
            !is_proved || state.table.live_sessions().all(|session| state.past.began[&*format!("SESSION#{}", session.id)] != 2)
        }))
        .rule(Property::always("whoever proves the address owns the account exclusively", |_, state: &State| {
            state.table.users().all(|user| user.password.is_none() || user.channels.iter().all(|channel| !channel.is_verified))
        }))
        .rule(Property::sometimes("the password creates the account, and a code takes it over", |model, state: &State| {
            told(model, state, 2) && told(model, state, 0)
        }))
        .rule(Property::sometimes("both codes sign in", |model, state: &State| told(model, state, 0) && told(model, state, 1)))
}

pub(super) async fn of_two_attempts_with_one_totp_code_one_signs_in() -> Stage {
    const SECRET: &[u8] = b"a secret of an app";
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let set = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": STANDARD.encode(SECRET) })).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    let mut attempts = Vec::new();
    for _ in 0..2 {
        let answer = app.client().post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": PASSWORD })).await;
        attempts.push(answer.json()["details"]["attempt_code"].as_str().unwrap().to_owned());
    }
    let totp = authenticator_code(SECRET, app.now().as_second());
    let attempt =
        |code: &String| redeeming(post(&app.client(), "/api/v1/auth/mfa/sign-in", json!({ "code": code, "type": "totp", "totp": totp })));
    let clients = [attempt(&attempts[0]), attempt(&attempts[1]), doing([end_all(&app, &ada)])];
    one_session(ended(Stage::new(app, clients)))
}

/// Two sign-ins, each with a recovery code, while a third client ends all sessions.
async fn with_recovery_codes(pick: [usize; 2]) -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let set = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": STANDARD.encode(b"a secret of an app") })).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    let codes = app.signed_in(&ada).post("/api/v1/auth/mfa/recovery-codes", json!({})).await.json()["codes"].clone();
    let mut clients = Vec::new();
    for number in pick {
        let answer = app.client().post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": PASSWORD })).await;
        let body = json!({ "code": answer.json()["details"]["attempt_code"], "type": "recovery-code", "recovery_code": codes[number] });
        clients.push(redeeming(post(&app.client(), "/api/v1/auth/mfa/sign-in", body)));
    }
    let [first, second] = <[Client; 2]>::try_from(clients).ok().unwrap();
    let ends = doing([end_all(&app, &ada)]);
    ended(Stage::new(app, [first, second, ends]))
        .knowing("ada", &ada.user_id)
        .rule(Property::always("every session used up one code, and nothing else did", |model, state: &State| {
            let ada = state.table.user(&model.scenario.known["ada"]).unwrap();
            ada.recovery_codes().unwrap().left + state.past.began.len() == 10
        }))
        .rule(Property::sometimes("the first attempt signs in", |model, state: &State| told(model, state, 0)))
        .rule(Property::sometimes("the second attempt signs in", |model, state: &State| told(model, state, 1)))
}

pub(super) async fn of_two_attempts_with_one_recovery_code_one_signs_in() -> Stage {
    one_session(with_recovery_codes([0, 0]).await)
}

pub(super) async fn two_recovery_codes_at_once_both_sign_in() -> Stage {
    with_recovery_codes([0, 1]).await.rule(Property::always("unless the sessions are ended, both succeed", |model, state: &State| {
        !is_over(model, state) || (told(model, state, 0) && told(model, state, 1)) || state.past.happened > 0
    }))
}

pub(super) async fn an_invitation_is_accepted_once_or_revoked() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await;
    let team = team.json()["id"].as_str().unwrap().to_owned();
    let body = json!({ "team_id": team, "email": ADA, "callback_url": CALLBACK });
    let sent = app.server().post("/api/v1/team-invitations/send-code", body).await;
    let (id, code) = (sent.json()["id"].as_str().unwrap().to_owned(), app.last_mail(ADA).await.code());
    let own = app.signed_in(&ada);
    let clients = [
        redeeming(post(&own, "/api/v1/team-invitations/accept", json!({ "code": code }))),
        redeeming(post(&own, format!("/api/v1/team-invitations/{id}/accept?user_id=me"), json!({}))),
        doing([send(&app.server(), "DELETE", format!("/api/v1/team-invitations/{id}?team_id={team}"), None)]),
    ];
    Stage::new(app, clients)
        .knowing("invitation", &id)
        .knowing("member", &format!("USER#{}", ada.user_id))
        .rule(Property::always("exactly the accepting user is a member", |model, state: &State| {
            let members = state.table.count("T#", &model.scenario.known["member"]);
            members == state.past.redeemed.iter().map(|count| usize::from(*count)).sum::<usize>()
        }))
        .rule(Property::always("an invitation ends once", |model, state: &State| {
            let is_open =
                state.table.iter().any(|(key, _)| key.0.starts_with("I#") && key.0.ends_with(&*model.scenario.known["invitation"]));
            successes(model, state) <= usize::from(!is_open)
        }))
        .rule(Property::always("exactly one client ends the invitation successfully", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 1
        }))
        .rule(Property::sometimes("the invitation is revoked", |model, state: &State| told(model, state, 2)))
        .rule(Property::sometimes("the invitation is accepted by its code", |model, state: &State| told(model, state, 0)))
        .rule(Property::sometimes("the invitation is accepted by its id", |model, state: &State| told(model, state, 1)))
}

pub(super) async fn a_link_releases_an_address_once() -> Stage {
    let app = TestApp::start().await;
    let body = json!({ "email": ADA, "password": PASSWORD, "verification_callback_url": CALLBACK });
    let eve = app.client().post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!(eve.status(), 200, "{}", eve.text());
    let mail = app.last_mail(ADA).await;
    let link = mail.0.text.split_whitespace().find(|word| word.contains("/release-link?")).unwrap();
    let path = link.trim_start_matches(support::API_URL).to_owned();
    let release = || redeeming(send_until(&app.anonymous(), "POST", path.clone(), None, "Your address is free again"));
    let clients = [release(), release(), redeeming(verify(&app, &mail.code()))];
    Stage::new(app, clients)
        .knowing("eve", eve.json()["user_id"].as_str().unwrap())
        .rule(Property::always("a released address belongs to nobody", |model, state: &State| {
            let channels = &state.table.user(&model.scenario.known["eve"]).unwrap().channels;
            channels.len() + usize::from(state.past.redeemed[0] + state.past.redeemed[1]) == 1
        }))
        .rule(Property::always("exactly one attempt releases the address", |model, state: &State| {
            !is_over(model, state) || (told(model, state, 0) != told(model, state, 1))
        }))
        .rule(Property::sometimes("the address is verified, and still released", |model, state: &State| {
            told(model, state, 2) && told(model, state, 0)
        }))
}
