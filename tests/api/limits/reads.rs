//! Large reads by clients are counted by session, IP address and network.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::limit::{BYTES_PER_READ, Rate, Rule};
use serde_json::json;
use support::{API_URL, Caller, SignedInUser, TestApp};

use super::{assert_refused, at, exhaust, is_refused, only};

const ME: &str = "/api/v1/users/me";
const SESSION: &str = "/api/v1/auth/sessions/current";
const PROJECT: &str = "/api/v1/projects/current";
const TEAMS: &str = "/api/v1/teams?user_id=me";
const QUOTA: u32 = 24;
/// With two fields that contain this much metadata, a user counts as three reads.
const METADATA: usize = 27_000;

/// A user with an item of about 55 KB, and a limit for a single rule.
async fn world(rule: Rule) -> (TestApp, SignedInUser) {
    let app = TestApp::start_with(only(rule, QUOTA, 600)).await;
    let ada = app.sign_up("ada@example.com").await;
    let text = json!({ "text": "x".repeat(METADATA) });
    let metadata = json!({ "client_metadata": text, "client_read_only_metadata": text });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), metadata).await.status(), 200);
    (app, ada)
}

fn rate() -> Rate {
    Rate::new(QUOTA, 600)
}

/// Reads the user until a read is refused.
async fn read_all(caller: &Caller) -> i64 {
    let (answered, refused) = exhaust(|_| caller.get(ME)).await;
    assert_eq!(answered, 8, "each counts three times, and only the next ones are refused");
    assert_refused(&refused, "read", rate())
}

#[tokio::test]
async fn large_reads_count_by_session_and_small_ones_not_at_all() {
    let (app, ada) = world(Rule::Read).await;
    let (small, caller) = (app.signed_in(&app.sign_up("bob@example.com").await), app.signed_in(&ada));
    for _ in 0..2 * QUOTA {
        assert_eq!(small.get(ME).await.status(), 200);
    }
    app.recorder.clear();
    let seconds = read_all(&caller).await;
    assert_eq!(app.recorder.count_of("UpdateItem", "#read"), 0, "reads write nothing");
    // Someone who stole a session can use up only the quota of that session, and the owner can end
    // the session.
    let own = app.signed_in(&app.sign_in("ada@example.com").await);
    assert_eq!((own.get(ME).await.status(), small.get(ME).await.status()), (200, 200));
    assert_eq!(caller.patch(ME, json!({ "display_name": "Ada" })).await.status(), 200, "writes have limits of their own");
    app.advance(jiff::SignedDuration::from_secs(seconds));
    assert_eq!(caller.get(ME).await.status(), 200);
    assert!(is_refused(&caller.get(ME).await) && is_refused(&caller.get(TEAMS).await));
    assert_eq!(caller.with("x-stack-refresh-token", &ada.refresh_token).delete(SESSION).await.status(), 200);
}

#[tokio::test]
async fn large_reads_count_by_address_in_all_sessions() {
    let (app, ada) = world(Rule::ReadAddress).await;
    read_all(&at(app.signed_in(&ada), "203.0.113.7")).await;
    let again = app.sign_in("ada@example.com").await;
    assert!(is_refused(&at(app.signed_in(&again), "203.0.113.7").get(ME).await));
    assert_eq!(at(app.signed_in(&ada), "203.0.113.8").get(ME).await.status(), 200);
    // A server reads for many users, so the limit does not apply.
    for _ in 0..2 * QUOTA {
        let server = at(app.server(), "203.0.113.7");
        assert_eq!(server.get(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    }
}

#[tokio::test]
async fn a_session_that_read_little_reads_on_at_a_full_address() {
    let (rule, session) = (Rule::ReadAddress, Rule::Read);
    let limits = only(rule, QUOTA, 600).with(session, Some(Rate::new(10 * QUOTA, 600)));
    let app = TestApp::start_with(limits).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let text = json!({ "text": "x".repeat(METADATA) });
    let metadata = json!({ "client_metadata": text, "client_read_only_metadata": text });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), metadata).await.status(), 200);
    let [large, small, outside] = [app.signed_in(&ada), app.signed_in(&bob), app.client()].map(|caller| at(caller, "203.0.113.7"));
    let (_, refused) = exhaust(|_| large.get(ME)).await;
    assert_refused(&refused, "read", rate());
    assert_eq!(small.get(ME).await.status(), 200);
    assert!(is_refused(&outside.get(PROJECT).await), "without a session");
}

/// A project's settings may be large, and every request reads them.
#[tokio::test]
async fn settings_count_as_reads_only_where_nothing_else_is_read() {
    let app = TestApp::start_with(only(Rule::ReadAddress, QUOTA, 600)).await;
    let condition = format!("email.startsWith(\"{}\")", "x".repeat(2000));
    let rule = |n| json!({ "id": format!("r{n}"), "enabled": true, "priority": n, "condition": condition, "action": { "type": "reject" } });
    let rules: Vec<_> = (0..40).map(rule).collect();
    let saved = app.admin().patch("/api/v1/internal/projects/current", json!({ "config": { "sign_up_rules": rules } })).await;
    assert_eq!(saved.status(), 200, "{}", saved.text());
    let ada = app.sign_up("ada@example.com").await;
    for caller in [app.client(), app.signed_in(&ada)].map(|caller| at(caller, "203.0.113.7")) {
        for _ in 0..2 * QUOTA {
            assert_eq!(caller.get(PROJECT).await.status(), 200);
        }
    }
    for file in ["jwks.json", "webauthn"] {
        let path = format!("/api/v1/projects/{}/.well-known/{file}", app.project_id());
        let anybody = at(app.anonymous(), "203.0.114.7");
        let (answered, refused) = exhaust(|_| anybody.get(&path)).await;
        assert!(answered <= QUOTA as usize / 2, "{file}");
        assert_refused(&refused, "read", rate());
        app.advance(jiff::SignedDuration::from_secs(1200));
    }
}

#[tokio::test]
async fn large_reads_count_by_network() {
    let (app, ada) = world(Rule::ReadNetwork).await;
    read_all(&at(app.signed_in(&ada), "203.0.113.7")).await;
    assert!(is_refused(&at(app.signed_in(&ada), "203.0.113.8").get(ME).await));
    assert_eq!(at(app.signed_in(&ada), "203.0.114.7").get(ME).await.status(), 200);
}

#[tokio::test]
async fn pictures_count_by_address_and_network() {
    for rule in [Rule::ReadAddress, Rule::ReadNetwork] {
        let app = TestApp::start_with(only(rule, QUOTA, 600)).await;
        let ada = app.sign_up("ada@example.com").await;
        let picture = [&b"\x89PNG\r\n\x1a\n"[..], &vec![0; 80_000]].concat();
        let picture = format!("data:image/png;base64,{}", STANDARD.encode(picture));
        let user = app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "profile_image_url": picture })).await.json();
        let path = user["profile_image_url"].as_str().unwrap().strip_prefix(API_URL).unwrap();
        let anybody = at(app.anonymous(), "203.0.113.7");
        let (answered, refused) = exhaust(|_| anybody.get(path)).await;
        assert_eq!(answered, 6, "each counts four times");
        assert_refused(&refused, "read", rate());
        assert_eq!(at(app.anonymous(), "203.0.114.7").get(path).await.status(), 200);
    }
}

/// A page reads more data than it shows. The limit counts all data that is read.
#[tokio::test]
async fn a_flood_of_the_longest_pages_is_refused_with_the_standard_limits() {
    let standard = Rule::Read.standard();
    let app = TestApp::start_with(only(Rule::Read, standard.quota, standard.window())).await;
    let ada = app.sign_up("ada@example.com").await;
    let text = json!({ "text": "x".repeat(32_000) });
    let teams = 40;
    for _ in 0..teams {
        let team = json!({ "display_name": "Engines", "creator_user_id": ada.user_id, "client_metadata": text,
            "client_read_only_metadata": text, "server_metadata": text });
        assert_eq!(app.server().post("/api/v1/teams", team).await.status(), 201);
    }
    let caller = app.signed_in(&ada);
    let (answered, refused) = exhaust(|_| caller.get(TEAMS)).await;
    assert_eq!(refused.json()["details"]["limit"], "read");
    // A page shows about 1 MB and reads about twice as much.
    let max = standard.quota as usize * BYTES_PER_READ / 1_000_000;
    assert!(answered <= max, "{answered} pages were answered");
}
