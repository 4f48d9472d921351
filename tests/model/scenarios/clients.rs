//! OAuth clients: their authorization codes, their refresh tokens, which rotate, and the grants of
//! users.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use jiff::SignedDuration;
use model::openid::grant::OauthGrant;
use model::session::rotation::{GRACE, RefreshToken};
use model::sign_in::authorization::challenge;
use serde_json::{Value, json};
use stateright::Property;
use support::{SignedInUser, TestApp};
use tower::ServiceExt as _;
use url::Url;
use url::form_urlencoded::Serializer;
use wire::id::OauthClientId;

use super::{ADA, Stage, doing, post, redeeming, send};
use crate::explored::{Exploration, State};
use crate::rules::{answers, is_over, successes};
use crate::service::{Answer, Task};
use crate::table::Entity;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const RETURN: &str = "https://notes.example.com/callback";
const AUTHORIZATIONS: &str = "/api/v1/auth/oauth2/authorizations";

/// An application of somebody else, and a user of the project.
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
        let parameters = [
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", RETURN),
            ("scope", "openid offline_access"),
            ("code_challenge", &challenge(VERIFIER)),
            ("code_challenge_method", "S256"),
        ];
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

    /// The refresh token that a request to the token endpoint gives.
    async fn token(&self, fields: &[(&'static str, String)]) -> String {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.app.anonymous().request("POST", &self.endpoint()).form(&fields).send().await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.json()["refresh_token"].as_str().unwrap().to_owned()
    }

    fn asks(&self, fields: Vec<(&'static str, String)>) -> Task {
        let (caller, path) = (self.app.anonymous(), self.endpoint());
        Arc::new(move |_, router| {
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let request = caller.request("POST", &path).form(&fields).build();
            Box::pin(async move {
                let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
                let answer: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
                Answer { status: parts.status.as_u16(), code: answer["error"].as_str().map(str::to_owned) }
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

    fn ends_grant(&self) -> Task {
        let id = OauthGrant::id(OauthClientId::parse(&self.client).unwrap());
        send(&self.app.signed_in(&self.ada), "DELETE", format!("/api/v1/users/me/grants/{id}"), None)
    }
}

/// The number of grants.
fn grants(state: &State) -> usize {
    state.table.count("U#", "GRANT#")
}

/// Whether a client's session works: it has not ended, and the grant that it rests on exists.
fn is_served(state: &State) -> bool {
    let is_of_client = state.table.live_sessions().any(|session| session.client.is_some());
    is_of_client && grants(state) > 0
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
            !is_over(model, state) || (successes(model, state) == 1 && !is_served(state))
        }))
        .rule(Property::sometimes("the session works until then", |_, state: &State| is_served(state)))
}

pub(super) async fn tabs_that_refresh_at_once_share_a_successor() -> Stage {
    let world = World::new().await;
    let token = world.token(&world.redemption(&world.code().await)).await;
    let first = RefreshToken::parse(&token).unwrap().digest();
    let clients = [(); 3].map(|()| doing([world.refreshes(&token)]));
    Stage::new(world.app, clients)
        .knowing("first", first.as_str())
        .rule(Property::always("every tab gets tokens, even if a response is lost", |model, state: &State| {
            !is_over(model, state) || successes(model, state) == 3
        }))
        .rule(Property::always("the token is replaced once", |model, state: &State| {
            let first = &model.scenario.known["first"];
            let mut sessions = state.table.iter().filter_map(|(_, item)| match &item.entity {
                Entity::Session(session) => session.client.as_ref()?.rotation.clone(),
                _ => None,
            });
            sessions.all(|rotation| match &rotation.previous {
                None => rotation.digest.as_str() == first,
                Some(previous) => previous.as_str() == first,
            })
        }))
        .rule(Property::always("no tab is taken for a thief", |_, state: &State| is_served(state)))
}

pub(super) async fn an_outdated_token_of_a_client_ends_the_grant() -> Stage {
    let world = World::new().await;
    let outdated = world.token(&world.redemption(&world.code().await)).await;
    let current = world.token(&world.renewal(&outdated)).await;
    world.app.advance(GRACE + SignedDuration::from_secs(1));
    let emails = world.app.table().keys().filter(|(pk, sk)| pk.starts_with("M#") && sk == "ENTRY").count();
    let clients =
        [doing([world.refreshes(&outdated)]), doing([world.refreshes(&current)]), doing([world.ends_grant(), world.refreshes(&current)])];
    Stage::new(world.app, clients)
        .knowing("emails", &emails.to_string())
        .remembering(|_, table| table.count("U#", "GRANT#") == 0)
        .rule(Property::always("the outdated token is refused", |model, state: &State| {
            status(model, state, 0).is_none_or(|status| status == 400)
        }))
        .rule(Property::always("no token works after the grant has ended", |model, state: &State| {
            let told = answers(model, state).zip(&state.past.knew);
            told.into_iter().skip(1).all(|(answer, knew)| *knew != Some(1) || answer.is_none_or(|status| status == 400))
        }))
        .rule(Property::always("in the end, the grant and its sessions are gone", |model, state: &State| {
            !is_over(model, state) || !is_served(state)
        }))
        .rule(Property::always("the owner is told at most once", |model, state: &State| {
            let before: usize = model.scenario.known["emails"].parse().unwrap();
            state.table.count("M#", "ENTRY") <= before + 1
        }))
        .rule(Property::sometimes("the current token works until then", |model, state: &State| status(model, state, 1) == Some(200)))
}

pub(super) async fn decisions_at_once_leave_at_most_one_grant() -> Stage {
    let world = World::new().await;
    // The grant exists, so that it can be ended.
    world.code().await;
    let [first, second] = [world.request().await, world.request().await];
    let clients = [doing([world.consents(&first)]), doing([world.consents(&second)]), doing([world.ends_grant()])];
    Stage::new(world.app, clients)
        .rule(Property::always("a user has at most one grant for a client", |_, state: &State| grants(state) <= 1))
        .rule(Property::always("every decision gives a code", |model, state: &State| {
            !is_over(model, state) || (status(model, state, 0) == Some(200) && status(model, state, 1) == Some(200))
        }))
        .rule(Property::sometimes("the grant is ended after both decisions", |model, state: &State| {
            is_over(model, state) && grants(state) == 0
        }))
}
