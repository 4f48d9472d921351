//! `GET` and `POST /api/v1/internal/signing-keys`: RSA keys, and access tokens signed with them.

use std::sync::LazyLock;
use std::time::Duration;

use crypto::rsa_key::RsaPrivateKey;
use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use model::project::signing_key::{Replacement, RsaKeys};
use model::session::token::{Signer, Subject};
use model::user::restriction::RestrictedReason;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rsa::pkcs8::EncodePrivateKey as _;
use serde_json::{Value, json};
use support::{API_URL, Answer, SignedInUser, TestApp};
use wire::id::{ProjectId, SessionId, UserId};

const PATH: &str = "/api/v1/internal/signing-keys";
const PROJECT: &str = "/api/v1/internal/projects/current";
const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const OVERLAP: SignedDuration = SignedDuration::from_hours(3);

/// A service whose project signs with RS256.
async fn signing_with_rsa() -> TestApp {
    let app = TestApp::start().await;
    create(&app, json!({})).await;
    app.configure(json!({ "access_token_algorithm": "RS256" })).await;
    app
}

/// Creates a key, and returns the ids of the published keys, oldest first.
async fn create(app: &TestApp, body: Value) -> Vec<String> {
    let answer = app.admin().post(PATH, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    ids(&answer.json())
}

fn ids(view: &Value) -> Vec<String> {
    view["keys"].as_array().unwrap().iter().map(|key| key["id"].as_str().unwrap().to_owned()).collect()
}

/// The project's key set.
async fn key_set(app: &TestApp, project: &str) -> Vec<Value> {
    let set = app.anonymous().get(&format!("/api/v1/projects/{project}/.well-known/jwks.json")).await.json();
    set["keys"].as_array().unwrap().clone()
}

async fn rsa_ids(app: &TestApp) -> Vec<String> {
    let set = key_set(app, app.project_id().as_str()).await;
    set.iter().filter(|key| key["kty"] == "RSA").map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

/// The algorithm and the key id in a token's header.
fn header_of(token: &str) -> (Algorithm, String) {
    let header = jsonwebtoken::decode_header(token).unwrap();
    (header.alg, header.kid.unwrap())
}

fn claims_of(token: &str) -> Value {
    jsonwebtoken::dangerous::insecure_decode_claims(token).unwrap()
}

async fn me(app: &TestApp, token: &str) -> Answer {
    app.client().with("x-stack-access-token", token).get("/api/v1/users/me").await
}

async fn assert_accepted(app: &TestApp, user: &SignedInUser) {
    let answer = me(app, &user.access_token).await;
    assert_eq!((answer.status(), &answer.json()["id"]), (200, &json!(user.user_id)), "{}", answer.text());
}

async fn assert_refused(app: &TestApp, token: &str) {
    let answer = me(app, token).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "UNPARSABLE_ACCESS_TOKEN"), "{}", answer.text());
}

#[tokio::test]
async fn a_project_with_an_rsa_key_can_sign_with_rs256() {
    let app = TestApp::start().await;
    assert_eq!(app.admin().get(PATH).await.json(), json!({ "access_token_algorithm": "ES256", "keys": [] }));
    let early = app.admin().patch(PROJECT, json!({ "access_token_algorithm": "RS256" })).await;
    assert_eq!((early.status(), early.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(early.text().contains("POST /api/v1/internal/signing-keys"), "{}", early.text());

    let [id] = &create(&app, json!({})).await[..] else { panic!("one key") };
    let now = app.now().as_millisecond();
    let key = json!({
        "id": id, "algorithm": "RS256", "is_signing": false,
        "created_at_millis": now, "signs_from_millis": now, "retires_at_millis": null,
    });
    assert_eq!(app.admin().get(PATH).await.json(), json!({ "access_token_algorithm": "ES256", "keys": [key] }));
    let before = app.sign_up("ada@example.com").await;
    assert_eq!(header_of(&before.access_token).0, Algorithm::ES256);

    app.configure(json!({ "access_token_algorithm": "RS256" })).await;
    let view = app.admin().get(PATH).await.json();
    assert_eq!((&view["access_token_algorithm"], &view["keys"][0]["is_signing"]), (&json!("RS256"), &json!(true)));
    let after = app.sign_in("ada@example.com").await;
    assert_eq!(header_of(&after.access_token), (Algorithm::RS256, id.clone()));
    for user in [&before, &after] {
        assert_accepted(&app, user).await;
    }
    let caller = app.client().with("x-stack-refresh-token", &before.refresh_token);
    let refreshed = caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.json();
    assert_eq!(header_of(refreshed["access_token"].as_str().unwrap()).0, Algorithm::RS256);

    app.configure(json!({ "access_token_algorithm": "ES256" })).await;
    assert_accepted(&app, &after).await;
    assert_eq!(header_of(&app.sign_in("ada@example.com").await.access_token).0, Algorithm::ES256);
}

#[tokio::test]
async fn a_standard_verifier_finds_the_rsa_key_in_the_key_set() {
    let app = signing_with_rsa().await;
    let ada = app.sign_up("ada@example.com").await;
    let project = app.project_id().as_str();
    let set = key_set(&app, project).await;
    assert_eq!((set.len(), &set[0]["kty"], &set[1]["kty"]), (2, &json!("EC"), &json!("RSA")));
    let names: Vec<&str> = set[1].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["alg", "e", "kid", "kty", "n", "use"], "the private parts are not published");
    assert_eq!((&set[1]["alg"], &set[1]["use"], &set[1]["e"]), (&json!("RS256"), &json!("sig"), &json!("AQAB")));
    assert_eq!(set[1]["n"].as_str().unwrap().len(), 342, "2048 bits");

    let key = DecodingKey::from_jwk(&serde_json::from_value(set[1].clone()).unwrap()).unwrap();
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    rules.set_audience(&[project]);
    rules.set_issuer(&[format!("{API_URL}/api/v1/projects/{project}")]);
    let claims = jsonwebtoken::decode::<Value>(&ada.access_token, &key, &rules).unwrap().claims;
    assert_eq!(claims["sub"], json!(ada.user_id));
    let metadata = app.anonymous().get(&format!("/api/v1/projects/{project}/.well-known/openid-configuration")).await.json();
    assert_eq!(metadata["id_token_signing_alg_values_supported"], json!(["ES256", "RS256"]));
}

#[tokio::test]
async fn restricted_and_anonymous_users_keep_their_own_keys() {
    let app = signing_with_rsa().await;
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    assert_eq!(header_of(anonymous["access_token"].as_str().unwrap()).0, Algorithm::ES256);
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let restricted = app.sign_up("ada@example.com").await;
    assert_eq!(header_of(&restricted.access_token).0, Algorithm::ES256);
}

#[tokio::test]
async fn a_successor_is_published_before_it_signs_and_its_predecessor_afterwards() {
    let app = signing_with_rsa().await;
    app.sign_up("ada@example.com").await;
    let first = rsa_ids(&app).await.remove(0);
    let refused = app.admin().post(PATH, json!({})).await;
    assert_eq!((refused.status(), refused.code().as_str()), (409, "SIGNING_KEY_TOO_NEW"));
    let until = app.now().as_millisecond() + 60_000;
    assert_eq!(refused.json()["details"], json!({ "replaceable_at_millis": until }));

    app.advance(MINUTE);
    let both = create(&app, json!({})).await;
    assert_eq!((&both[0], both.len()), (&first, 2));
    assert_eq!(rsa_ids(&app).await, both);
    let view = app.admin().get(PATH).await.json();
    let signs_from = (app.now() + OVERLAP).as_millisecond();
    assert_eq!((&view["keys"][0]["is_signing"], &view["keys"][1]["is_signing"]), (&json!(true), &json!(false)));
    assert_eq!(view["keys"][1]["signs_from_millis"], json!(signs_from));
    assert_eq!(view["keys"][0]["retires_at_millis"], json!((app.now() + OVERLAP + OVERLAP).as_millisecond()));
    let refused = app.admin().post(PATH, json!({})).await;
    assert_eq!(refused.json()["details"], json!({ "replaceable_at_millis": signs_from }));

    app.advance(OVERLAP - SignedDuration::from_secs(1));
    let old = app.sign_in("ada@example.com").await;
    assert_eq!(header_of(&old.access_token).1, both[0]);
    app.advance(SignedDuration::from_secs(1));
    let new = app.sign_in("ada@example.com").await;
    assert_eq!(header_of(&new.access_token).1, both[1]);
    assert_accepted(&app, &old).await;
    assert_accepted(&app, &new).await;
    app.advance(OVERLAP - SignedDuration::from_secs(1));
    assert_eq!(rsa_ids(&app).await, both);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(rsa_ids(&app).await, both[1..]);
}

#[tokio::test]
async fn a_leaked_key_is_replaced_at_once_in_every_process() {
    let app = signing_with_rsa().await;
    let elsewhere = app.redeployed(|_| ());
    let ada = app.sign_up("ada@example.com").await;
    assert_accepted(&elsewhere, &ada).await;
    app.advance(MINUTE);
    let successor = create(&app, json!({ "revoke_previous": true })).await;
    assert_eq!(rsa_ids(&app).await, successor);
    assert_eq!(successor.len(), 1);
    assert_refused(&app, &ada.access_token).await;
    app.advance(MINUTE);
    for process in [&app, &elsewhere, &app.redeployed(|_| ())] {
        assert_refused(process, &ada.access_token).await;
    }
    for app in [&app, &elsewhere] {
        let again = app.sign_in("ada@example.com").await;
        assert_eq!(header_of(&again.access_token).1, successor[0]);
        assert_accepted(app, &again).await;
    }
}

#[tokio::test]
async fn a_process_that_has_not_read_the_keys_verifies_with_them() {
    let app = signing_with_rsa().await;
    let ada = app.sign_up("ada@example.com").await;
    for cold in [app.redeployed(|_| ()), app.as_functions()] {
        assert_accepted(&cold, &ada).await;
    }
    // The key is created after the process has read the keys.
    let other = app.redeployed(|_| ());
    assert_accepted(&other, &ada).await;
    app.advance(MINUTE);
    create(&app, json!({ "revoke_previous": true })).await;
    assert_accepted(&other, &app.sign_in("ada@example.com").await).await;
}

/// A key that belongs to no project.
fn own_key() -> Vec<u8> {
    static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let key = rsa::PrivateKey::new(&mut ChaCha20Rng::from_seed([7; 32]), 2048).unwrap();
        key.to_pkcs8_der().unwrap().as_bytes().to_vec()
    });
    KEY.clone()
}

/// A token with a changed header and changed claims, signed with [`own_key`].
fn forged(app: &TestApp, user: &SignedInUser, change: impl FnOnce(&mut Header, &mut Value)) -> String {
    let mut header = jsonwebtoken::decode_header(&user.access_token).unwrap();
    let mut claims = claims_of(&user.access_token);
    claims["iat"] = json!(app.now().as_second());
    claims["exp"] = json!(app.now().as_second() + 600);
    change(&mut header, &mut claims);
    jsonwebtoken::encode(&header, &claims, &EncodingKey::from_rsa_der(&own_key())).unwrap()
}

#[tokio::test]
async fn a_token_signed_with_a_key_of_nobody_is_refused() {
    let app = signing_with_rsa().await;
    let ada = app.sign_up("ada@example.com").await;
    let [derived, _] = &key_set(&app, app.project_id().as_str()).await[..] else { panic!("two keys") };
    let derived = derived["kid"].as_str().unwrap().to_owned();
    assert_refused(&app, &forged(&app, &ada, |_, _| ())).await;
    assert_refused(&app, &forged(&app, &ada, |header, _| header.kid = None)).await;
    assert_refused(&app, &forged(&app, &ada, |header, _| header.kid = Some("unknown".to_owned()))).await;
    assert_refused(&app, &forged(&app, &ada, |header, _| header.kid = Some(derived))).await;
}

#[tokio::test]
async fn a_token_is_valid_only_in_its_own_project() {
    let app = signing_with_rsa().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let answer = app.admin_of(&other).post(PATH, json!({})).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    for app in [&app, &app.redeployed(|_| ())] {
        let wrong = app.client_of(&other).with("x-stack-access-token", &ada.access_token).get("/api/v1/users/me").await;
        assert_eq!((wrong.status(), wrong.code().as_str()), (401, "INVALID_PROJECT_FOR_ACCESS_TOKEN"), "{}", wrong.text());
    }
    let foreign = forged(&app, &ada, |_, claims| claims["aud"] = json!(other.project_id));
    assert_refused(&app, &foreign).await;
}

#[test]
fn no_rsa_key_proves_restricted_or_anonymous_users() {
    let (private, public) = RsaPrivateKey::parse(&own_key()).unwrap();
    let (now, project) = (Timestamp::UNIX_EPOCH, ProjectId::internal());
    let signer = Signer::new(&"a deployment secret of some length".to_owned().into(), API_URL);
    let keys = RsaKeys::default().with(public.clone(), SealedText::from_text(String::new()), Replacement::Gradual, now);
    signer.learn(&project, keys, now);
    let verified = |restricted: Option<RestrictedReason>| {
        let subject = Subject {
            user: UserId::from(uuid::Uuid::nil()),
            project: project.clone(),
            session: SessionId::from(uuid::Uuid::nil()),
            name: None,
            email: None,
            email_verified: false,
            selected_team: None,
            signed_up_at: now,
            restricted,
            requires_totp: false,
        };
        let token = signer.sign_with_rsa(&subject, now, Duration::from_secs(60), (public.id(), &private)).unwrap();
        signer.verify(&token, now).is_ok()
    };
    assert!(verified(None));
    assert!(!verified(Some(RestrictedReason::Anonymous)));
    assert!(!verified(Some(RestrictedReason::EmailNotVerified)));
}

#[tokio::test]
async fn one_of_many_concurrent_requests_makes_a_key() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let answers = futures_util::future::join_all((0..4).map(|_| admin.post(PATH, json!({})))).await;
    let mut statuses: Vec<u16> = answers.iter().map(Answer::status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    assert_eq!(rsa_ids(&app).await.len(), 1);
}

#[tokio::test]
async fn only_administrators_make_and_see_keys() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server()] {
        for answer in [caller.get(PATH).await, caller.post(PATH, json!({})).await] {
            assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
        }
    }
    for body in [json!({ "revoke_previous": "yes" }), json!({ "algorithm": "RS256" })] {
        let answer = app.admin().post(PATH, body).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
    }
    assert!(rsa_ids(&app).await.is_empty());
}
