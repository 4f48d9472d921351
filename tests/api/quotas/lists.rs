//! Lists have pages of at most 1 MB, which together have everything once.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedIn, TestApp};

use crate::owners::{Owner, PROJECTS};
use crate::teams::invitations::invite;
use crate::teams::{join, team};

const TEAMS: &str = "/api/v1/teams";
/// The greatest answer of a list, in bytes: its items, and what is around them.
const MAX: usize = 1_001_000;

/// All pages of a list, from its first one on.
async fn pages(caller: &Caller, path: &str) -> Vec<Value> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer: Answer = caller.get(&format!("{path}{cursor}")).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert!(answer.bytes().len() <= MAX, "{path}: {} bytes", answer.bytes().len());
        let page = answer.json();
        let next = page["pagination"]["next_cursor"].as_str().map(str::to_owned);
        pages.push(page["items"].clone());
        match next {
            Some(next) => cursor = format!("&cursor={}", url::form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>()),
            None => return pages,
        }
    }
}

/// The ids in pages.
fn ids(pages: &[Value]) -> Vec<&str> {
    pages.iter().flat_map(|page| page.as_array().unwrap()).map(|item| item["id"].as_str().unwrap()).collect()
}

/// A user who joined two teams in another order than that of their creation, and the teams in the
/// order of joining.
async fn member() -> (TestApp, SignedIn, [String; 3]) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut made = Vec::new();
    for name in ["Looms", "Engines", "Cards"] {
        made.push(team(&app, name, None).await);
        app.advance(SignedDuration::from_secs(1));
    }
    let joined = [made[2].clone(), made[0].clone(), made[1].clone()];
    for id in &joined {
        join(&app, id, &ada.user_id).await;
        app.advance(SignedDuration::from_secs(1));
    }
    (app, ada, joined)
}

#[tokio::test]
async fn a_user_s_teams_are_listed_in_the_requested_order_page_by_page() {
    let (app, ada, joined) = member().await;
    let caller = app.signed_in(&ada);
    let [third, first, second] = &joined;
    for (query, expected) in [
        ("", [third, first, second]),
        ("&desc=true", [second, first, third]),
        ("&order_by=created_at", [first, second, third]),
        ("&order_by=created_at&desc=true", [third, second, first]),
        ("&order_by=created_at&desc=false", [first, second, third]),
    ] {
        for limit in ["", "&limit=1", "&limit=2", "&limit=3"] {
            let found = pages(&caller, &format!("{TEAMS}?user_id=me{query}{limit}")).await;
            assert_eq!(ids(&found), expected, "{query}{limit}");
            let most = limit.strip_prefix("&limit=").map_or(3, |limit| limit.parse::<usize>().unwrap());
            assert!(found.iter().all(|page| page.as_array().unwrap().len() <= most), "{query}{limit}");
        }
    }
    assert_eq!(ids(&pages(&caller, &format!("{TEAMS}?user_id=me&query=CARD&limit=1")).await), [third]);
    for wrong in ["&limit=0", "&limit=10001", "&limit=x", "&order_by=name"] {
        assert_eq!(caller.get(&format!("{TEAMS}?user_id=me{wrong}")).await.code(), "SCHEMA_ERROR", "{wrong}");
    }
    let first_page = caller.get(&format!("{TEAMS}?user_id=me&limit=1")).await.json();
    let cursor: String =
        url::form_urlencoded::byte_serialize(first_page["pagination"]["next_cursor"].as_str().unwrap().as_bytes()).collect();
    let other_order = caller.get(&format!("{TEAMS}?user_id=me&limit=1&desc=true&cursor={cursor}")).await;
    assert_eq!((other_order.status(), other_order.code().as_str()), (400, "INVALID_CURSOR"));
}

#[tokio::test]
async fn a_list_of_teams_with_much_metadata_has_pages_of_a_megabyte() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let metadata = json!({ "text": "x".repeat(32_000) });
    for _ in 0..50 {
        let made = caller.post(TEAMS, json!({ "display_name": "Engines", "client_metadata": metadata })).await;
        assert_eq!(made.status(), 201, "{}", made.text());
    }
    for (caller, path) in [(&caller, "?user_id=me"), (&app.server(), "?limit=10000")] {
        let found = pages(caller, &format!("{TEAMS}{path}")).await;
        let sizes: Vec<usize> = found.iter().map(|page| page.as_array().unwrap().len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 50, "{path}: {sizes:?}");
        assert!(sizes.len() == 2 && sizes[0] > 25, "{path}: pages are as large as they may be: {sizes:?}");
    }
    // As many teams as a user creates fit on one page of permissions.
    let permissions = pages(&caller, "/api/v1/team-permissions?user_id=me").await;
    assert_eq!((permissions.len(), permissions[0].as_array().unwrap().len()), (1, 50));
    let found = pages(&caller, "/api/v1/team-permissions?user_id=me&limit=20").await;
    assert_eq!(found.iter().map(|page| page.as_array().unwrap().len()).collect::<Vec<_>>(), [20, 20, 10]);
}

#[tokio::test]
async fn invitations_are_listed_page_by_page() {
    let app = TestApp::start().await;
    let (bob, mut sent) = (app.sign_in_by_mail("bob@example.com").await, Vec::new());
    let id = team(&app, "Engines", None).await;
    for index in 0..5 {
        app.advance(SignedDuration::from_secs(1));
        let other = team(&app, &format!("Team {index}"), None).await;
        sent.push(invite(&app, &other, "bob@example.com").await.0);
        invite(&app, &id, &format!("u{index}@example.com")).await;
    }
    let path = "/api/v1/team-invitations";
    for limit in [1, 2, 5, 500] {
        let to_bob = pages(&app.signed_in(&bob), &format!("{path}?user_id=me&limit={limit}")).await;
        assert_eq!(ids(&to_bob), sent, "{limit}");
        let of_team = pages(&app.server(), &format!("{path}?team_id={id}&limit={limit}")).await;
        assert_eq!(ids(&of_team).len(), 5, "{limit}");
    }
    assert_eq!(app.server().get(&format!("{path}?team_id={id}&cursor=x")).await.code(), "INVALID_CURSOR");
}

#[tokio::test]
async fn owned_projects_are_listed_page_by_page() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let mut made = Vec::new();
    for index in 0..5 {
        made.push(ada.project(&format!("Project {index}")).await);
    }
    made.sort_unstable();
    for limit in [1, 2, 5, 1000] {
        assert_eq!(ids(&pages(&ada.caller(), &format!("{PROJECTS}?limit={limit}")).await), made, "{limit}");
    }
}

/// Servers see each user with the selected team, which may be larger than the user.
#[tokio::test]
async fn a_list_of_users_whose_teams_have_much_metadata_has_pages_of_a_megabyte() {
    let app = TestApp::start().await;
    let (metadata, mut users) = (json!({ "text": "x".repeat(32_000) }), Vec::new());
    for index in 0..15 {
        let user = app.sign_up(&format!("u{index}@example.com")).await;
        let body = json!({
            "display_name": "Engines", "creator_user_id": user.user_id, "client_metadata": metadata,
            "client_read_only_metadata": metadata, "server_metadata": metadata,
        });
        let made = app.server().post(TEAMS, body).await.json()["id"].clone();
        let selected = app.server().patch(&format!("/api/v1/users/{}", user.user_id), json!({ "selected_team_id": made })).await;
        assert_eq!(selected.status(), 200, "{}", selected.text());
        app.advance(SignedDuration::from_secs(1));
        users.push(user.user_id);
    }
    for path in ["/api/v1/users?limit=200", "/api/v1/users?desc=true", "/api/v1/users?starts_with=u"] {
        let found = pages(&app.server(), path).await;
        let mut listed = ids(&found);
        assert_eq!((listed.len(), found.len()), (15, 2), "{path}");
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), 15, "{path}");
    }
}
