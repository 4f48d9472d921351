//! Claims of addresses, and first proofs of an address.

use serde_json::json;
use stateright::Property;
use support::TestApp;

use super::{
    ADA, CHANNELS, EVE, NEW, PASSWORD, Stage, channel, doing, otp_sign_in, password_sign_up, post, redeeming, refresh, reset, reset_code,
    send, verification_code, verify, wish,
};
use crate::explored::State;
use crate::rules::{answers, is_over, successes};

const SHARED: &str = "shared@example.com";

pub(super) async fn of_three_sign_ups_with_an_address_one_succeeds() -> Stage {
    let app = TestApp::start().await;
    let by_server = json!({ "primary_email": ADA, "primary_email_auth_enabled": true });
    let clients = [
        doing([password_sign_up(&app, ADA)]),
        doing([password_sign_up(&app, ADA)]),
        doing([post(&app.server(), "/api/v1/users", by_server)]),
    ];
    Stage::new(app, clients)
        .rule(Property::always("there is one account", |_, state: &State| state.table.users().count() <= 1))
        .rule(Property::always("whoever gets an account's tokens owns it", |model, state: &State| {
            successes(model, state) <= state.table.users().count()
        }))
        .rule(Property::always("exactly one attempt succeeds", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 1
        }))
        .rule(Property::sometimes("the server wins", |model, state: &State| answers(model, state).nth(2).flatten() == Some(201)))
}

pub(super) async fn a_reset_that_proves_an_address_takes_the_account_exclusively() -> Stage {
    let app = TestApp::start().await;
    let eve = app.sign_up(ADA).await;
    let code = reset_code(&app, ADA).await;
    let change = json!({ "old_password": PASSWORD, "new_password": "the attacker's battery" });
    let clients = [
        redeeming(reset(&app, &code, NEW)),
        doing([post(&app.client(), "/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": PASSWORD }))]),
        doing([post(&app.signed_in(&eve), "/api/v1/auth/password/update", change)]),
    ];
    Stage::new(app, clients)
        .remembering(|_, table| table.users().any(|user| user.channels.iter().any(|channel| channel.is_verified)))
        .rule(Property::always("once the address is proved, no earlier credential works", |_, state: &State| {
            state.past.happened == 0 || state.table.live_sessions().count() == 0
        }))
        .rule(Property::always("requests after the proof are rejected", |model, state: &State| {
            let others = answers(model, state).zip(&state.past.knew).skip(1);
            others.into_iter().all(|(answer, knew)| *knew != Some(1) || answer.is_none_or(|status| status >= 400))
        }))
        .rule(Property::always("either the proof or the creator's change counts", |model, state: &State| {
            let mut answers = answers(model, state);
            let (proof, change) = (answers.next().flatten(), answers.nth(1).flatten());
            !(proof == Some(200) && change == Some(200))
        }))
        .rule(Property::always("the proof or the change succeeds", |model, state: &State| {
            let told: Vec<_> = answers(model, state).flatten().collect();
            told.len() < 3 || told[0] == 200 || told[2] == 200
        }))
        .rule(Property::sometimes("the proof comes first", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 400, 401])
        }))
        .rule(Property::sometimes("the creator signs in, and the proof ends that session", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().take(2).eq([200, 200])
        }))
}

pub(super) async fn of_two_proofs_of_an_address_one_is_the_first() -> Stage {
    let app = TestApp::start().await;
    let eve = app.sign_up(ADA).await;
    let (sign_in, by_reset) = (app.sign_in_code(ADA).await, reset_code(&app, ADA).await);
    let added = json!({ "user_id": "me", "value": EVE, "type": "email", "used_for_auth": true });
    let clients = [
        redeeming(otp_sign_in(&app, &sign_in)),
        redeeming(reset(&app, &by_reset, NEW)),
        doing([post(&app.signed_in(&eve), CHANNELS, added)]),
    ];
    Stage::new(app, clients)
        .knowing("eve", &eve.user_id)
        .remembering(|_, table| table.users().any(|user| user.channels.iter().any(|channel| channel.is_verified)))
        .rule(Property::always("once the address is proved, it is the only credential", |model, state: &State| {
            let account = state.table.user(&model.scenario.known["eve"]).unwrap();
            state.past.happened == 0 || account.channels.len() == 1 && account.channels[0].value.to_string() == ADA
        }))
        .rule(Property::always("once the address is proved, only the proof has a session", |_, state: &State| {
            let began_now = |id| state.past.began.get(&*format!("SESSION#{id}")) == Some(&0);
            state.past.happened == 0 || state.table.live_sessions().all(|session| began_now(session.id))
        }))
        .rule(Property::always("one proof is the first, and the other must be repeated", |model, state: &State| {
            !is_over(model, state) || answers(model, state).take(2).filter(|answer| *answer == Some(200)).count() == 1
        }))
        .rule(Property::sometimes("the reset is the first", |model, state: &State| answers(model, state).nth(1).flatten() == Some(200)))
        .rule(Property::sometimes("an address that was added does not survive the proof", |model, state: &State| {
            answers(model, state).flatten().eq([200, 404, 201])
        }))
}

pub(super) async fn of_three_users_who_verify_an_address_one_gets_it() -> Stage {
    let app = TestApp::start().await;
    // The holder has signed up with the address, but now has a different primary address. The claim
    // therefore passes to the user who verifies the address.
    let holder = app.sign_up(SHARED).await;
    let other = wish(&app, &holder, "holder@example.com").await;
    let code = verification_code(&app, &holder, &other, "holder@example.com").await;
    assert_eq!(app.client().post(&format!("{CHANNELS}/verify"), json!({ "code": code })).await.status(), 200);
    let primary = app.signed_in(&holder).patch(&format!("{CHANNELS}/me/{other}"), json!({ "is_primary": true })).await;
    assert_eq!(primary.status(), 200, "{}", primary.text());
    let own = channel(&app, &holder, SHARED).await;
    let mut codes = vec![verification_code(&app, &holder, &own, SHARED).await];
    for email in [ADA, EVE] {
        let user = app.sign_up(email).await;
        let channel = wish(&app, &user, SHARED).await;
        codes.push(verification_code(&app, &user, &channel, SHARED).await);
    }
    let clients = [0, 1, 2].map(|number| redeeming(verify(&app, &codes[number])));
    Stage::new(app, clients)
        .rule(Property::always("at most one user has verified the address", |_, state: &State| {
            let channels = state.table.users().flat_map(|user| &user.channels);
            channels.filter(|channel| channel.value.to_string() == SHARED && channel.is_verified).count() <= 1
        }))
        .rule(Property::always("exactly one attempt succeeds", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 1
        }))
        .rule(Property::sometimes("the holder keeps the address", |model, state: &State| {
            answers(model, state).next().flatten() == Some(200)
        }))
        .rule(Property::sometimes("another user takes the address", |model, state: &State| {
            answers(model, state).nth(1).flatten() == Some(200)
        }))
}

pub(super) async fn a_deleted_account_frees_its_address_and_leaves_nothing_else() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let clients = [
        doing([refresh(&app, &ada), refresh(&app, &ada)]),
        doing([send(&app.server(), "DELETE", format!("/api/v1/users/{}", ada.user_id), None)]),
        doing([password_sign_up(&app, ADA), password_sign_up(&app, ADA)]),
    ];
    Stage::new(app, clients)
        .knowing("ada", &ada.user_id)
        .remembering(|scenario, table| table.user(&scenario.known["ada"]).is_none())
        .rule(Property::always("a deleted user stays deleted", |model, state: &State| {
            state.past.happened == 0 || state.table.user(&model.scenario.known["ada"]).is_none()
        }))
        .rule(Property::always("the sessions of a deleted user are invalid", |model, state: &State| {
            let refreshed = answers(model, state).next().flatten();
            state.past.knew[0] != Some(1) || refreshed.is_none_or(|status| status == 401)
        }))
        .rule(Property::always("the deletion succeeds", |model, state: &State| {
            answers(model, state).nth(1).flatten().is_none_or(|status| status == 200 && state.past.happened == 1)
        }))
        .rule(Property::sometimes("somebody else has the address", |model, state: &State| {
            is_over(model, state) && state.table.users().any(|user| user.id.to_string() != model.scenario.known["ada"])
        }))
}

pub(super) async fn a_deletion_removes_what_a_concurrent_change_added() -> Stage {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    let change = json!({ "primary_email": EVE, "primary_email_auth_enabled": true });
    let clients = [
        doing([send(&app.server(), "DELETE", path.clone(), None)]),
        doing([send(&app.server(), "PATCH", path, Some(change))]),
        doing([password_sign_up(&app, EVE)]),
    ];
    Stage::new(app, clients)
        .knowing("ada", &ada.user_id)
        .rule(Property::always("the deletion succeeds", |model, state: &State| {
            let is_gone = state.table.user(&model.scenario.known["ada"]).is_none();
            answers(model, state).next().flatten().is_none_or(|status| status == 200 && is_gone)
        }))
        .rule(Property::sometimes("the change comes first, and the address is free again", |model, state: &State| {
            is_over(model, state) && answers(model, state).flatten().eq([200, 200, 200])
        }))
}
