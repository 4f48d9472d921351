//! The library behind `gateway reseal`, which reseals values after the deployment secret has been
//! changed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::deployment_secret::DeploymentSecret;
use jiff::SignedDuration;
use model::project::secret_owner;
use secrecy::ExposeSecret as _;
use serde_json::json;
use store::Item;
use store::reseal::ResealResult;
use store::user::account::Outcome;
use support::TestApp;
use wire::id::UserId;

use super::mfa_authenticators::set_up;
use super::mfa_recovery_codes;
use super::mfa_sign_in::{attempt, now_code, user_with_app};
use super::oauth_callback::{ada, sign_in, start};
use super::provider_changes::age_tokens;

const OLD: &str = "a deployment secret for tests alone";
const NEW: &str = "the deployment secret that comes after it";
const BOB: &str = "bob@example.com";

/// Two services on one table. One service has both secrets, and the other has only the new secret.
fn replaced(app: &TestApp) -> (TestApp, TestApp) {
    let new = || DeploymentSecret::from(NEW.to_owned());
    (
        app.redeployed(|settings| settings.secret = new().with_previous(OLD.to_owned().into())),
        app.redeployed(|settings| settings.secret = new()),
    )
}

/// All items after the emails have been sent, because the items of pending emails contain sealed
/// codes.
async fn items(app: &TestApp) -> Vec<Item> {
    app.send_emails().await;
    let (items, next) = app.app.store.items(None).await.unwrap();
    assert!(next.is_none());
    items
}

async fn reseal(app: &TestApp, items: Vec<Item>) -> ResealResult {
    let mut all = ResealResult::default();
    for item in items {
        all = all.and(app.app.store.reseal(&app.app.sealer, item).await.unwrap());
    }
    all
}

fn with(anew: usize, current: usize) -> ResealResult {
    ResealResult { anew, current, lost: Vec::new() }
}

async fn mfa_status(app: &TestApp) -> u16 {
    let body = json!({ "code": attempt(app, BOB).await, "type": "totp", "totp": now_code(app) });
    app.client().post("/api/v1/auth/mfa/sign-in", body).await.status()
}

async fn recovery_status(app: &TestApp, code: &str) -> u16 {
    let body = json!({ "code": attempt(app, BOB).await, "type": "recovery-code", "recovery_code": code });
    app.client().post("/api/v1/auth/mfa/sign-in", body).await.status()
}

/// The password of the project's mail server as a worker reads it. `None` if it cannot be
/// decrypted.
async fn mail_password(app: &TestApp) -> Option<String> {
    let project = app.app.store.project(app.project_id()).await.unwrap().unwrap().project;
    let server = project.config.email.server.unwrap();
    let login = server.login.as_ref().unwrap();
    let password = app.app.sealer.open(&server.password_owner(project.id.as_str(), &login.username), &login.password);
    password.ok().map(|password| password.expose_secret().to_owned())
}

#[tokio::test]
async fn after_resealing_the_new_secret_alone_opens_everything() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let bob = user_with_app(&app, BOB).await;
    let codes = mfa_recovery_codes::codes(&app, &bob).await;
    let server = json!({
        "type": "standard", "host": "mail.example.com", "port": 465, "username": "notes", "password": "of the mail server",
        "sender_name": "Notes", "sender_email": "notes@example.com",
    });
    let turnstile = json!({ "provider": "turnstile", "site_key": "site", "secret_key": "of-the-widget", "sign_up": "off" });
    app.configure(json!({ "config": { "email_config": server, "bot_challenge": turnstile } })).await;
    let (during, after) = replaced(&app);
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    let token = || async { after.server().post(&path, json!({})).await };
    assert_eq!((mfa_status(&after).await, token().await.status()), (500, 500), "the new secret opens values of the old one");

    assert_eq!(mail_password(&after).await, None);

    // Eight values are resealed: the secret of an authenticator app, the same secret in the link of
    // the email about recovery codes, the hashes of the recovery codes, a provider's secret, two
    // tokens of the provider, a mail server's password, and the key of Turnstile.
    assert_eq!(recovery_status(&after, &codes[0]).await, 500, "the new secret opens hashes of the old one");
    assert_eq!(reseal(&during, items(&app).await).await, with(8, 0));
    assert_eq!(reseal(&during, items(&app).await).await, with(0, 8));
    assert_eq!(reseal(&after, items(&app).await).await, with(0, 8));
    assert_eq!(mail_password(&after).await.as_deref(), Some("of the mail server"));

    assert_eq!(mfa_status(&after).await, 200);
    assert_eq!([recovery_status(&after, &codes[0]).await, recovery_status(&after, &codes[0]).await], [200, 400]);
    assert_eq!(token().await.status(), 201);
    after.advance(SignedDuration::from_mins(59));
    assert_eq!(token().await.json()["access_token"], "renewed");
    let (again, _) = sign_in(&after, &provider, ada()).await;
    assert_eq!(again.user_id, user.user_id);
}

/// Tokens stored by earlier versions are sealed only for the account.
#[tokio::test]
async fn tokens_of_an_earlier_version_are_resealed() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    age_tokens(&app, &user).await;
    let (during, after) = replaced(&app);
    assert_eq!(reseal(&during, items(&app).await).await, with(3, 0));
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    assert_eq!(after.server().post(&path, json!({})).await.status(), 201);
}

#[tokio::test]
async fn values_sealed_with_an_unknown_secret_are_reported_and_left_unchanged() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let stranger = app.redeployed(|settings| settings.secret = NEW.to_owned().into());
    let before = app.table();
    let resealed = reseal(&stranger, items(&app).await).await;
    assert_eq!((resealed.anew, resealed.current, resealed.lost.len()), (0, 0, 3));
    let tokens = format!("U#{}#{} / PROVIDER#acme#acme|1, refresh", app.project_id(), user.user_id);
    assert!(resealed.lost.contains(&tokens), "{:?}", resealed.lost);
    assert_eq!(app.table(), before);
}

#[tokio::test]
async fn a_concurrent_change_of_a_sealed_value_wins() {
    let app = TestApp::start().await;
    let bob = user_with_app(&app, BOB).await;
    let github = json!({ "id": "github", "client_id": "x", "client_secret": "one" });
    let google = json!({ "id": "google", "client_id": "x", "client_secret": "two" });
    app.configure(json!({ "config": { "oauth_providers": [github, google] } })).await;
    let (during, after) = replaced(&app);

    let read = items(&app).await;
    let secret = STANDARD.encode(b"another secret of an app");
    assert_eq!(during.signed_in(&bob).patch("/api/v1/users/me", json!({ "totp_secret_base64": secret })).await.status(), 200);
    // Google gets a new secret. GitHub keeps its secret and takes the position of Google.
    let turned = json!([{ "id": "google", "client_id": "x", "client_secret": "new" }, { "id": "github", "client_id": "x" }]);
    during.configure(json!({ "config": { "oauth_providers": turned } })).await;
    assert_eq!(reseal(&during, read).await, with(1, 2));
    // The fourth value is the previous secret of the authenticator app, in the link of the notice
    // about the change. The link is newer than the items in `read`, and the secret was resealed
    // when the link was created.
    assert_eq!(reseal(&after, items(&after).await).await, with(0, 4));
}

#[tokio::test]
async fn the_secret_of_a_provider_that_is_not_offered_is_resealed() {
    let app = TestApp::start().await;
    let github = json!({ "type": "github", "allowSignIn": false, "clientId": "an-id", "clientSecret": "a-secret" });
    let values = json!({ "auth.oauth.providers.github": github }).to_string();
    let environment = "/api/v1/internal/config/override/environment";
    assert_eq!(app.admin().patch(environment, json!({ "config_override_string": values })).await.status(), 200);
    let (during, after) = replaced(&app);
    assert_eq!(reseal(&during, items(&app).await).await, with(1, 0));
    assert_eq!(reseal(&after, items(&app).await).await, with(0, 1));
    let offered = json!({ "auth.oauth.providers.github.allowSignIn": true }).to_string();
    assert_eq!(after.admin().patch(environment, json!({ "config_override_string": offered })).await.status(), 200);
    let row = after.app.store.project(after.project_id()).await.unwrap().unwrap();
    let provider = row.project.config.oauth_provider("github").unwrap().clone();
    let owner = secret_owner(after.project_id().as_str(), "github");
    assert_eq!(after.app.sealer.open(&owner, provider.client_secret.as_ref().unwrap()).unwrap().expose_secret(), "a-secret");
}

#[tokio::test]
async fn a_stale_read_does_not_restore_the_old_value() {
    let app = TestApp::start().await;
    let bob = user_with_app(&app, BOB).await;
    let (during, _) = replaced(&app);
    let (project, id) = (app.project_id(), UserId::parse(&bob.user_id).unwrap());
    let row = app.app.store.user(project, id).await.unwrap().unwrap();
    assert_eq!(reseal(&during, items(&app).await).await, with(1, 0));
    let outcome = app.app.store.change_account(project, &row, &row.user, Vec::new()).await.unwrap();
    assert!(matches!(outcome, Outcome::Changed));
}

#[tokio::test]
async fn after_resealing_every_authenticator_app_still_signs_in() {
    let app = TestApp::start().await;
    let bob = app.sign_up(BOB).await;
    let phones = [set_up(&app, &bob).await.0, set_up(&app, &bob).await.0, set_up(&app, &bob).await.0];
    let (during, after) = replaced(&app);
    assert_eq!(reseal(&during, items(&app).await).await.lost, Vec::<String>::new());
    after.advance(SignedDuration::from_secs(30));
    for phone in &phones {
        let body = json!({ "code": attempt(&after, BOB).await, "type": "totp", "totp": phone.shows(&after) });
        assert_eq!(after.client().post("/api/v1/auth/mfa/sign-in", body).await.status(), 200);
    }
}
