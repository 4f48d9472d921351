//! `GET /api/v1/passkeys`.

use serde_json::json;
use support::TestApp;
use support::authenticator::{Ceremony, Page, SoftPasskey, VERIFIED};

use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/passkeys";

#[tokio::test]
async fn a_user_lists_own_passkeys_and_a_server_those_of_any_user() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "GET", &format!("{PATH}?user_id=me")).await;
    app.offer_passkeys().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let passkey = app.add_passkey(&ada, 1).await;
    app.advance(jiff::SignedDuration::from_secs(1));
    assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
    let list = app.signed_in(&ada).get(&format!("{PATH}?user_id=me")).await.json();
    let (item, now) = (&list["items"][0], app.now().as_millisecond());
    let wanted = json!({
        "id": item["id"], "user_id": ada.user_id, "name": "Passkey", "rp_id": "localhost",
        "created_at_millis": now - 1000, "last_used_at_millis": now, "transports": ["internal", "hybrid"],
        "backed_up": false, "aaguid": "00000000-0000-0000-0000-000000000000", "clone_suspected": false,
    });
    assert_eq!(item, &wanted);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);

    let of_ada = format!("{PATH}?user_id={}", ada.user_id);
    assert_eq!(app.server().get(&of_ada).await.json(), list);
    assert_error(&app.signed_in(&bob).get(&of_ada).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&bob).get(PATH).await, 403, "FORBIDDEN");
    assert_eq!(problems(&app.server().get(PATH).await), ["query.user_id is required"]);
    assert_eq!(app.signed_in(&bob).get(&format!("{PATH}?user_id=me")).await.json()["items"], json!([]));
}

#[tokio::test]
async fn the_backup_state_is_kept_and_updated_with_each_use() {
    const ELIGIBLE: u8 = 0b1000;
    const BACKED_UP: u8 = 0b1_0000;
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let Ceremony { options, code } = app.start_registration(&ada).await;
    let synced = VERIFIED | ELIGIBLE | BACKED_UP;
    let mut passkey = SoftPasskey { flags: synced, ..SoftPasskey::create(&options, Page::default(), 1) };
    assert_eq!(app.register(&ada, &code, &passkey.registration(&options)).await.status(), 200);
    let backed_up = async || app.server().get(&format!("{PATH}?user_id={}", ada.user_id)).await.json()["items"][0]["backed_up"].clone();
    assert_eq!(backed_up().await, true);
    for (flags, expected) in [(VERIFIED | ELIGIBLE, false), (synced, true)] {
        passkey.flags = flags;
        assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
        assert_eq!(backed_up().await, expected);
    }
    // Only a passkey that is eligible for backup can be backed up.
    passkey.flags = VERIFIED | BACKED_UP;
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(backed_up().await, true);
}

#[tokio::test]
async fn a_passkey_whose_backup_eligibility_changes_is_not_locked_out() {
    const ELIGIBLE: u8 = 0b1000;
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let Ceremony { options, code } = app.start_registration(&ada).await;
    let mut passkey = SoftPasskey { flags: VERIFIED, ..SoftPasskey::create(&options, Page::default(), 1) };
    let mut registration = passkey.registration(&options);
    registration["response"]["transports"] = json!(null);
    assert_eq!(app.register(&ada, &code, &registration).await.status(), 200);
    for flags in [VERIFIED | ELIGIBLE, VERIFIED, VERIFIED | ELIGIBLE] {
        passkey.flags = flags;
        assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
    }
    // Only someone who has the key can change the flag, because the signature covers it.
    let stranger = SoftPasskey { flags: VERIFIED, ..SoftPasskey::create(&options, Page::default(), 2) };
    assert_error(&app.sign_in_with(&stranger).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
}
