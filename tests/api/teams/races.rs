//! Concurrent changes to teams have a consistent outcome.

use futures_util::future::join_all;
use serde_json::{Value, json};
use support::TestApp;

use super::{TEAMS, join, members_of, membership, team, teams_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_additions_of_a_user_one_succeeds() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    let server = app.server();
    let path = membership(&id, &ada.user_id);
    let answers = join_all((0..20).map(|_| server.post(&path, json!({})))).await;
    let created = answers.iter().filter(|answer| answer.status() == 201).count();
    let refused = answers.iter().filter(|answer| answer.status() == 409).count();
    assert_eq!((created, refused), (1, 19));
    assert_eq!(members_of(&app, &id).await, [ada.user_id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn joining_a_team_during_its_deletion_leaves_no_membership() {
    let app = TestApp::start().await;
    for round in 0..20 {
        let id = team(&app, "Engines", None).await;
        let user = app.sign_up(&format!("u{round}@example.com")).await;
        let other = app.sign_up(&format!("other{round}@example.com")).await;
        join(&app, &id, &other.user_id).await;
        let server = app.server();
        let (path, joining) = (format!("{TEAMS}/{id}"), membership(&id, &user.user_id));
        let (deleted, joined) = tokio::join!(server.delete(&path), server.post(&joining, json!({})));
        assert_eq!(deleted.status(), 200, "{}", deleted.text());
        assert!(matches!(joined.status(), 201 | 404), "{}", joined.text());
        let left = app.table().into_keys().filter(|(pk, sk)| format!("{pk}{sk}").contains(&id)).count();
        assert_eq!(left, 0, "round {round}");
        assert!(teams_of(&app, &user.user_id).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deleting_a_user_who_is_joining_leaves_no_membership() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    for round in 0..20 {
        let user = app.sign_up(&format!("u{round}@example.com")).await;
        let server = app.server();
        let (path, joining) = (format!("/api/v1/users/{}", user.user_id), membership(&id, &user.user_id));
        let (deleted, joined) = tokio::join!(server.delete(&path), server.post(&joining, json!({})));
        assert_eq!(deleted.status(), 200, "{}", deleted.text());
        assert!(matches!(joined.status(), 201 | 404), "{}", joined.text());
        let left: Vec<_> = app.table().into_keys().filter(|(pk, sk)| format!("{pk}{sk}").contains(&user.user_id)).collect();
        assert!(left.iter().all(|(pk, _)| !pk.starts_with("T#")), "round {round}: {left:?}");
        assert!(left.iter().all(|(_, sk)| !sk.starts_with("TEAM#")), "round {round}: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn selecting_a_team_during_removal_leaves_none_selected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    for round in 0..20 {
        join(&app, &id, &ada.user_id).await;
        let (server, client) = (app.server(), app.signed_in(&ada));
        let leaving = membership(&id, &ada.user_id);
        let (removed, selected) =
            tokio::join!(server.delete(&leaving), client.patch("/api/v1/users/me", json!({ "selected_team_id": id })));
        assert_eq!(removed.status(), 200, "{}", removed.text());
        assert!(matches!(selected.status(), 200 | 404), "{}", selected.text());
        let user = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.json();
        assert_eq!(user["selected_team_id"], Value::Null, "round {round}");
        let stored: Vec<_> = app.table().into_values().filter(|item| item["d"]["M"]["selected_team_id"].is_object()).collect();
        assert!(stored.is_empty(), "round {round}: {stored:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_picture_uploaded_during_a_removal_is_deleted_too() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    let picture = json!({ "profile_image_url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=" });
    for round in 0..40 {
        join(&app, &id, &ada.user_id).await;
        let (server, client) = (app.server(), app.signed_in(&ada));
        let (leaving, profile) = (membership(&id, &ada.user_id), format!("/api/v1/team-member-profiles/{id}/me"));
        let (removed, uploaded) = tokio::join!(server.delete(&leaving), client.patch(&profile, picture.clone()));
        assert_eq!(removed.status(), 200, "{}", removed.text());
        assert!(matches!(uploaded.status(), 200 | 404), "{}", uploaded.text());
        let left: Vec<_> = app.table().into_keys().filter(|(_, sk)| sk.starts_with("IMAGE#")).collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_acceptances_of_an_invitation_one_succeeds() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let body = json!({ "team_id": id, "email": "ada@example.com", "callback_url": "http://localhost:3000/join" });
    let sent = app.server().post("/api/v1/team-invitations/send-code", body).await.json()["id"].as_str().unwrap().to_owned();
    let code = app.last_mail("ada@example.com").await.code();
    let caller = app.signed_in(&ada);
    let by_id = format!("/api/v1/team-invitations/{sent}/accept?user_id=me");
    let answers = join_all((0..10).flat_map(|_| {
        let accept = |path: &str, body: Value| {
            let (caller, path) = (caller.clone(), path.to_owned());
            async move { caller.post(&path, body).await.status() }
        };
        [accept("/api/v1/team-invitations/accept", json!({ "code": code })), accept(&by_id, json!({}))]
    }))
    .await;
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert_eq!(members_of(&app, &id).await, [ada.user_id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_are_all_kept() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    let server = app.server();
    for path in [format!("{TEAMS}/{id}"), format!("/api/v1/team-member-profiles/{id}/{}", ada.user_id)] {
        for round in 0..20 {
            let (name, image) = (format!("Round {round}"), format!("https://example.com/{round}.png"));
            let (named, pictured) = tokio::join!(
                server.patch(&path, json!({ "display_name": name })),
                server.patch(&path, json!({ "profile_image_url": image })),
            );
            assert_eq!((named.status(), pictured.status()), (200, 200), "{}{}", named.text(), pictured.text());
            let read = server.get(&path).await.json();
            assert_eq!((&read["display_name"], &read["profile_image_url"]), (&json!(name), &json!(image)), "{path}");
        }
    }
}
