//! A page of a list takes at most 1 MB. All pages together contain every item once.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};

use crate::owners::{Owner, PROJECTS};
use crate::teams::invitations::invite;
use crate::teams::{join, team};

const TEAMS: &str = "/api/v1/teams";
/// The maximum size of a list response in bytes, including the JSON around the items.
const MAX: usize = 1_001_000;

/// All pages of a list, starting with the first page.
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

fn ids(pages: &[Value]) -> Vec<&str> {
    pages.iter().flat_map(|page| page.as_array().unwrap()).map(|item| item["id"].as_str().unwrap()).collect()
}

/// A user and three teams. The teams are in the order in which the user joined them, which differs
/// from the order of their creation.
async fn member() -> (TestApp, SignedInUser, [String; 3]) {
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
            let max = limit.strip_prefix("&limit=").map_or(3, |limit| limit.parse::<usize>().unwrap());
            assert!(found.iter().all(|page| page.as_array().unwrap().len() <= max), "{query}{limit}");
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
    let app = TestApp::start_unobserved().await;
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
    // The permissions of the maximum number of teams that a user can create fit on a single page.
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

/// Servers see the selected team of each user, which may be larger than the user.
#[tokio::test]
async fn a_list_of_users_whose_teams_have_much_metadata_has_pages_of_a_megabyte() {
    let app = TestApp::start_unobserved().await;
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

/// The amount of data that a page reads, in units of 4 KB.
async fn units(app: &TestApp, caller: &Caller, path: &str) -> f64 {
    app.recorder.measure();
    let answer = caller.get(path).await;
    let read = app.recorder.consumed().read;
    app.recorder.clear();
    assert_eq!(answer.status(), 200, "{}", answer.text());
    read
}

/// Clients choose how much data their teams and the other members contain. A page that shows little
/// of this data must not cost more than a page that shows all of it.
#[tokio::test]
async fn a_short_answer_reads_no_more_than_a_long_one() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let metadata = json!({ "text": "x".repeat(32_000) });
    let (mut first, mut sent) = (String::new(), 0);
    for index in 0..40 {
        let body = json!({
            "display_name": format!("Team {index}"), "creator_user_id": ada.user_id, "client_metadata": metadata,
            "client_read_only_metadata": metadata, "server_metadata": metadata,
        });
        let made = app.server().post(TEAMS, body).await.json()["id"].as_str().unwrap().to_owned();
        first = if index == 0 { made } else { first };
    }
    for index in 0..40 {
        let body = json!({
            "display_name": "Looms", "client_metadata": metadata, "client_read_only_metadata": metadata, "server_metadata": metadata,
        });
        let made = app.server().post(TEAMS, body).await.json()["id"].as_str().unwrap().to_owned();
        invite(&app, &made, "ada@example.com").await;
        sent += 1;
        let user = app.sign_up(&format!("u{index}@example.com")).await;
        let much = json!({ "client_metadata": metadata, "client_read_only_metadata": metadata, "server_metadata": metadata });
        assert_eq!(app.server().patch(&format!("/api/v1/users/{}", user.user_id), much).await.status(), 200);
        join(&app, &first, &user.user_id).await;
    }
    let caller = app.signed_in(&ada);
    // The limit is two megabytes, another megabyte in the last part that is read, and the JSON
    // around the items.
    let max = 3_300_000.0 / 4096.0;
    let (teams, permissions) = (format!("{TEAMS}?user_id=me"), "/api/v1/team-permissions?user_id=me".to_owned());
    let (invitations, profiles) =
        ("/api/v1/team-invitations?user_id=me".to_owned(), format!("/api/v1/team-member-profiles?team_id={first}"));
    let created = format!("{teams}&order_by=created_at");
    for path in [&teams, &created, &format!("{teams}&query=nothing"), &permissions, &invitations, &profiles] {
        let read = units(&app, &caller, path).await;
        assert!(read < max, "{path} reads {read} units");
    }
    for path in [&teams, &created, &permissions] {
        let read = units(&app, &caller, &format!("{path}&limit=1")).await;
        assert!(read < 60.0, "{path} reads {read} units for one item");
    }
    // Nothing is missing.
    assert_eq!(ids(&pages(&caller, &created).await).len(), 40);
    assert!(ids(&pages(&caller, &format!("{teams}&query=nothing")).await).is_empty());
    assert_eq!(ids(&pages(&caller, &format!("{teams}&query=Team%2039")).await).len(), 1);
    assert_eq!(pages(&caller, &permissions).await.iter().map(|page| page.as_array().unwrap().len()).sum::<usize>(), 40);
    assert_eq!(ids(&pages(&caller, &invitations).await).len(), sent);
    assert_eq!(pages(&caller, &profiles).await.iter().map(|page| page.as_array().unwrap().len()).sum::<usize>(), 41);
}
