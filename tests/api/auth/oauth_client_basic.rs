//! OAuth clients that authenticate with HTTP Basic (RFC 6749 §2.3.1), the default of OAuth
//! libraries.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::ExposeSecret as _;
use serde_json::json;
use support::{Answer, SignedInUser, TestApp};

use super::oauth_callback::{TOKEN, ada, exchange_of, flow, parameter, start};
use super::{assert_error, problems};

const DEVICE: &str = "/api/v1/auth/oauth/device_authorization";

fn basic(id: &str, secret: &str) -> String {
    let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(id), encode(secret))))
}

async fn post(app: &TestApp, path: &str, authorization: &str, form: &[(&str, &str)]) -> Answer {
    app.anonymous().with("authorization", authorization).request("POST", path).form(form).send().await
}

/// A request for a user's new tokens.
async fn refresh(app: &TestApp, user: &SignedInUser, authorization: &str, more: &[(&str, &str)]) -> Answer {
    let form = [&[("grant_type", "refresh_token"), ("refresh_token", user.refresh_token.as_str())], more].concat();
    post(app, TOKEN, authorization, &form).await
}

#[tokio::test]
async fn the_header_authenticates_a_client_for_every_grant() {
    let (app, provider) = start().await;
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    let user = app.sign_up("grace@example.com").await;
    let (project, key) = (app.project_id().to_string(), app.keys.client.expose_secret());
    let own = basic(&project, key);
    assert_eq!(refresh(&app, &user, &own, &[]).await.status(), 200);
    assert_eq!(refresh(&app, &user, &own, &[("client_id", &project)]).await.status(), 200);
    let branch = format!("{project}#main");
    assert_eq!(refresh(&app, &user, &basic(&branch, key), &[]).await.status(), 200, "an id is encoded");
    let unencoded = format!("basic {}", STANDARD.encode(format!("{project}:{key}")));
    assert_eq!(refresh(&app, &user, &unencoded, &[]).await.status(), 200);

    let server = basic(&project, app.keys.server.expose_secret());
    assert_eq!(post(&app, TOKEN, &server, &[("grant_type", "client_credentials")]).await.status(), 200);
    let begun = post(&app, DEVICE, &own, &[("verification_uri", "http://localhost:3000/device")]).await;
    assert_eq!(begun.status(), 200, "{}", begun.text());

    let landed = flow(&app, &provider, ada(), &[("client_secret", key)]).await;
    let mut request = exchange_of(&app, &parameter(&landed, "code"));
    let fields = request.as_object_mut().unwrap();
    fields.remove("client_id");
    fields.remove("client_secret");
    let answer = app.anonymous().with("authorization", &own).post(TOKEN, request).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

#[tokio::test]
async fn a_wrong_header_is_answered_with_the_scheme() {
    let app = TestApp::start().await;
    let user = app.sign_up("grace@example.com").await;
    let project = app.project_id().to_string();
    for wrong in [basic(&project, "pck_wrong"), basic("nothing", "x"), "Basic %%%".to_owned(), format!("Basic {}", STANDARD.encode("x"))] {
        for answer in [refresh(&app, &user, &wrong, &[]).await, post(&app, DEVICE, &wrong, &[]).await] {
            assert_error(&answer, 401, "INVALID_OAUTH_CLIENT_ID_OR_SECRET");
            assert_eq!(answer.json()["error"], "invalid_client");
            assert!(answer.header("www-authenticate").unwrap().starts_with("Basic realm="), "{wrong}");
        }
    }
    // If the credentials are in the body, the same error has the status that published SDKs expect.
    let form = [("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", &project), ("client_secret", "pck_wrong")];
    let answer = app.anonymous().request("POST", TOKEN).form(&form).send().await;
    assert_eq!((answer.status(), answer.header("www-authenticate")), (400, None));
}

#[tokio::test]
async fn a_client_authenticates_in_one_way() {
    let app = TestApp::start().await;
    let user = app.sign_up("grace@example.com").await;
    let own = basic(app.project_id().as_str(), app.keys.client.expose_secret());
    for (name, value) in [("client_secret", app.keys.client.expose_secret()), ("client_id", "another")] {
        let answer = refresh(&app, &user, &own, &[(name, value)]).await;
        assert!(problems(&answer)[0].starts_with(&format!("body.{name} must be absent")), "{}", answer.text());
        assert_eq!(answer.json()["error"], "invalid_request");
    }
    // Other schemes do not authenticate OAuth clients, so the credentials in the body are used.
    assert!(problems(&refresh(&app, &user, "Bearer x", &[]).await).contains(&"body.client_id is required".to_owned()));
}
