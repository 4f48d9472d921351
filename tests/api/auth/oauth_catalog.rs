//! Runs complete flows with every provider of the catalog. The tests check the endpoints, the
//! client authentication and the fields of the account that are used.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use support::TestApp;
use support::stand_in::StandIn;

use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{exchange, landed, parameter};

/// A provider, its documents by URL, the expected account id, the expected verification of the
/// address and the expected picture. The document with the key `""` is the ID token. `None` if the
/// provider does not state the verification or the picture.
type Case = (&'static str, Vec<(&'static str, Value)>, &'static str, Option<bool>, Option<&'static str>);

const EMAIL: &str = "ada@example.com";
const PICTURE: &str = "https://pictures.example/ada.png";

/// Documents as specified by each provider, reduced to the fields that Gatelet reads.
fn cases() -> Vec<Case> {
    [openid_cases(), code_cases(), people_cases()].concat()
}

/// Providers with OpenID Connect.
fn openid_cases() -> Vec<Case> {
    let openid = |id: &str| json!({ "sub": id, "name": "Ada", "email": EMAIL, "email_verified": true, "picture": PICTURE });
    vec![
        ("google", vec![("", openid("1084"))], "1084", Some(true), Some(PICTURE)),
        ("apple", vec![("", json!({ "sub": "001.a", "email": EMAIL, "email_verified": "true" }))], "001.a", Some(true), None),
        ("linkedin", vec![("https://api.linkedin.com/v2/userinfo", openid("z"))], "z", Some(true), Some(PICTURE)),
    ]
}

/// Code hosting services.
fn code_cases() -> Vec<Case> {
    vec![
        (
            "github",
            vec![
                ("https://api.github.com/user", json!({ "id": 583_231, "login": "ada", "name": "Ada", "avatar_url": PICTURE })),
                ("https://api.github.com/user/emails", json!([{ "email": EMAIL, "primary": true, "verified": true }])),
            ],
            "583231",
            Some(true),
            Some(PICTURE),
        ),
        (
            "gitlab",
            vec![(
                "https://gitlab.com/api/v4/user",
                json!({ "id": 1, "name": "Ada", "email": EMAIL, "confirmed_at": "2020-01-01T00:00:00Z", "avatar_url": PICTURE }),
            )],
            "1",
            Some(true),
            Some(PICTURE),
        ),
        (
            "bitbucket",
            vec![
                (
                    "https://api.bitbucket.org/2.0/user",
                    json!({ "account_id": "557058:x", "display_name": "Ada", "links": { "avatar": { "href": PICTURE } } }),
                ),
                (
                    "https://api.bitbucket.org/2.0/user/emails",
                    json!({ "values": [{ "email": EMAIL, "is_primary": true, "is_confirmed": true }] }),
                ),
            ],
            "557058:x",
            Some(true),
            Some(PICTURE),
        ),
    ]
}

/// Social networks, and accounts for work, music and games.
fn people_cases() -> Vec<Case> {
    vec![
        (
            "microsoft",
            vec![("https://graph.microsoft.com/v1.0/me", json!({ "id": "a1", "displayName": "Ada", "mail": EMAIL }))],
            "a1",
            Some(false),
            None,
        ),
        (
            "facebook",
            vec![(
                "https://graph.facebook.com/v23.0/me?fields=id,name,email,picture.type(large)",
                json!({ "id": "102", "name": "Ada", "email": EMAIL, "picture": { "data": { "url": PICTURE } } }),
            )],
            "102",
            Some(false),
            Some(PICTURE),
        ),
        (
            "spotify",
            vec![(
                "https://api.spotify.com/v1/me",
                json!({ "id": "ada", "display_name": "Ada", "email": EMAIL, "images": [{ "url": PICTURE }] }),
            )],
            "ada",
            Some(false),
            Some(PICTURE),
        ),
        (
            "discord",
            vec![("https://discord.com/api/v10/users/@me", json!({ "id": "8", "global_name": "Ada", "email": EMAIL, "verified": true }))],
            "8",
            Some(true),
            None,
        ),
        (
            "x",
            vec![(
                "https://api.x.com/2/users/me?user.fields=confirmed_email,profile_image_url",
                json!({ "data": { "id": "5", "name": "Ada", "confirmed_email": EMAIL, "profile_image_url": PICTURE } }),
            )],
            "5",
            Some(true),
            Some(PICTURE),
        ),
        (
            "twitch",
            vec![(
                "https://api.twitch.tv/helix/users",
                json!({ "data": [{ "id": "4", "display_name": "Ada", "email": EMAIL, "profile_image_url": PICTURE }] }),
            )],
            "4",
            Some(true),
            Some(PICTURE),
        ),
    ]
}

#[tokio::test]
async fn each_provider_of_the_catalog_can_sign_up_a_user() {
    for (provider_id, documents, account_id, verified, picture) in cases() {
        let documents: HashMap<String, Value> = documents.into_iter().map(|(url, document)| (url.to_owned(), document)).collect();
        let provider = StandIn::start(provider_id, documents).await;
        let app = TestApp::start_at(&provider).await;
        app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
        let mut asked = parameters_with(&app, &[]);
        asked.push(("response_mode", "json".to_owned()));
        let begun = authorize(&app, provider_id, &asked).await;
        assert_eq!(begun.status(), 200, "{provider_id}: {}", begun.text());
        let (code, state) = provider.allow(&begun.json()["location"].as_str().unwrap().parse().unwrap());
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
        let back = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/{provider_id}?{query}")).await);
        let tokens = exchange(&app, &parameter(&back, "code")).await;
        assert_eq!(tokens.status(), 200, "{provider_id}: {}", tokens.text());
        let me = app.client().with("x-stack-access-token", tokens.json()["access_token"].as_str().unwrap()).get("/api/v1/users/me").await;
        let me = me.json();
        let account = &me["oauth_providers"][0];
        assert_eq!((&account["id"], &account["account_id"]), (&provider_id.into(), &account_id.into()));
        assert_eq!(me["primary_email"], json!(verified.map(|_| EMAIL)), "{provider_id}");
        assert_eq!(me["primary_email_verified"], verified.unwrap_or_default(), "{provider_id}");
        assert_eq!(me["profile_image_url"], json!(picture), "{provider_id}");
        let listed = app.server().get(&format!("/api/v1/oauth-providers?user_id={}", me["id"].as_str().unwrap())).await.json();
        assert_eq!((&listed["items"][0]["type"], &listed["items"][0]["account_id"]), (&provider_id.into(), &account_id.into()));
    }
}

#[test]
fn every_provider_of_the_catalog_is_tested() {
    let tested: BTreeSet<&str> = cases().into_iter().map(|case| case.0).collect();
    let known: BTreeSet<&str> = model::provider::catalog::ids().collect();
    assert_eq!(tested, known);
}
