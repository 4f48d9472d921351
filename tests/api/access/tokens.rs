//! Access tokens. A token must be valid, unexpired and issued for the project, and its session and
//! user must still exist.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use crypto::password::hash::Hasher;
use flows::App;
use jiff::SignedDuration;
use model::project::ProjectConfig;
use model::session::token::Subject;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use ring::{hkdf, hmac};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use settings::Settings;
use support::{SignedInUser, TestApp};

use super::CLIENT;
use crate::stored;

async fn answer(app: &TestApp, token: &str) -> support::Answer {
    app.client().with("x-stack-access-token", token).get(CLIENT).await
}

async fn assert_forged(app: &TestApp, what: &str, token: &str) {
    let answer = answer(app, token).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "UNPARSABLE_ACCESS_TOKEN"), "{what}: {token}");
    let authorize = app.client().with("x-stack-admin-access-token", token).get(CLIENT).await;
    assert_eq!(authorize.code(), "UNPARSABLE_ADMIN_ACCESS_TOKEN", "{what}");
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn decode(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// The parts of a token.
struct Parts {
    header: Value,
    claims: Value,
    signature: String,
}

impl Parts {
    fn of(token: &str) -> Self {
        let parts: Vec<&str> = token.split('.').collect();
        Self { header: decode(parts[0]), claims: decode(parts[1]), signature: parts[2].to_owned() }
    }

    fn signed_part(&self) -> String {
        format!("{}.{}", encode(&self.header), encode(&self.claims))
    }

    fn token(&self) -> String {
        format!("{}.{}", self.signed_part(), self.signature)
    }

    /// The token with a changed claim and the original signature, which no longer matches.
    fn with(token: &str, claim: &str, value: impl Into<Value>) -> String {
        let mut parts = Self::of(token);
        parts.claims[claim] = value.into();
        parts.token()
    }
}

/// Signs the token with the deployment's key, which is derived as in the service.
fn signed_by_the_deployment(app: &TestApp, parts: &Parts) -> String {
    let audience = parts.claims["aud"].as_str().unwrap();
    let purpose = [&b"token "[..], audience.as_bytes(), &[0]];
    let secret =
        hkdf::Salt::new(hkdf::HKDF_SHA256, b"gatelet").extract(app.app.settings.secret.current().unwrap().expose_secret().as_bytes());
    let mut private = [0; 32];
    secret.expand(&purpose, hkdf::HKDF_SHA256).unwrap().fill(&mut private).unwrap();
    let public = p256::SecretKey::from_slice(&private).unwrap().public_key().to_sec1_point(false);
    let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let pair = EcdsaKeyPair::from_private_key_and_public_key(algorithm, &private, public.as_bytes(), &random).unwrap();
    let signature = pair.sign(&random, parts.signed_part().as_bytes()).unwrap();
    format!("{}.{}", parts.signed_part(), URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

/// A token of the same user from another deployment. That deployment has the settings of `app`,
/// altered by `change`.
async fn token_of_other_deployment(app: &TestApp, user: &SignedInUser, change: impl FnOnce(&mut Settings)) -> String {
    let mut settings = app.app.settings.clone();
    change(&mut settings);
    let parts = &app.app;
    let other = App::new(settings, parts.store.clone(), parts.clock.clone(), parts.entropy.clone(), Hasher::new(64, 1));
    let row = parts.store.user(app.project_id(), stored::user_id(user)).await.unwrap().unwrap();
    let sessions = parts.store.sessions(app.project_id(), row.user.id, None, 1, |_| true).await.unwrap().sessions;
    let subject = Subject::of(&row.user, app.project_id(), &ProjectConfig::default(), &sessions[0]);
    other.signer.sign(&subject, app.now(), parts.settings.access_token_life)
}

#[tokio::test]
async fn an_unsigned_token_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for algorithm in ["none", "None", "NONE", ""] {
        let mut parts = Parts::of(&ada.access_token);
        parts.header["alg"] = json!(algorithm);
        assert_forged(&app, "with the original signature", &parts.token()).await;
        parts.signature.clear();
        assert_forged(&app, "no signature", &parts.token()).await;
        assert_forged(&app, "two parts", &parts.signed_part()).await;
    }
}

#[tokio::test]
async fn a_token_signed_by_another_key_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random).unwrap();
    let mut parts = Parts::of(&ada.access_token);
    parts.signature = URL_SAFE_NO_PAD.encode(pair.sign(&random, parts.signed_part().as_bytes()).unwrap().as_ref());
    assert_forged(&app, "signed with a foreign key", &parts.token()).await;

    // Algorithm confusion. The public key is used as an HMAC secret.
    let jwks = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/jwks.json", app.project_id())).await.json();
    let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(jwks["keys"][0][name].as_str().unwrap()).unwrap();
    let public = [vec![4], coordinate("x"), coordinate("y")].concat();
    parts.header["alg"] = json!("HS256");
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), parts.signed_part().as_bytes());
    parts.signature = URL_SAFE_NO_PAD.encode(mac.as_ref());
    assert_forged(&app, "HMAC with the public key", &parts.token()).await;

    let other_secret =
        token_of_other_deployment(&app, &ada, |settings| settings.secret = "another deployment's secret".to_owned().into()).await;
    assert_forged(&app, "another deployment's key", &other_secret).await;
    let other_issuer = token_of_other_deployment(&app, &ada, |settings| settings.api_url = "https://evil.test".to_owned()).await;
    assert_forged(&app, "another issuer", &other_issuer).await;
    let same = token_of_other_deployment(&app, &ada, |_| {}).await;
    assert_eq!(answer(&app, &same).await.status(), 200);
}

#[tokio::test]
async fn a_signed_token_of_another_type_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut parts = Parts::of(&ada.access_token);
    for typ in ["JWT", "", "id_token", "logout+jwt", "text/at+jwt"].map(Value::from).into_iter().chain([json!(7), json!(["at+jwt"])]) {
        parts.header["typ"] = typ.clone();
        assert_forged(&app, &format!("of type {typ}"), &signed_by_the_deployment(&app, &parts)).await;
    }
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        parts.header["typ"] = json!(typ);
        assert_eq!(answer(&app, &signed_by_the_deployment(&app, &parts)).await.status(), 200, "{typ}");
    }
}

#[tokio::test]
async fn an_old_token_without_a_type_is_valid_until_it_expires() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut parts = Parts::of(&ada.access_token);
    parts.header.as_object_mut().unwrap().remove("typ");
    let token = signed_by_the_deployment(&app, &parts);
    let own = app.client().with("x-stack-access-token", &token).get("/api/v1/users/me").await;
    assert_eq!((own.status(), &own.json()["id"]), (200, &json!(ada.user_id)), "{}", own.text());
    app.advance(SignedDuration::from_mins(10));
    assert_eq!(answer(&app, &token).await.code(), "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_token_with_modified_claims_is_rejected() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let other = app.another_project().await;
    let changes = [
        ("sub", json!(bob.user_id)),
        ("exp", json!(4_102_444_800_u64)),
        ("exp", json!("never")),
        ("aud", json!(other.project_id)),
        ("aud", json!([app.project_id()])),
        ("aud", json!(format!("{}:admin", app.project_id()))),
        ("aud", json!("")),
        ("iss", json!("https://evil.test")),
        ("project_id", json!(other.project_id)),
        ("email_verified", json!(true)),
        ("role", json!("admin")),
        ("refresh_token_id", json!("x")),
        ("is_anonymous", json!(true)),
    ];
    for (claim, value) in changes {
        assert_forged(&app, claim, &Parts::with(&ada.access_token, claim, value)).await;
    }
}

#[tokio::test]
async fn a_token_signed_by_another_audience_s_key_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let visitor = stored::anonymous_user(&app).await;
    let (normal, anonymous) = (Parts::of(&ada.access_token), Parts::of(&visitor.access_token));
    let mut upgraded = Parts::of(&visitor.access_token);
    for claim in ["aud", "iss", "is_anonymous", "is_restricted", "restricted_reason"] {
        upgraded.claims[claim] = normal.claims[claim].clone();
    }
    assert_forged(&app, "an anonymous token presented as an ordinary one", &upgraded.token()).await;
    upgraded.header = normal.header.clone();
    assert_forged(&app, "with the key id of an ordinary one", &upgraded.token()).await;
    let swapped = Parts { header: normal.header, claims: anonymous.claims, signature: normal.signature };
    assert_forged(&app, "with a signature of another token", &swapped.token()).await;
}

#[tokio::test]
async fn a_malformed_token_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let token = &ada.access_token;
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let raw = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let cases = [
        "x".to_owned(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        format!("{token}.x"),
        format!("{token}="),
        format!("Bearer {token}"),
        format!("{signed}."),
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&raw[..63])),
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode([0; 64])),
        format!("{signed}.{}", STANDARD.encode([255; 64])),
        format!("{}.{}.{signature}", encode(&json!([])), encode(&json!("claims"))),
        "e30.e30.e30".to_owned(),
        "a".repeat(100_000),
        ada.refresh_token.clone(),
    ];
    for case in cases {
        assert_forged(&app, "no token", &case).await;
    }
}

#[tokio::test]
async fn a_token_is_valid_for_ten_minutes() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let session = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json()["items"][0]["id"].clone();
    app.advance(SignedDuration::from_millis(599_999));
    assert_eq!(answer(&app, &ada.access_token).await.status(), 200);
    app.advance(SignedDuration::from_millis(1));
    let expired = answer(&app, &ada.access_token).await;
    assert_eq!((expired.status(), expired.code().as_str()), (401, "ACCESS_TOKEN_EXPIRED"));
    let details = json!({
        "expired_at_millis": app.now().as_millisecond(),
        "project_id": app.project_id(),
        "user_id": ada.user_id,
        "refresh_token_id": session,
    });
    assert_eq!(expired.json()["details"], details);

    let forged = Parts::with(&ada.access_token, "exp", app.now().as_second() + 600);
    assert_forged(&app, "prolonged", &forged).await;
}

#[tokio::test]
async fn a_token_of_another_project_is_reported_as_such() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let stranger = app.client_of(&other).post("/api/v1/auth/password/sign-up", body).await.json();
    let stranger = SignedInUser::of("ada@example.com", &stranger);
    let answer = answer(&app, &stranger.access_token).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "INVALID_PROJECT_FOR_ACCESS_TOKEN"));
    assert_eq!(answer.json()["details"], json!({ "expected_project_id": app.project_id(), "actual_project_id": other.project_id }));

    let unknown = app.client_of(&other).with("x-stack-project-id", "nothing").with("x-stack-access-token", &stranger.access_token);
    assert_eq!(unknown.get(CLIENT).await.code(), "INVALID_PROJECT_FOR_ACCESS_TOKEN");
}

#[tokio::test]
async fn a_token_of_a_deleted_user_has_expired() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    stored::delete_user(&app, &ada).await;
    for caller in [app.signed_in(&ada), app.server().with("x-stack-access-token", &ada.access_token)] {
        let answer = caller.get(CLIENT).await;
        assert_eq!((answer.status(), answer.code().as_str()), (401, "ACCESS_TOKEN_EXPIRED"));
    }
}
