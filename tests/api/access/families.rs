//! The three families of header names are synonyms, and a request may mix them.

use secrecy::ExposeSecret as _;
use serde_json::json;
use support::{Caller, TestApp};

use super::{CLIENT, HEADERS};
use crate::teams::invitations::invite;
use crate::teams::team;

const FAMILIES: [&str; 3] = ["x-service-", "x-stack-", "x-hexclave-"];

/// A signed-in client. Each of the client's four headers is from the family at the same position in
/// `families`.
fn caller(app: &TestApp, families: [&str; 4], access_token: &str) -> Caller {
    let headers = [
        ("project-id", app.project_id().as_str()),
        ("access-type", "client"),
        ("publishable-client-key", app.keys.client.expose_secret()),
        ("access-token", access_token),
    ];
    let named = headers.into_iter().zip(families);
    named.fold(app.anonymous(), |caller, ((suffix, value), family)| caller.with(&format!("{family}{suffix}"), value))
}

#[tokio::test]
async fn every_header_family_is_equivalent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for family in FAMILIES {
        let caller = caller(&app, [family; 4], &ada.access_token);
        assert_eq!(caller.get(CLIENT).await.json()["id"], ada.user_id, "{family}");
        let refreshed = caller
            .with(&format!("{family}refresh-token"), &ada.refresh_token)
            .post("/api/v1/auth/sessions/current/refresh", json!({}))
            .await;
        assert_eq!(refreshed.status(), 200, "{family}");
    }
}

#[tokio::test]
async fn the_error_header_names_only_codes_that_the_family_knows() {
    let app = TestApp::start().await;
    let eve = app.sign_in_by_mail("eve@example.com").await;
    let team = team(&app, "Engines", None).await;
    let (invitation, _) = invite(&app, &team, "bob@example.com").await;
    let accept = format!("/api/v1/team-invitations/{invitation}/accept?user_id=me");
    for (family, newer) in [("x-stack-", None), ("x-hexclave-", Some("TEAM_INVITATION_EMAIL_MISMATCH"))] {
        let caller = caller(&app, [family; 4], &eve.access_token);
        let refused = caller.post(&accept, json!({})).await;
        assert_eq!((refused.code().as_str(), refused.header("x-stack-known-error")), ("TEAM_INVITATION_EMAIL_MISMATCH", newer), "{family}");
        let unknown = caller.get("/api/v1/teams/00000000-0000-4000-8000-000000000000").await;
        assert_eq!(unknown.header("x-stack-known-error"), Some("TEAM_MEMBERSHIP_NOT_FOUND"), "{family}");
    }
}

#[tokio::test]
async fn header_families_can_be_mixed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let [service, stack, hexclave] = FAMILIES;
    let mixed = caller(&app, [service, stack, hexclave, service], &ada.access_token);
    assert_eq!(mixed.get(CLIENT).await.status(), 200);
    let twice = mixed.with("x-hexclave-project-id", app.project_id().as_str()).with("x-service-access-type", "client");
    assert_eq!(twice.get(CLIENT).await.status(), 200, "the same value twice is one value");
    let empty = twice.with("x-stack-project-id", "").with("x-hexclave-access-token", "");
    assert_eq!(empty.get(CLIENT).await.status(), 200, "an empty header counts as absent");
}

#[tokio::test]
async fn two_values_of_a_header_conflict() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let good = caller(&app, ["x-stack-"; 4], &ada.access_token);
    for suffix in HEADERS {
        for other in ["x-hexclave-", "x-service-", "x-stack-"] {
            let request =
                good.request("GET", CLIENT).header(&format!("x-stack-{suffix}"), "one").header(&format!("{other}{suffix}"), "two");
            let answer = request.send().await;
            assert_eq!((answer.status(), answer.code().as_str()), (400, "CONFLICTING_HEADERS"), "{suffix}");
            assert_eq!(answer.json()["details"], json!({ "header": suffix }));
        }
    }
    let refresh = app.client().with("x-stack-refresh-token", &ada.refresh_token).with("x-service-refresh-token", "x");
    assert_eq!(refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await.code(), "CONFLICTING_HEADERS");
}

#[tokio::test]
async fn a_non_text_header_is_a_conflict_and_not_an_internal_error() {
    let app = TestApp::start().await;
    for suffix in ["project-id", "access-type", "publishable-client-key", "access-token"] {
        let answer = app.client().with(&format!("x-stack-{suffix}"), "käse").get(CLIENT).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "CONFLICTING_HEADERS"), "{suffix}");
    }
}

#[tokio::test]
async fn response_headers_use_the_family_of_the_request_or_x_stack() {
    let app = TestApp::start().await;
    let own = |names: [&str; 3]| names.map(|name| ["known-error", "actual-status", "request-id"].map(|suffix| format!("{name}{suffix}")));
    let [service, stack, hexclave] = own(FAMILIES);
    let cases = [
        (vec!["x-service-"], vec![&service]),
        (vec!["x-stack-"], vec![&stack]),
        (vec!["x-hexclave-"], vec![&stack]),
        (vec!["x-stack-", "x-hexclave-"], vec![&stack]),
        (vec!["x-service-", "x-hexclave-"], vec![&service, &stack]),
        (vec![], vec![&stack]),
    ];
    for (families, expected) in cases {
        let override_status =
            families.iter().fold(app.anonymous(), |caller, family| caller.with(&format!("{family}override-error-status"), "true"));
        let answer = override_status.get(CLIENT).await;
        for names in [&service, &stack, &hexclave] {
            let there = names.each_ref().map(|name| answer.header(name).is_some());
            let is_expected = expected.contains(&names);
            assert_eq!(there, [is_expected, is_expected && !families.is_empty(), is_expected], "{families:?}: {names:?}");
        }
    }
}
