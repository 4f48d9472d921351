//! The project as an OpenID provider, with its clients and the sign-ins of users to these clients
//! on the hosted pages.

mod attacks;
mod clients;
mod described;
mod ended;
mod grants;
mod metadata;
mod outlasting;
mod pushed;
mod refresh;
mod registered;
mod requests;
mod resources;
mod sign_in;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::sign_in::authorization::challenge;
use serde_json::{Value, json};
use support::{Answer, TestApp};
use url::form_urlencoded;

use crate::hosted::{Browser, query_of, sign_up};

const CLIENTS: &str = "/api/v1/internal/oauth-clients";
const REDIRECT: &str = "https://notes.example.com/cb";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk-and-more";

/// A client, and the endpoints that it uses.
struct RelyingParty<'a> {
    app: &'a TestApp,
    id: String,
    secret: Option<String>,
    redirect_uri: String,
}

impl<'a> RelyingParty<'a> {
    /// A confidential client that belongs to a stranger.
    async fn new(app: &'a TestApp) -> Self {
        Self::with(app, json!({})).await
    }

    /// A client with additional settings.
    async fn with(app: &'a TestApp, more: Value) -> Self {
        let mut body = json!({ "name": "Notes", "client_type": "confidential", "redirect_uris": [REDIRECT] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created = app.admin().post(CLIENTS, body).await;
        assert_eq!(created.status(), 201, "{}", created.text());
        let created = created.json();
        let redirect_uri = created["redirect_uris"][0].as_str().unwrap_or_default().to_owned();
        Self { app, id: text(&created["id"]), secret: created["client_secret"].as_str().map(str::to_owned), redirect_uri }
    }

    fn issuer(&self) -> String {
        format!("{}/api/v1/projects/{}", self.app.app.settings.api_url, self.app.project_id())
    }

    fn endpoint(&self, name: &str) -> String {
        format!("/api/v1/projects/{}/oauth2/{name}", self.app.project_id())
    }

    /// The parameters of an ordinary request with `changes`. An empty value removes a parameter.
    fn parameters(&self, changes: &[(&str, &str)]) -> String {
        let challenge = challenge(VERIFIER);
        let usual = [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", &self.redirect_uri),
            ("scope", "openid email offline_access"),
            ("state", "s t&te"),
            ("nonce", "n-1"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let kept = usual.iter().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        let all = kept.chain(changes).filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish()
    }

    /// Sends a browser to the authorization endpoint.
    async fn authorize(&self, browser: &Browser<'_>, changes: &[(&str, &str)]) -> Answer {
        browser.get(&format!("{}?{}", self.endpoint("authorize"), self.parameters(changes))).await
    }

    /// The page that the authorization endpoint redirects a browser to.
    async fn page(&self, browser: &Browser<'_>, changes: &[(&str, &str)]) -> Answer {
        let request = self.request(browser, changes).await;
        browser.open("authorize", &[("request", &request)]).await
    }

    /// The name of the accepted request.
    async fn request(&self, browser: &Browser<'_>, changes: &[(&str, &str)]) -> String {
        let sent = self.authorize(browser, changes).await;
        let location = sent.header("location").unwrap_or_default().to_owned();
        assert!(location.contains("/handler/authorize?"), "{} {location} {}", sent.status(), sent.text());
        query_of(&location).remove("request").unwrap()
    }

    /// The code that the client gets when the visitor consents.
    async fn code(&self, browser: &Browser<'_>, changes: &[(&str, &str)]) -> String {
        let request = self.request(browser, changes).await;
        let query = [("request", request.as_str())];
        let page = browser.open("authorize", &query).await;
        let answer = if page.status() == 303 { page } else { browser.submit("authorize", &query, &[("action", "allow")]).await };
        let location = answer.header("location").unwrap_or_default().to_owned();
        query_of(&location).remove("code").unwrap_or_else(|| panic!("{} {location} {}", answer.status(), answer.text()))
    }

    /// Sends a request to the token endpoint, authenticated as the client.
    async fn token(&self, fields: &[(&str, &str)]) -> Answer {
        let secret = self.secret.clone().unwrap_or_default();
        let own = [("client_id", self.id.as_str()), ("client_secret", secret.as_str())];
        let all: Vec<(&str, &str)> = own.into_iter().chain(fields.iter().copied()).filter(|(_, value)| !value.is_empty()).collect();
        self.app.anonymous().request("POST", &self.endpoint("token")).form(&all).send().await
    }

    async fn redeem(&self, code: &str) -> Answer {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", self.redirect_uri.as_str()),
            ("code_verifier", VERIFIER),
        ];
        self.token(&fields).await
    }

    async fn refresh(&self, token: &str) -> Answer {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }

    async fn userinfo(&self, token: &str) -> Answer {
        let path = self.endpoint("userinfo");
        self.app.anonymous().request("GET", &path).header("authorization", &format!("Bearer {token}")).send().await
    }

    /// The tokens that the client gets when the visitor consents.
    async fn tokens(&self, browser: &Browser<'_>) -> Value {
        let answer = self.redeem(&self.code(browser, &[]).await).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.json()
    }
}

/// Asserts an error and returns its details.
#[track_caller]
fn assert_error(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
    answer.json()["details"].clone()
}

/// A browser in which a user is signed in.
async fn signed_in<'a>(app: &'a TestApp, email: &str) -> Browser<'a> {
    let browser = Browser::new(app);
    sign_up(&browser, email).await;
    browser
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is a text")).to_owned()
}

/// The claims of a token, without verification.
fn claims(token: &Value) -> Value {
    let text = text(token);
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

/// The header of a token.
fn header(token: &Value) -> Value {
    let text = text(token);
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text.split('.').next().unwrap()).unwrap()).unwrap()
}
