//! The events that each change causes, and the data that the events contain.

use serde_json::{Value, json};
use support::TestApp;
use support::receiver::{ReceivedRequest, Receiver};

use super::{create_user, endpoint_at};

/// The events that `change` causes.
async fn events(app: &TestApp, receiver: &Receiver, change: impl Future<Output = ()>) -> Vec<Value> {
    app.deliver_webhooks().await;
    let before = receiver.received().len();
    change.await;
    app.deliver_webhooks().await;
    receiver.received()[before..].iter().map(ReceivedRequest::json).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

const USERS: [&str; 6] =
    ["user.created", "user.updated", "user.deleted", "team_membership.deleted", "project_permission.created", "project_permission.deleted"];

#[tokio::test]
async fn a_user_has_events_from_creation_to_deletion() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &USERS).await;
    let ada = create_user(&app, "Ada").await;
    let path = format!("/api/v1/users/{}", ada["id"].as_str().unwrap());
    app.deliver_webhooks().await;
    let first = receiver.received();
    assert_eq!(receiver.types(), ["user.created"]);
    let event = first[0].json();
    assert_eq!(event["data"], ada);
    assert!(event["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    assert!(first[0].is_signed_with(created["secret"].as_str().unwrap()));
    for (ours, svix) in [("webhook-id", "svix-id"), ("webhook-timestamp", "svix-timestamp"), ("webhook-signature", "svix-signature")] {
        assert_eq!(first[0].header(ours), first[0].header(svix));
    }

    let renamed = events(&app, &receiver, async {
        assert_eq!(app.server().patch(&path, json!({ "display_name": "Ada L." })).await.status(), 200);
    });
    let renamed = renamed.await;
    assert_eq!(types(&renamed), ["user.updated"]);
    assert_eq!(renamed[0]["data"]["display_name"], "Ada L.");
    assert_eq!(renamed[0]["data"], app.server().get(&path).await.json());

    let same = events(&app, &receiver, async {
        assert_eq!(app.server().patch(&path, json!({ "display_name": "Ada L." })).await.status(), 200);
    });
    assert!(types(&same.await).is_empty());

    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Team", "creator_user_id": ada["id"] })).await.json();
    let deleted = events(&app, &receiver, async { assert_eq!(app.server().delete(&path).await.status(), 200) }).await;
    let of_user = deleted.iter().find(|event| event["type"] == "user.deleted").unwrap();
    assert_eq!(of_user["data"]["id"], ada["id"]);
    assert!(of_user["data"]["teams"].as_array().unwrap().contains(&json!({ "id": team["id"] })), "{of_user}");
    let membership = json!({ "team_id": team["id"], "user_id": ada["id"] });
    assert!(deleted.iter().any(|event| event["type"] == "team_membership.deleted" && event["data"] == membership), "{deleted:?}");
}

#[tokio::test]
async fn an_event_leaves_metadata_out_if_there_is_too_much() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let ada = create_user(&app, "Ada").await;
    let (path, large) = (format!("/api/v1/users/{}", ada["id"].as_str().unwrap()), json!("x".repeat(30_000)));
    let body = json!({
        "display_name": "Team", "creator_user_id": ada["id"],
        "client_metadata": large, "client_read_only_metadata": large, "server_metadata": large,
    });
    let team = app.server().post("/api/v1/teams", body).await.json();
    endpoint_at(&app, &receiver, &["user.updated"]).await;
    let body = json!({ "selected_team_id": team["id"], "client_metadata": large, "server_metadata": large });
    let changed = events(&app, &receiver, async { assert_eq!(app.server().patch(&path, body).await.status(), 200) }).await;
    let mut expected = app.server().get(&path).await.json();
    for field in ["client_metadata", "client_read_only_metadata", "server_metadata"] {
        assert_eq!(expected["selected_team"][field], large);
        expected["selected_team"][field] = Value::Null;
    }
    assert_eq!((changed.len(), &changed[0]["data"], &changed[0]["truncated"]), (1, &expected, &json!(true)));

    let body = json!({ "client_metadata": null, "server_metadata": null });
    app.server().patch(&format!("/api/v1/teams/{}", team["id"].as_str().unwrap()), body.clone()).await;
    let changed = events(&app, &receiver, async { assert_eq!(app.server().patch(&path, body).await.status(), 200) }).await;
    assert_eq!((&changed[0]["data"], changed[0].get("truncated")), (&app.server().get(&path).await.json(), None));
    assert_eq!(changed[0]["data"]["selected_team"]["client_read_only_metadata"], large);
}

#[tokio::test]
async fn teams_memberships_and_permissions_have_events() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let wanted = [
        "team.created",
        "team.updated",
        "team.deleted",
        "team_membership.created",
        "team_membership.deleted",
        "team_permission.created",
        "team_permission.deleted",
    ];
    let ada = create_user(&app, "Ada").await;
    endpoint_at(&app, &receiver, &wanted).await;
    let user = ada["id"].as_str().unwrap();
    let mut team = json!(null);
    let created =
        events(&app, &receiver, async { team = app.server().post("/api/v1/teams", json!({ "display_name": "Team" })).await.json() }).await;
    assert_eq!(types(&created), ["team.created"]);
    assert_eq!(created[0]["data"], team);
    let id = team["id"].as_str().unwrap();

    let joined = events(&app, &receiver, async {
        assert_eq!(app.server().post(&format!("/api/v1/team-memberships/{id}/{user}"), json!({})).await.status(), 201);
    });
    let joined = joined.await;
    assert_eq!(types(&joined)[0], "team_membership.created");
    assert_eq!(joined[0]["data"], json!({ "team_id": id, "user_id": user }));
    assert!(joined[1..].iter().all(|event| event["type"] == "team_permission.created"), "{joined:?}");

    let permission = format!("/api/v1/team-permissions/{id}/{user}/$update_team");
    let granted = events(&app, &receiver, async { assert_eq!(app.server().post(&permission, json!({})).await.status(), 201) }).await;
    let data = json!({ "id": "$update_team", "team_id": id, "user_id": user });
    assert_eq!((types(&granted), &granted[0]["data"]), (vec!["team_permission.created"], &data));
    let revoked = events(&app, &receiver, async { assert_eq!(app.server().delete(&permission).await.status(), 200) }).await;
    assert_eq!((types(&revoked), &revoked[0]["data"]), (vec!["team_permission.deleted"], &data));

    let path = format!("/api/v1/teams/{id}");
    let renamed = events(&app, &receiver, async {
        assert_eq!(app.server().patch(&path, json!({ "display_name": "Other" })).await.status(), 200);
    });
    assert_eq!(types(&renamed.await), ["team.updated"]);
    let deleted = events(&app, &receiver, async { assert_eq!(app.server().delete(&path).await.status(), 200) }).await;
    let of_team: Vec<&Value> = deleted.iter().filter(|event| event["type"] == "team.deleted").collect();
    assert_eq!(of_team.len(), 1, "{deleted:?}");
    assert_eq!(of_team[0]["data"], json!({ "id": id }));
}

#[tokio::test]
async fn sign_ins_emails_keys_and_the_audit_log_have_events() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    endpoint_at(&app, &receiver, &[]).await;
    let signed_up = events(&app, &receiver, async { drop(app.sign_up("ada@example.com").await) }).await;
    let found = types(&signed_up);
    for expected in ["user.created", "session.created", "audit_entry.created"] {
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
    let user = signed_up.iter().find(|event| event["type"] == "user.created").unwrap()["data"]["id"].clone();
    let mails = events(&app, &receiver, async {
        let body = json!({ "user_ids": [user], "subject": "Hello", "html": "<p>Hello</p>" });
        assert_eq!(app.server().post("/api/v1/emails/send-email", body).await.status(), 200);
        app.send_emails().await;
    });
    let mails = mails.await;
    assert_eq!(mails.iter().find(|event| event["type"] == "email.created").unwrap()["data"]["status"], "preparing");
    assert_eq!(mails.iter().rfind(|event| event["type"] == "email.updated").unwrap()["data"]["status"], "sent");
    let text = json!(signed_up).to_string();
    assert!(!text.contains("argon2") && !text.contains("password_hash"), "{text}");
    let expires = app.now().as_millisecond() + 1000;
    let body = json!({ "description": "x", "expires_at_millis": expires, "has_publishable_client_key": false, "has_secret_server_key": true, "has_super_secret_admin_key": false });
    let mut key = json!(null);
    let keyed = events(&app, &receiver, async { key = app.admin().post("/api/v1/internal/api-keys", body).await.json() }).await;
    assert!(types(&keyed).contains(&"api_key.created"), "{keyed:?}");
    let secret = key["secret_server_key"].as_str().unwrap();
    assert!(!json!(keyed).to_string().contains(secret), "an event reveals a key");
}

#[tokio::test]
async fn the_end_of_a_session_and_a_changed_key_have_events() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let ada = app.sign_up("ada@example.com").await;
    let session = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json()["items"][0].clone();
    let expires = app.now().as_millisecond() + 1000;
    let body = json!({ "description": "x", "expires_at_millis": expires, "has_publishable_client_key": true, "has_secret_server_key": false, "has_super_secret_admin_key": false });
    let key = app.admin().post("/api/v1/internal/api-keys", body).await.json();
    let path = format!("/api/v1/internal/api-keys/{}", key["id"].as_str().unwrap());
    endpoint_at(&app, &receiver, &["session.created", "session.deleted", "api_key.created", "api_key.updated"]).await;
    let ended = events(&app, &receiver, async {
        assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    });
    let ended = ended.await;
    let (data, created_at) = (&ended[0]["data"], &session["created_at"]);
    assert_eq!((types(&ended), &data["id"], &data["user_id"]), (vec!["session.deleted"], &session["id"], &json!(ada.user_id)));
    assert_eq!((&data["created_at_millis"], &data["is_impersonation"]), (created_at, &json!(false)));
    for change in [json!({ "description": "CI" }), json!({ "revoked": true })] {
        let mut set = Value::Null;
        let changed = events(&app, &receiver, async { set = app.admin().patch(&path, change).await.json() }).await;
        assert_eq!((types(&changed), &changed[0]["data"]), (vec!["api_key.updated"], &set));
    }
}

#[tokio::test]
async fn api_keys_of_users_and_teams_have_events() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    app.configure(json!({ "config": { "allow_user_api_keys": true, "allow_team_api_keys": true } })).await;
    let (ada, team) = (create_user(&app, "Ada").await, app.server().post("/api/v1/teams", json!({ "display_name": "Team" })).await.json());
    let all = ["user.updated", "team.updated"].into_iter().map(str::to_owned);
    let all =
        all.chain(["user", "team"].into_iter().flat_map(|kind| ["created", "updated", "deleted"].map(|it| format!("{kind}_api_key.{it}"))));
    endpoint_at(&app, &receiver, &all.collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (kind, owner, id) in [("user", "user_id", &ada["id"]), ("team", "team_id", &team["id"])] {
        let (path, body) = (format!("/api/v1/{kind}-api-keys"), json!({ owner: id, "description": "CI", "expires_at_millis": null }));
        let [is_created, is_updated, is_deleted] = ["created", "updated", "deleted"].map(|it| format!("{kind}_api_key.{it}"));
        let mut key = Value::Null;
        let created = events(&app, &receiver, async { key = app.server().post(&path, body.clone()).await.json() }).await;
        let of_key = format!("{path}/{}?{owner}={}", key["id"].as_str().unwrap(), id.as_str().unwrap());
        let listed = app.server().get(&of_key).await.json();
        assert_eq!((types(&created), &created[0]["data"]), (vec![&*is_created], &listed));

        let check = json!({ "api_key": key["value"] });
        let used = events(&app, &receiver, async { assert_eq!(app.server().post(&format!("{path}/check"), check).await.status(), 200) });
        assert_eq!(used.await, Vec::<Value>::new(), "the use of a key is no change");
        assert!(app.server().get(&of_key).await.json()["last_used_at_millis"].is_i64());

        let mut set = Value::Null;
        let revoked = events(&app, &receiver, async { set = app.server().patch(&of_key, json!({ "revoked": true })).await.json() }).await;
        assert_eq!((types(&revoked), &revoked[0]["data"]), (vec![&*is_updated], &set));
        assert!(!json!([created, revoked]).to_string().contains(key["value"].as_str().unwrap()), "an event reveals a key");

        // A key that expired or was revoked a month ago is removed when another key is created.
        app.advance(jiff::SignedDuration::from_hours(31 * 24));
        let dropped = events(&app, &receiver, async { assert_eq!(app.server().post(&path, body).await.status(), 200) }).await;
        assert_eq!(types(&dropped), [&*is_created, &*is_deleted]);
        assert_eq!(dropped[1]["data"], json!({ "id": key["id"], owner: id }));
    }
}

#[tokio::test]
async fn a_project_permission_of_a_user_has_events() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let ada = create_user(&app, "Ada").await;
    assert_eq!(app.admin().post("/api/v1/project-permission-definitions", json!({ "id": "audit" })).await.status(), 201);
    endpoint_at(&app, &receiver, &USERS).await;
    let path = format!("/api/v1/project-permissions/{}/audit", ada["id"].as_str().unwrap());
    let granted = events(&app, &receiver, async { assert_eq!(app.server().post(&path, json!({})).await.status(), 201) }).await;
    let data = json!({ "id": "audit", "user_id": ada["id"] });
    assert_eq!((types(&granted), &granted[0]["data"]), (vec!["project_permission.created"], &data));
    let revoked = events(&app, &receiver, async { assert_eq!(app.server().delete(&path).await.status(), 200) }).await;
    assert_eq!((types(&revoked), &revoked[0]["data"]), (vec!["project_permission.deleted"], &data));
}

#[tokio::test]
async fn events_of_a_project_reach_its_own_endpoints_alone() {
    let (app, own, other) = (TestApp::start().await, Receiver::start().await, Receiver::start().await);
    let keys = app.another_project().await;
    endpoint_at(&app, &own, &["user.created"]).await;
    let answer = app.admin_of(&keys).post(super::ENDPOINTS, json!({ "url": other.url })).await;
    assert_eq!(answer.status(), 201);
    app.deliver_webhooks().await;
    let before = other.received().len();
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    assert_eq!((own.types(), other.received().len()), (vec!["user.created".to_owned()], before));
}

#[tokio::test]
async fn changes_of_two_projects_with_all_their_endpoints_are_recorded_together() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let keys = app.another_project().await;
    for admin in [app.admin(), app.admin_of(&keys)] {
        for _ in 0..20 {
            let answer = admin.post(super::ENDPOINTS, json!({ "url": receiver.url, "event_types": ["user.created"] })).await;
            assert_eq!(answer.status(), 201, "{}", answer.text());
        }
    }
    app.deliver_webhooks().await;
    create_user(&app, "Ada").await;
    assert_eq!(app.server_of(&keys).post("/api/v1/users", json!({ "display_name": "Bob" })).await.status(), 201);
    app.deliver_webhooks().await;
    assert_eq!(receiver.types(), vec!["user.created"; 40]);
}
