//! Misuse of "This wasn't me" by intruders, who also receive notices.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::notices::{channel_id, intruded, joined, removed, taken_over};
use super::{CHANNELS, NEW, addresses, change, password_sign_in, reset, reset_code, user};
use crate::auth::account_notices::{link, notices, press, verified, with_pages};
use crate::events::{TWIN, World};

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

/// The path of the link in the newest notice to an address.
async fn newest(app: &TestApp, address: &str) -> String {
    link(notices(app, address).await.last().unwrap_or_else(|| panic!("{address} received no notice")))
}

#[tokio::test]
async fn a_removed_intruder_cannot_return_with_the_notice() {
    let app = TestApp::start().await;
    let ada = intruded(&app).await;
    // The owner recovers the account with a reset, and removes the intruder's address.
    assert_eq!(reset(&app, &reset_code(&app, ADA).await).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    let own = SignedInUser::of(ADA, &password_sign_in(&app, ADA, NEW).await.json());
    removed(&app, &own, EVE).await;
    let links: Vec<String> = notices(&app, EVE).await.iter().map(link).collect();
    assert_eq!(links.len(), 2, "the reset and the removal each have a notice");
    for link in links {
        assert!(press(&app, &link).await.text().contains("nothing to undo"));
    }
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
    assert_eq!(app.signed_in(&own).get("/api/v1/users/me").await.status(), 200);
    assert_eq!(password_sign_in(&app, ADA, NEW).await.status(), 200);
}

#[tokio::test]
async fn a_notice_to_a_later_address_locks_the_account_but_undoes_nothing() {
    let app = TestApp::start().await;
    let ada = intruded(&app).await;
    // The intruder sets up an authenticator app. The owner removes the app, but the intruder's
    // address remains for now.
    change(&app, &ada.user_id, json!({ "totp_secret_base64": SECRET })).await;
    app.advance(SignedDuration::from_secs(1));
    change(&app, &ada.user_id, json!({ "totp_secret_base64": null })).await;
    let eves = newest(&app, EVE).await;
    assert!(app.anonymous().get(&eves).await.text().contains("Changes are kept"));
    assert!(!press(&app, &eves).await.text().contains("undone"));
    let account = user(&app, &ada.user_id).await;
    assert_eq!((&account["requires_totp_mfa"], &account["has_password"]), (&json!(false), &json!(false)));
    // The intruder's link has not invalidated the owner's links.
    assert!(press(&app, &link(&notices(&app, ADA).await[0])).await.text().contains("The changes are undone"));
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
}

#[tokio::test]
async fn a_removed_intruder_cannot_undo_anything() {
    let app = TestApp::start().await;
    let ada = taken_over(&app).await;
    // The intruder's address is now the only address, so it receives the next notice.
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    let eves = newest(&app, EVE).await;
    assert!(press(&app, &link(&notices(&app, ADA).await[0])).await.text().contains("The changes are undone"));
    assert!(press(&app, &eves).await.text().contains("nothing to undo"));
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
}

#[tokio::test]
async fn an_intruder_s_undo_does_not_invalidate_the_owner_s_links() {
    let app = TestApp::start().await;
    let ada = taken_over(&app).await;
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    assert!(press(&app, &newest(&app, EVE).await).await.text().contains("The changes are undone"));
    for told in notices(&app, ADA).await.iter().rev() {
        assert!(press(&app, &link(told)).await.text().contains("The changes are undone"));
    }
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
}

/// Someone creates an account with another person's address. The other person verifies the address
/// and becomes the account's owner.
#[tokio::test]
async fn the_creator_of_an_account_cannot_take_it_back_from_its_owner() {
    for way in ["replaced", "added"] {
        let app = TestApp::start().await;
        with_pages(&app).await;
        let eve = if way == "replaced" {
            // An address that was never verified may be replaced without a notice, because it may
            // contain a typo.
            let eve = app.sign_up(EVE).await;
            let path = format!("{CHANNELS}/me/{}", channel_id(&app, &eve.user_id, EVE).await);
            assert_eq!(app.signed_in(&eve).patch(&path, json!({ "value": ADA })).await.status(), 200);
            eve
        } else {
            let eve = app.sign_up(ADA).await;
            joined(&app, &eve, EVE).await;
            assert_eq!(app.signed_in(&eve).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
            eve
        };
        let eves: Vec<String> = notices(&app, EVE).await.iter().map(link).collect();
        assert_eq!(eves.len(), 1, "{way}");
        assert_eq!(reset(&app, &reset_code(&app, ADA).await).await.status(), 200);
        assert_eq!(notices(&app, EVE).await.len(), 1, "{way}: the previous holder gets no notice about the new owner");
        assert!(press(&app, &eves[0]).await.text().contains("nothing to undo"), "{way}");
        assert_eq!(addresses(&app, &eve.user_id).await, [(ADA.to_owned(), true)], "{way}");
        assert_eq!(password_sign_in(&app, ADA, NEW).await.status(), 200, "{way}");
    }
}

#[tokio::test]
async fn a_link_works_for_seven_days_and_requires_its_own_kind_of_code() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    change(&app, &ada.user_id, json!({ "totp_secret_base64": SECRET })).await;
    let link = newest(&app, ADA).await;
    let code = link.split_once("code=").unwrap().1;
    for other in ["/api/v1/contact-channels/release-link", "/api/v1/emails/unsubscribe-link"] {
        let answer = app.anonymous().request("POST", &format!("{other}?code={code}")).send().await;
        assert_eq!((answer.status(), answer.header("x-stack-known-error")), (404, Some("VERIFICATION_CODE_NOT_FOUND")));
    }
    let items = app.table().into_iter().filter(|((pk, _), _)| pk.starts_with("V#")).map(|(key, item)| format!("{key:?} {item}"));
    assert!(items.into_iter().all(|item| !item.contains(code)), "the table has a digest of the code");
    app.advance(SignedDuration::from_hours(7 * 24));
    for method in ["GET", "POST"] {
        let late = app.anonymous().request(method, &link).send().await;
        assert_eq!((late.status(), late.header("x-stack-known-error")), (400, Some("VERIFICATION_CODE_EXPIRED")));
    }
    assert_eq!(user(&app, &ada.user_id).await["requires_totp_mfa"], true);
}

#[tokio::test]
async fn the_link_of_a_deleted_user_does_nothing() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    change(&app, &ada.user_id, json!({ "totp_secret_base64": SECRET })).await;
    let link = newest(&app, ADA).await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    let next = app.sign_up(ADA).await;
    let table = app.table();
    assert!(press(&app, &link).await.text().contains("nothing to undo"));
    let changed: Vec<_> = app.table().into_iter().filter(|(key, item)| table.get(key) != Some(item)).map(|(key, _)| key.0).collect();
    assert!(changed.iter().all(|pk| pk.starts_with("L#")), "{changed:?}");
    assert_eq!(app.sign_in(ADA).await.user_id, next.user_id);
}

#[tokio::test]
async fn a_link_only_affects_its_own_project() {
    let (world, twin) = World::with_twin().await;
    let before = world.app.table();
    assert_eq!(twin.send("auth/not-me").await.status(), 200);
    let changed = world.app.table().into_iter().filter(|(key, item)| before.get(key) != Some(item)).map(|((pk, _), _)| pk);
    let changed: Vec<String> = changed.filter(|pk| pk.starts_with("U#")).collect();
    assert!(changed.len() == 1 && changed[0].contains(TWIN), "{changed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_uses_of_two_links_each_works_at_most_once() {
    let app = Arc::new(TestApp::start().await);
    let ada = intruded(&app).await;
    change(&app, &ada.user_id, json!({ "totp_secret_base64": SECRET })).await;
    let links: Vec<String> = notices(&app, ADA).await.iter().map(link).collect();
    assert_eq!(links.len(), 2);
    let uses = (0..20).map(|number| {
        let (app, link) = (Arc::clone(&app), links[number % 2].clone());
        tokio::spawn(async move { (number % 2, app.anonymous().request("POST", &link).send().await) })
    });
    let mut done = [0, 0];
    for answer in uses.collect::<Vec<_>>() {
        let (link, answer) = answer.await.unwrap();
        assert!([200, 503].contains(&answer.status()), "{}", answer.text());
        done[link] += usize::from(answer.text().contains("The changes are undone"));
    }
    assert!(done[0] == 1 && done[1] <= 1, "{done:?}");
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
    assert_eq!(user(&app, &ada.user_id).await["requires_totp_mfa"], false);
}

#[tokio::test]
async fn a_concurrent_change_is_undone_or_happens_afterwards() {
    let app = TestApp::start().await;
    let ada = intruded(&app).await;
    let link = newest(&app, ADA).await;
    let own = app.signed_in(&ada);
    let set = own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET }));
    let (set, undone) = tokio::join!(set, press(&app, &link));
    assert!(undone.text().contains("The changes are undone"), "{}", undone.text());
    assert!([200, 401].contains(&set.status()), "{}", set.text());
    assert_eq!(user(&app, &ada.user_id).await["requires_totp_mfa"], false, "an ended session makes no further changes");
}

#[tokio::test]
async fn an_unproved_address_gets_five_notices_in_an_hour_whatever_changes() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let caller = app.signed_in(&ada);
    for _ in 0..4 {
        for totp in [json!(SECRET), json!(null)] {
            let changed = caller.patch("/api/v1/users/me", json!({ "totp_secret_base64": totp })).await;
            assert_eq!(changed.status(), 200, "{}", changed.text());
        }
    }
    assert_eq!(notices(&app, ADA).await.len(), 4);
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(notices(&app, ADA).await.len(), 5);
}
