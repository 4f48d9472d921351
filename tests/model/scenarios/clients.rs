//! OAuth clients: their authorization codes, their refresh tokens, which rotate, and the grants of
//! users.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use jiff::SignedDuration;
use model::openid::grant::{OauthGrant, is_granted};
use model::session::rotation::{GRACE, RefreshToken, Rotation};
use model::sign_in::authorization::challenge;
use serde_json::{Value, json};
use stateright::Property;
use support::{SignedInUser, TestApp};
use tower::ServiceExt as _;
use url::Url;
use url::form_urlencoded::Serializer;
use wire::id::OauthClientId;

use super::{ADA, Stage, doing, post, redeeming, send};
use crate::explored::{Client, Exploration, State};
use crate::rules::{answers, is_over, successes};
use crate::service::{Answer, Task};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const RETURN: &str = "https://notes.example.com/callback";
const AUTHORIZATIONS: &str = "/api/v1/auth/oauth2/authorizations";

/// Somebody else's application, and a user of the project.
struct World {
    app: TestApp,
    ada: SignedInUser,
    /// The id of the client.
    client: String,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let ada = app.sign_up(ADA).await;
        let body = json!({ "name": "Notes", "client_type": "public", "redirect_uris": [RETURN] });
        let created = app.admin().post("/api/v1/internal/oauth-clients", body).await;
        assert_eq!(created.status(), 201, "{}", created.text());
        let client = created.json()["id"].as_str().unwrap().to_owned();
        Self { app, ada, client }
    }

    /// The name of an authorization request.
    async fn request(&self) -> String {
        self.request_with("openid offline_access", "").await
    }

    /// The name of an authorization request with these scopes, and with this `prompt` unless it is
    /// empty.
    async fn request_with(&self, scope: &str, prompt: &str) -> String {
        self.request_for(scope, prompt, "").await
    }

    /// Like [`Self::request_with`], for a resource, unless it is empty.
    async fn request_for(&self, scope: &str, prompt: &str, resource: &str) -> String {
        let parameters = [
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", RETURN),
            ("scope", scope),
            ("code_challenge", &challenge(VERIFIER)),
            ("code_challenge_method", "S256"),
            ("prompt", prompt),
            ("resource", resource),
        ];
        let parameters = parameters.into_iter().filter(|(_, value)| !value.is_empty());
        let parameters = Serializer::new(String::new()).extend_pairs(parameters).finish();
        let begun = self.app.client().post(AUTHORIZATIONS, json!({ "parameters": parameters })).await;
        assert_eq!(begun.status(), 200, "{}", begun.text());
        begun.json()["request"].as_str().unwrap().to_owned()
    }

    /// A code that the user has consented to.
    async fn code(&self) -> String {
        let own = self.app.signed_in(&self.ada).with("x-stack-refresh-token", &self.ada.refresh_token);
        let body = json!({ "request": self.request().await, "consent": "allow" });
        let done = own.post(&format!("{AUTHORIZATIONS}/complete"), body).await.json();
        let url = Url::parse(done["redirection"]["url"].as_str().unwrap()).unwrap();
        let code = url.query_pairs().find(|(name, _)| name == "code");
        code.unwrap().1.into_owned()
    }

    fn endpoint(&self) -> String {
        format!("/api/v1/projects/{}/oauth2/token", self.app.project_id())
    }

    fn redemption(&self, code: &str) -> Vec<(&'static str, String)> {
        vec![
            ("grant_type", "authorization_code".to_owned()),
            ("client_id", self.client.clone()),
            ("code", code.to_owned()),
            ("redirect_uri", RETURN.to_owned()),
            ("code_verifier", VERIFIER.to_owned()),
        ]
    }

    fn renewal(&self, token: &str) -> Vec<(&'static str, String)> {
        vec![("grant_type", "refresh_token".to_owned()), ("client_id", self.client.clone()), ("refresh_token", token.to_owned())]
    }

    /// The refresh token that the token endpoint returns for a request.
    async fn token(&self, fields: &[(&'static str, String)]) -> String {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.app.anonymous().request("POST", &self.endpoint()).form(&fields).send().await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.json()["refresh_token"].as_str().unwrap().to_owned()
    }

    /// A request to the token endpoint. In the response of a success, the digest of the refresh
    /// token takes the place of the error code.
    fn asks(&self, fields: Vec<(&'static str, String)>) -> Task {
        let (caller, path) = (self.app.anonymous(), self.endpoint());
        Arc::new(move |_, router| {
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let request = caller.request("POST", &path).form(&fields).build();
            Box::pin(async move {
                let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
                let answer: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
                let token = answer["refresh_token"].as_str().and_then(RefreshToken::parse);
                let digest = token.map(|token| token.digest().as_str().to_owned());
                Answer { status: parts.status.as_u16(), code: digest.or_else(|| answer["error"].as_str().map(str::to_owned)) }
            })
        })
    }

    fn redeems(&self, code: &str) -> Task {
        self.asks(self.redemption(code))
    }

    fn refreshes(&self, token: &str) -> Task {
        self.asks(self.renewal(token))
    }

    fn consents(&self, request: &str) -> Task {
        let own = self.app.signed_in(&self.ada).with("x-stack-refresh-token", &self.ada.refresh_token);
        post(&own, format!("{AUTHORIZATIONS}/complete"), json!({ "request": request, "consent": "allow" }))
    }

    /// A client that does not change anything.
    fn watches(&self) -> Client {
        let path = format!("/api/v1/projects/{}/.well-known/jwks.json", self.app.project_id());
        doing([send(&self.app.anonymous(), "GET", path, None)])
    }

    fn ends_grant(&self) -> Task {
        let id = OauthGrant::id(OauthClientId::parse(&self.client).unwrap());
        send(&self.app.signed_in(&self.ada), "DELETE", format!("/api/v1/users/me/grants/{id}"), None)
    }
}

/// The number of grants.
fn grants(state: &State) -> usize {
    state.table.count("U#", "GRANT#")
}

fn status(model: &Exploration, state: &State, client: usize) -> Option<u16> {
    answers(model, state).nth(client).flatten()
}

pub(super) async fn a_code_of_a_client_gives_tokens_once_and_its_reuse_ends_them() -> Stage {
    let world = World::new().await;
    let code = world.code().await;
    let clients = [(); 3].map(|()| redeeming(world.redeems(&code)));
    Stage::new(world.app, clients)
        .rule(Property::always("at most one session begins", |_, state: &State| state.past.began.len() <= 1))
        .rule(Property::always("one attempt succeeds, and its session does not survive the others", |model, state: &State| {
            !is_over(model, state) || (successes(model, state) == 1 && !has_granted_session(state))
        }))
        .rule(Property::sometimes("the session works until then", |_, state: &State| has_granted_session(state)))
}

/// The rotation of the only session of a client.
fn rotation(state: &State) -> Option<Rotation> {
    state.table.live_sessions().find_map(|session| session.client.as_ref()?.rotation.clone())
}

pub(super) async fn tabs_that_refresh_at_once_share_a_successor() -> Stage {
    let world = World::new().await;
    let token = world.token(&world.redemption(&world.code().await)).await;
    let clients = [doing([world.refreshes(&token)]), doing([world.refreshes(&token)]), world.watches()];
    Stage::new(world.app, clients)
        .rule(Property::always("every tab gets tokens, even if a response is lost", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 3
        }))
        .rule(Property::always("every tab gets the session's current token", |_, state: &State| {
            let told = state.places.iter().take(2).filter_map(|place| place.0.answers.first()).filter(|answer| answer.status == 200);
            let current = rotation(state).map(|rotation| rotation.digest.as_str().to_owned());
            told.into_iter().all(|answer| answer.code == current)
        }))
        .rule(Property::always("no tab is taken for a thief", |_, state: &State| has_granted_session(state)))
}

pub(super) async fn an_outdated_token_of_a_client_ends_the_grant() -> Stage {
    let world = World::new().await;
    let outdated = world.token(&world.redemption(&world.code().await)).await;
    let current = world.token(&world.renewal(&outdated)).await;
    world.app.advance(GRACE + SignedDuration::from_secs(1));
    let emails = world.app.table().keys().filter(|(pk, sk)| pk.starts_with("M#") && sk == "ENTRY").count();
    let request = world.request().await;
    let clients =
        [doing([world.refreshes(&outdated)]), doing([world.refreshes(&current)]), doing([world.ends_grant(), world.consents(&request)])];
    Stage::new(world.app, clients)
        .knowing("emails", &emails.to_string())
        .remembering(|_, table| table.count("U#", "GRANT#") == 0)
        .rule(Property::always("the outdated token is refused", |model, state: &State| {
            status(model, state, 0).is_none_or(|status| status == 400)
        }))
        .rule(Property::always("no token works after the grant has ended", |model, state: &State| {
            state.past.knew[1] != Some(1) || status(model, state, 1).is_none_or(|status| status == 400)
        }))
        .rule(Property::always("a new grant outlives the tokens of the old one", |model, state: &State| {
            !is_over(model, state) || (status(model, state, 2) == Some(200) && grants(state) == 1 && !has_granted_session(state))
        }))
        .rule(Property::always("the owner is told at most once", |model, state: &State| {
            let before: usize = model.scenario.known["emails"].parse().unwrap();
            state.table.count("M#", "ENTRY") <= before + 1
        }))
        .rule(Property::sometimes("the current token works until then", |model, state: &State| status(model, state, 1) == Some(200)))
}

/// The scopes of the only grant.
fn granted(state: &State) -> Option<OauthGrant> {
    let grant = state.table.iter().find(|(key, _)| key.1.starts_with("GRANT#"));
    grant.map(|(_, item)| serde_json::from_value(item.plain["d"].clone()).unwrap())
}

/// Whether a session of a client has not ended, and is covered by a grant.
fn has_granted_session(state: &State) -> bool {
    let grant = granted(state);
    state.table.live_sessions().filter_map(|session| session.client.as_ref()).any(|client| is_granted(client.grant, grant.as_ref()))
}

/// Two decisions about different scopes, made at the same time. With `existing`, the user has
/// granted something before.
async fn decisions(existing: bool) -> Stage {
    let world = World::new().await;
    if existing {
        world.code().await;
    }
    let [email, profile] = [world.request_with("openid email", "").await, world.request_with("openid profile", "").await];
    let clients = [doing([world.consents(&email)]), doing([world.consents(&profile)]), world.watches()];
    Stage::new(world.app, clients)
        .rule(Property::always("a user has at most one grant for a client", |_, state: &State| grants(state) <= 1))
        .rule(Property::always("both decisions give a code and are remembered", |model, state: &State| {
            let has = |name| granted(state).is_some_and(|grant| grant.scopes.has_name(name));
            !is_over(model, state) || (successes(model, state) == 3 && has("email") && has("profile"))
        }))
}

pub(super) async fn first_decisions_at_once_are_both_remembered() -> Stage {
    decisions(false).await
}

pub(super) async fn later_decisions_at_once_are_both_remembered() -> Stage {
    decisions(true).await
}

pub(super) async fn decisions_about_resources_at_once_are_both_remembered() -> Stage {
    const RESOURCES: [&str; 2] = ["https://notes.example.com/mcp", "https://letters.example.com/mcp"];
    let world = World::new().await;
    for identifier in RESOURCES {
        let body = json!({ "identifier": identifier, "name": "MCP" });
        assert_eq!(world.app.admin().post("/api/v1/internal/oauth-resources", body).await.status(), 201);
    }
    world.code().await;
    let [notes, letters] = [world.request_for("openid", "", RESOURCES[0]).await, world.request_for("openid", "", RESOURCES[1]).await];
    let clients = [doing([world.consents(&notes)]), doing([world.consents(&letters)]), world.watches()];
    Stage::new(world.app, clients).rule(Property::always("both decisions give a code and are remembered", |model, state: &State| {
        let has = |name: &str| granted(state).is_some_and(|grant| grant.resources.iter().any(|(resource, _)| resource.as_str() == name));
        !is_over(model, state) || (successes(model, state) == 3 && RESOURCES.iter().all(|name| has(name)))
    }))
}

pub(super) async fn an_ended_grant_does_not_come_back() -> Stage {
    let world = World::new().await;
    world.code().await;
    let serials = |(key, item): (&(String, String), &Value)| key.1.starts_with("GRANT#").then(|| item["d"]["M"]["serial"]["S"].clone());
    let serial = world.app.table().iter().find_map(serials).unwrap();
    let again = world.request_with("openid offline_access", "consent").await;
    let new = world.request().await;
    let clients = [doing([world.consents(&again)]), doing([world.ends_grant(), world.consents(&new)]), world.watches()];
    Stage::new(world.app, clients)
        .knowing("serial", serial.as_str().unwrap())
        .remembering(|scenario, table| {
            let mut grants = table.iter().filter(|(key, _)| key.1.starts_with("GRANT#"));
            grants.all(|(_, item)| item.plain["d"]["serial"] != scenario.known["serial"])
        })
        .rule(Property::always("sessions of an ended grant stay without a grant", |model, state: &State| {
            state.past.happened == 0 || granted(state).is_none_or(|grant| grant.serial.to_string() != model.scenario.known["serial"])
        }))
        .rule(Property::sometimes("the user gives a new grant", |model, state: &State| is_over(model, state) && granted(state).is_some()))
}
