//! Emails to strangers. Each stranger gets only a few emails, no matter what causes them. Attackers
//! are subject to the standard limits, but use so many addresses that limits per address do not
//! stop them.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use super::{NEW, PASSWORD, add};

const UPDATE: &str = "/api/v1/auth/password/update";
const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SIGN_IN: &str = "/api/v1/auth/password/sign-in";

fn at(caller: Caller, address: &str) -> Caller {
    caller.with("cloudfront-viewer-address", &format!("{address}:4711"))
}

/// The standard limits without the limits per address, so that only the limits per recipient apply.
fn without_addresses() -> Limits {
    let by_place = [Rule::SignUp, Rule::SignUpNetwork, Rule::SecureAccountAddress, Rule::SecureAccountNetwork, Rule::SendCode];
    by_place.into_iter().fold(Limits::standard(), |limits, rule| limits.with(rule, None))
}

/// Signs up from an IP address, and changes the password four times from the same address. Each
/// change notifies the account's address.
async fn account_with_changes(app: &TestApp, email: &str, from: &str) {
    let answer = at(app.client(), from).post(SIGN_UP, json!({ "email": email, "password": PASSWORD })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let (mut user, mut passwords) = (SignedInUser::of(email, &answer.json()), [PASSWORD, NEW]);
    for _ in 0..4 {
        let change = json!({ "old_password": passwords[0], "new_password": passwords[1] });
        let changed = at(app.signed_in(&user), from).with("x-stack-refresh-token", &user.refresh_token).post(UPDATE, change).await;
        assert_eq!(changed.status(), 200, "{}", changed.text());
        passwords.reverse();
        let signed_in = at(app.client(), from).post(SIGN_IN, json!({ "email": email, "password": passwords[0] })).await;
        user = SignedInUser::of(email, &signed_in.json());
    }
}

/// The number of emails that reach a mailbox under any of these addresses, now and within an hour.
async fn reached(app: &TestApp, addresses: &[String]) -> usize {
    app.send_emails().await;
    app.advance(SignedDuration::from_hours(1));
    app.send_emails().await;
    addresses.iter().map(|address| app.sent_to(address).len()).sum()
}

#[tokio::test]
async fn twenty_accounts_with_tags_of_one_mailbox_send_it_six_emails() {
    let app = TestApp::start_with(without_addresses().with(Rule::SignIn, None).with(Rule::SignInNetwork, None)).await;
    let addresses: Vec<String> = (0..20).map(|tag| format!("victim+{tag}@gmail.com")).collect();
    for (number, address) in addresses.iter().enumerate() {
        // Each account is created from a separate network.
        account_with_changes(&app, address, &format!("203.0.{number}.7")).await;
    }
    let list = app.server().get("/api/v1/emails/outbox?limit=100").await.json();
    let queued = list["items"].as_array().unwrap().len();
    assert!(queued >= 20, "the attack caused {queued} emails");
    assert_eq!(reached(&app, &addresses).await, 6, "five, and one that says it is the last");
    let is_last = |mail: &support::Mail| mail.0.text.contains("This is the last email about them.");
    assert_eq!(addresses.iter().flat_map(|address| app.sent_to(address)).filter(is_last).count(), 1);
    let list = app.server().get("/api/v1/emails/outbox?limit=100").await.json();
    let skipped: Vec<&Value> = list["items"].as_array().unwrap().iter().filter(|entry| entry["status"] == "skipped").collect();
    assert_eq!(skipped.len(), queued - 6);
    assert!(skipped.iter().all(|entry| entry["skipped_reason"] == "NOTICES_FOLDED"), "{skipped:?}");
}

#[tokio::test]
async fn accounts_at_one_domain_send_it_no_more_than_its_limit() {
    let limits = without_addresses().with(Rule::SendCodeDomain, Some(Rate::new(3, 3600)));
    let app = TestApp::start_with(limits.with(Rule::SignIn, None).with(Rule::SignInNetwork, None)).await;
    let addresses: Vec<String> = (0..8).map(|number| format!("victim{number}@mail{number}.victim.example")).collect();
    for (number, address) in addresses.iter().enumerate() {
        account_with_changes(&app, address, &format!("203.0.{number}.7")).await;
    }
    assert_eq!(reached(&app, &addresses).await, 3);
    // A code for a stranger at the domain is also refused, but an existing account can still be
    // recovered.
    let code = json!({ "email": "another@victim.example", "callback_url": "http://localhost:3000/x" });
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    app.advance(SignedDuration::from_hours(2));
    for _ in 0..3 {
        assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", code.clone()).await.status(), 200);
    }
    let refused = app.client().post("/api/v1/auth/otp/send-sign-in-code", code.clone()).await;
    assert_eq!((refused.status(), refused.json()["details"]["limit"].as_str()), (429, Some("send-code")));
    let reset = json!({ "email": addresses[0], "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
}

#[tokio::test]
async fn one_network_causes_no_more_notices_to_strangers_than_its_limit() {
    let limits = without_addresses().with(Rule::SendCodeNetwork, Some(Rate::new(4, 3600)));
    let app = TestApp::start_with(limits.with(Rule::SignIn, None).with(Rule::SignInNetwork, None)).await;
    let addresses: Vec<String> = (0..8).map(|number| format!("victim{number}@gmail.com")).collect();
    for (number, address) in addresses.iter().enumerate() {
        account_with_changes(&app, address, &format!("203.0.113.{number}")).await;
    }
    assert_eq!(reached(&app, &addresses).await, 4);
}

#[tokio::test]
async fn sign_ups_and_codes_from_a_network_share_a_limit() {
    let app = TestApp::start_with(without_addresses().with(Rule::SendCodeNetwork, Some(Rate::new(4, 3600)))).await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let callback = "http://localhost:3000/x";
    let sign_up = async |number: usize, from: &str| {
        let body =
            json!({ "email": format!("a{number}@mail{number}.example"), "password": PASSWORD, "verification_callback_url": callback });
        at(app.client(), from).post(SIGN_UP, body).await
    };
    let code = async |number: usize, from: &str| {
        let body = json!({ "email": format!("b{number}@mail{number}.example"), "callback_url": callback });
        at(app.client(), from).post("/api/v1/auth/otp/send-sign-in-code", body).await
    };
    for number in 0..2 {
        let from = format!("203.0.113.{number}");
        assert_eq!((sign_up(number, &from).await.status(), code(number, &from).await.status()), (200, 200));
    }
    for refused in [sign_up(2, "203.0.113.2").await, code(2, "203.0.113.2").await] {
        assert_eq!((refused.status(), refused.json()["details"]["limit"].as_str()), (429, Some("send-code")), "{}", refused.text());
    }
    let refused = app.server().get("/api/v1/users?query=a2").await.json();
    assert_eq!(refused["items"], json!([]), "the refused sign-up created no user");
    let without_email = json!({ "email": "c@example.com", "password": PASSWORD });
    assert_eq!(at(app.client(), "203.0.113.2").post(SIGN_UP, without_email).await.status(), 200);
    assert_eq!(sign_up(3, "198.51.100.1").await.status(), 200);
}

/// A flood of notices to unproved addresses of a mailbox must not hide a change from the owner of
/// the mailbox's proved address.
#[tokio::test]
async fn a_flood_does_not_hide_a_change_from_an_owner() {
    let app = TestApp::start_with(without_addresses().with(Rule::SignIn, None).with(Rule::SignInNetwork, None)).await;
    let owner = app.sign_up("owner@example.org").await;
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", owner.user_id), verified).await.status(), 200);
    for tag in 0..10 {
        account_with_changes(&app, &format!("owner+{tag}@example.org"), &format!("203.0.{tag}.7")).await;
    }
    app.send_emails().await;
    assert_eq!(app.sent_to("owner@example.org").len(), 0);
    assert_eq!(add(&app, &owner, "other@example.org").await.status(), 201);
    let change = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(app.signed_in(&owner).post(UPDATE, change).await.status(), 200);
    app.send_emails().await;
    assert!(!app.sent_to("owner@example.org").is_empty());
}

#[tokio::test]
async fn a_sign_in_from_a_new_place_is_reported_to_verified_addresses_only() {
    let app = TestApp::start_unobserved().await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let sign_in =
        async |from: &str| at(app.client(), from).post(SIGN_IN, json!({ "email": "victim@example.org", "password": PASSWORD })).await;
    let user = app.sign_up("victim@example.org").await;
    for number in 0..40 {
        assert_eq!(sign_in(&format!("[2001:db8:1:{number:x}::1]")).await.status(), 200);
    }
    assert_eq!(app.mails("victim@example.org").await.len(), 0);
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", user.user_id), verified).await.status(), 200);
    assert_eq!(sign_in("[2001:db8:2::1]").await.status(), 200);
    assert_eq!(app.mails("victim@example.org").await.len(), 1);
}

/// The published SDK redeems verification codes without a session. Most users verify their address
/// in this way.
async fn verified_without_a_session(app: &TestApp, email: &str) -> SignedInUser {
    let user = app.sign_up(email).await;
    let list = app.signed_in(&user).get("/api/v1/contact-channels?user_id=me").await.json();
    let code = super::verification_code(app, &user, list["items"][0]["id"].as_str().unwrap(), email).await;
    assert_eq!(super::verify(app, &code).await.status(), 200);
    app.send_emails_until_next_second().await;
    user
}

#[tokio::test]
async fn a_flood_does_not_hide_a_change_from_an_owner_who_verified_without_a_session() {
    let app = TestApp::start_with(without_addresses().with(Rule::SignIn, None).with(Rule::SignInNetwork, None)).await;
    let owner = verified_without_a_session(&app, "owner@example.org").await;
    let before = app.sent_to("owner@example.org").len();
    for tag in 0..10 {
        account_with_changes(&app, &format!("owner+{tag}@example.org"), &format!("203.0.{tag}.7")).await;
    }
    app.send_emails().await;
    let change = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(app.signed_in(&owner).post(UPDATE, change).await.status(), 200);
    app.send_emails().await;
    assert_eq!(app.sent_to("owner@example.org").len(), before + 1);
}

#[tokio::test]
async fn whoever_verified_without_a_session_hears_of_new_places_within_the_limit() {
    let limits = without_addresses().with(Rule::SignIn, None).with(Rule::SignInNetwork, None);
    let app = TestApp::start_with(limits.with(Rule::Notice, Some(Rate::new(3, 3600)))).await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let owner = verified_without_a_session(&app, "owner@example.org").await;
    let before = app.sent_to("owner@example.org").len();
    for number in 0..10 {
        let sign_in = json!({ "email": owner.email, "password": PASSWORD });
        assert_eq!(at(app.client(), &format!("203.0.{number}.7")).post(SIGN_IN, sign_in).await.status(), 200);
    }
    assert_eq!(reached(&app, std::slice::from_ref(&owner.email)).await, before + 4, "three, and one that says it is the last");
}

/// An entry written by an earlier version does not contain a count. The notice is still sent.
#[tokio::test]
async fn a_notice_of_an_earlier_version_is_sent() {
    let app = TestApp::start_with(Limits::off().with(Rule::SendCodeRecipient, Some(Rate::new(1, 600)))).await;
    for number in 0..3 {
        account_with_changes(&app, &format!("victim+{number}@gmail.com"), "203.0.113.7").await;
    }
    let (store, mut aged) = (&app.app.store, 0);
    for ((pk, sk), _) in app.table().into_iter().filter(|(_, item)| item["d"]["M"]["notice"].is_object()) {
        let update = UpdateItemInput::builder().table_name(store.table()).key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
        store.client().call(update.update_expression("REMOVE d.notice")).await.unwrap();
        aged += 1;
    }
    let addresses: Vec<String> = (0..3).map(|number| format!("victim+{number}@gmail.com")).collect();
    assert!(aged > 6, "{aged}");
    assert_eq!(reached(&app, &addresses).await, aged);
}
