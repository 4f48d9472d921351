//! What the deployment secret seals, sealed anew after it was replaced: `gateway reseal` by its library.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::deployment_secret::DeploymentSecret;
use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use serde_json::json;
use store::Item;
use store::reseal::Resealed;
use store::user::account::Outcome;
use support::TestApp;
use wire::id::UserId;

use super::mfa_sign_in::{attempt, now_code, user_with_app};
use super::oauth_callback::{ada, sign_in, start};

const OLD: &str = "a deployment secret for tests alone";
const NEW: &str = "the deployment secret that comes after it";
const BOB: &str = "bob@example.com";

/// The same table under both secrets, and under the new one alone.
fn replaced(app: &TestApp) -> (TestApp, TestApp) {
    let new = || DeploymentSecret::from(NEW.to_owned());
    (
        app.redeployed(|settings| settings.secret = new().with_previous(OLD.to_owned().into())),
        app.redeployed(|settings| settings.secret = new()),
    )
}

/// All items, once emails have gone out: until then they have their codes sealed, too.
async fn items(app: &TestApp) -> Vec<Item> {
    app.deliver().await;
    let (items, next) = app.app.store.items(None).await.unwrap();
    assert!(next.is_none());
    items
}

async fn reseal(app: &TestApp, items: Vec<Item>) -> Resealed {
    let mut all = Resealed::default();
    for item in items {
        all = all.and(app.app.store.reseal(&app.app.sealer, item).await.unwrap());
    }
    all
}

fn with(anew: usize, current: usize) -> Resealed {
    Resealed { anew, current, lost: Vec::new() }
}

async fn mfa_status(app: &TestApp) -> u16 {
    let body = json!({ "code": attempt(app, BOB).await, "type": "totp", "totp": now_code(app) });
    app.client().post("/api/v1/auth/mfa/sign-in", body).await.status()
}

/// What a worker signs in with at the project's mail server.
async fn mail_password(app: &TestApp) -> Option<String> {
    let project = app.app.store.project(app.project_id()).await.unwrap().unwrap().project;
    let server = project.config.email.server.unwrap();
    let login = server.login.as_ref().unwrap();
    let password = app.app.sealer.open(&server.password_owner(project.id.as_str(), &login.username), &login.password);
    password.ok().map(|password| password.expose_secret().to_owned())
}

#[tokio::test]
async fn all_that_is_sealed_opens_with_the_new_secret_alone() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    user_with_app(&app, BOB).await;
    let server = json!({
        "type": "standard", "host": "mail.example.com", "port": 465, "username": "notes", "password": "of the mail server",
        "sender_name": "Notes", "sender_email": "notes@example.com",
    });
    let turnstile = json!({ "provider": "turnstile", "site_key": "site", "secret_key": "of-the-widget", "sign_up": "off" });
    app.configure(json!({ "config": { "email_config": server, "bot_challenge": turnstile } })).await;
    let (during, after) = replaced(&app);
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    let token = || async { after.server().post(&path, json!({})).await };
    assert_eq!((mfa_status(&after).await, token().await.status()), (500, 500), "the test is about what the new secret does not open");

    assert_eq!(mail_password(&after).await, None);

    // The secret of an app, one of a provider, a provider's two tokens, the password of a mail server, and the key of Turnstile.
    assert_eq!(reseal(&during, items(&app).await).await, with(6, 0));
    assert_eq!(reseal(&during, items(&app).await).await, with(0, 6));
    assert_eq!(reseal(&after, items(&app).await).await, with(0, 6));
    assert_eq!(mail_password(&after).await.as_deref(), Some("of the mail server"));

    assert_eq!(mfa_status(&after).await, 200);
    assert_eq!(token().await.status(), 200);
    after.advance(SignedDuration::from_mins(59));
    assert_eq!(token().await.json()["access_token"], "renewed");
    let (again, _) = sign_in(&after, &provider, ada()).await;
    assert_eq!(again.user_id, user.user_id);
}

#[tokio::test]
async fn what_neither_secret_opens_is_named_and_left_as_it_is() {
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
async fn whoever_changes_a_sealed_value_meanwhile_wins() {
    let app = TestApp::start().await;
    let bob = user_with_app(&app, BOB).await;
    let github = json!({ "id": "github", "client_id": "x", "client_secret": "one" });
    let google = json!({ "id": "google", "client_id": "x", "client_secret": "two" });
    app.configure(json!({ "config": { "oauth_providers": [github, google] } })).await;
    let (during, after) = replaced(&app);

    let read = items(&app).await;
    let secret = STANDARD.encode(b"another secret of an app");
    assert_eq!(during.signed_in(&bob).patch("/api/v1/users/me", json!({ "totp_secret_base64": secret })).await.status(), 200);
    // One of them new, and the other, which keeps its secret, where that one was.
    let turned = json!([{ "id": "google", "client_id": "x", "client_secret": "new" }, { "id": "github", "client_id": "x" }]);
    during.configure(json!({ "config": { "oauth_providers": turned } })).await;
    assert_eq!(reseal(&during, read).await, with(1, 2));
    // The link of the email about the new secret, which was not there to be read, has the old one: it was sealed anew with the link.
    assert_eq!(reseal(&after, items(&after).await).await, with(0, 4));
}

#[tokio::test]
async fn who_read_an_item_before_does_not_put_the_old_value_back() {
    let app = TestApp::start().await;
    let bob = user_with_app(&app, BOB).await;
    let (during, _) = replaced(&app);
    let (project, id) = (app.project_id(), UserId::parse(&bob.user_id).unwrap());
    let row = app.app.store.user(project, id).await.unwrap().unwrap();
    assert_eq!(reseal(&during, items(&app).await).await, with(1, 0));
    let outcome = app.app.store.change_account(project, &row, &row.user, Vec::new()).await.unwrap();
    assert!(matches!(outcome, Outcome::Changed));
}
