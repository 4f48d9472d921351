//! The owner of an address proves it while the creator of the account goes on changing it.

use serde_json::json;
use support::{Caller, SignedIn, TestApp};

use super::{CHANNELS, NEW, PASSWORD, addresses, password_sign_in, reset_code, user};

const ROUNDS: usize = 200;

/// What the creator does at the same time.
async fn interfere(own: Caller, number: usize) -> u16 {
    let answer = match number % 5 {
        0 => own.post("/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": "the attacker's battery" })).await,
        1 => own.patch("/api/v1/users/me", json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" })).await,
        2 => {
            let body = json!({ "user_id": "me", "value": format!("eve{number}@example.com"), "type": "email", "used_for_auth": true });
            own.post(CHANNELS, body).await
        }
        3 => own.patch("/api/v1/users/me", json!({ "primary_email": format!("eve{number}@example.com") })).await,
        _ => own.without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await,
    };
    answer.status()
}

/// One round: the address is `ada<number>@example.com`.
async fn round(app: &TestApp, number: usize) {
    let email = format!("ada{number}@example.com");
    let eve: SignedIn = app.sign_up(&email).await;
    let by_reset = number.is_multiple_of(2);
    let (path, body) = if by_reset {
        ("/api/v1/auth/password/reset", json!({ "code": reset_code(app, &email).await, "password": NEW }))
    } else {
        ("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code(&email).await }))
    };
    let (stranger, own) = (app.client(), app.signed_in(&eve));
    let proof = tokio::spawn(async move { stranger.post(path, body).await });
    let interference = tokio::spawn(interfere(own, number / 2));
    let (proof, interference) = (proof.await.unwrap(), interference.await.unwrap());
    assert!([200, 201, 401, 404].contains(&interference), "{number}: {interference}");
    if proof.status() != 200 {
        // The creator was faster with a change that ends codes: then the account is as it was, and the next proof succeeds.
        assert_eq!((proof.status(), proof.code().as_str()), (404, "VERIFICATION_CODE_NOT_FOUND"), "{number}");
        let code = reset_code(app, &email).await;
        assert_eq!(app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await.status(), 200);
    }
    assert_eq!(addresses(app, &eve.user_id).await, [(email.clone(), true)], "{number}");
    let account = user(app, &eve.user_id).await;
    assert_eq!(account["requires_totp_mfa"], false, "{number}");
    for password in [PASSWORD, "the attacker's battery"] {
        assert_eq!(password_sign_in(app, &email, password).await.status(), 400, "{number}");
    }
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.status(), 401, "{number}");
    let refresh = app.signed_in(&eve).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refresh.status(), 401, "{number}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_proof_and_its_creator_at_once_the_proof_has_the_account() {
    let app = TestApp::start().await;
    for number in 0..ROUNDS {
        round(&app, number).await;
    }
}
