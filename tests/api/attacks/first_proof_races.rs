//! The owner of an address proves it while the creator of the account changes the account or signs
//! in again. The tests interrupt the proof and the change at each of their steps.

use std::cell::Cell;

use model::limit::Limits;
use serde_json::{Value, json};
use support::provider::Provider;
use support::until::interrupted;
use support::{Answer, Caller, SignedInUser, Snapshot, TestApp};

use super::{CHANNELS, NEW, PASSWORD, added, addresses, password_sign_in, reset_code, user, verification_code};
use crate::auth::oauth_callback::{self, TOKEN, exchange_of, landed, parameter};

const ADA: &str = "ada@example.com";
/// A second address of the creator.
const OTHER: &str = "eve@example.com";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const ATTACKERS: &str = "the attacker's battery";
const INTERFERENCES: usize = 9;

/// The creator's action. `code` verifies [`OTHER`], and is needed only for the last action.
async fn interfere(own: Caller, number: usize, code: Option<String>) -> Answer {
    match number {
        0 => own.post("/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": ATTACKERS })).await,
        1 => own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await,
        2 => own.post(CHANNELS, json!({ "user_id": "me", "value": OTHER, "type": "email", "used_for_auth": true })).await,
        3 => own.patch("/api/v1/users/me", json!({ "primary_email": OTHER })).await,
        4 => own.without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await,
        5 => own.delete("/api/v1/auth/sessions?user_id=me").await,
        6 => own.patch("/api/v1/users/me", json!({ "otp_auth_enabled": false })).await,
        7 => {
            let stranger = own.without("x-stack-access-token");
            stranger.post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": PASSWORD })).await
        }
        _ => own.without("x-stack-access-token").post("/api/v1/contact-channels/verify", json!({ "code": code })).await,
    }
}

/// The method that the owner uses to prove the address.
#[derive(Debug, Clone, Copy)]
enum Way {
    Reset,
    SignInCode,
    Provider,
}

/// A proof that is complete except for its last requests.
#[derive(Clone)]
enum Proof {
    Posted(&'static str, Value),
    /// The provider's redirect back to the service, and the exchange that follows it.
    Provided {
        code: String,
        state: String,
        exchange: Value,
    },
}

impl Proof {
    async fn begin(app: &TestApp, provider: &Provider, way: Way) -> Self {
        match way {
            Way::Reset => Self::Posted("/api/v1/auth/password/reset", json!({ "code": reset_code(app, ADA).await, "password": NEW })),
            Way::SignInCode => Self::Posted("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code(ADA).await })),
            Way::Provider => {
                let account = json!({ "sub": "acme|1", "email": ADA, "email_verified": true });
                let (code, state) = provider.allow(app, &oauth_callback::begin(app, &[]).await, account);
                Self::Provided { code, state, exchange: exchange_of(app, "") }
            }
        }
    }

    /// Sends the last requests from a caller without a session, and returns the last response.
    async fn send(self, app: &TestApp) -> Answer {
        match self {
            Self::Posted(path, body) => app.client().post(path, body).await,
            Self::Provided { code, state, mut exchange } => {
                let back = landed(&oauth_callback::come_back(app, &code, &state).await);
                exchange["code"] = parameter(&back, "code").into();
                app.anonymous().post(TOKEN, exchange).await
            }
        }
    }
}

/// The creator's account when both the creator and the owner are about to act.
struct World {
    snapshot: Snapshot,
    eve: SignedInUser,
    code: Option<String>,
    /// `None` if each round needs a new proof.
    proof: Option<Proof>,
}

impl World {
    async fn new(app: &TestApp, provider: &Provider, way: Way, takes_code: bool) -> Self {
        let eve = app.sign_up(ADA).await;
        let mut code = None;
        if takes_code {
            let channel = added(app, &eve, OTHER).await;
            code = Some(verification_code(app, &eve, &channel, OTHER).await);
        }
        // The provider accepts each of its codes only once.
        let proof = match way {
            Way::Reset | Way::SignInCode => Some(Proof::begin(app, provider, way).await),
            Way::Provider => None,
        };
        let snapshot = app.snapshot();
        Self { snapshot, eve, code, proof }
    }
}

/// The part that is interrupted halfway while the other part runs.
#[derive(Debug, Clone, Copy)]
enum HeldPart {
    Proof,
    Action,
}

/// Lets the creator act at each step of the proof, or the owner prove the address at each step of
/// the creator's action.
async fn races(way: Way, held: &[HeldPart]) {
    let (first, provider) = oauth_callback::start().await;
    let empty = first.snapshot();
    let another = TestApp::start_from(&empty, Limits::off()).await;
    let worlds = [World::new(&first, &provider, way, false).await, World::new(&another, &provider, way, true).await];
    for number in 0..INTERFERENCES {
        let world = &worlds[usize::from(number == INTERFERENCES - 1)];
        for held in held {
            let (mut calls, mut rounds) = (0, 0);
            while let Some(reached) = round(world, &provider, way, number, (*held, calls)).await {
                (calls, rounds) = (reached + 1, rounds + 1);
            }
            assert!(rounds > 1, "{way:?}, {number}, {held:?}: {rounds}");
        }
    }
}

/// Runs one round, and interrupts the proof or the action after this many calls to the table, or
/// where it next waits. The interrupted part continues when the other part is done. Returns the
/// number of calls before the interruption. `None` if there were fewer calls.
async fn round(world: &World, provider: &Provider, way: Way, number: usize, (held, calls): (HeldPart, usize)) -> Option<usize> {
    let app = &TestApp::start_from(&world.snapshot, Limits::off()).await;
    let proof = match &world.proof {
        Some(proof) => proof.clone(),
        None => Proof::begin(app, provider, way).await,
    };
    let reached = Cell::new(0);
    let is_there = || {
        reached.set(app.recorder.count());
        reached.get() >= calls
    };
    app.recorder.clear();
    app.recorder.step();
    let (proof, interference) = (proof.send(app), interfere(app.signed_in(&world.eve), number, world.code.clone()));
    let (proof, interference) = match held {
        HeldPart::Proof => {
            let (proof, interference) = interrupted(proof, is_there, interference).await;
            (proof, interference?)
        }
        HeldPart::Action => {
            let (interference, proof) = interrupted(interference, is_there, proof).await;
            (proof?, interference)
        }
    };
    app.recorder.clear();
    let at = format!("{way:?}, {number}, {held:?}, {calls}");
    assert!([200, 201, 400, 401, 404].contains(&interference.status()), "{at}: {}", interference.text());
    if proof.status() != 200 {
        // The creator's change came first, and invalidated the code or disabled sign-in codes. The
        // failed proof has changed nothing, and the next proof succeeds.
        let refusals = ["VERIFICATION_CODE_NOT_FOUND", "MAGIC_LINK_NOT_ENABLED", "INVALID_AUTHORIZATION_CODE"];
        assert!(refusals.contains(&proof.code().as_str()), "{at}: {}", proof.text());
        let code = reset_code(app, ADA).await;
        assert_eq!(app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await.status(), 200);
    }
    assert_is_the_owners(app, &world.eve, &interference, &at).await;
    Some(reached.get())
}

async fn assert_is_the_owners(app: &TestApp, eve: &SignedInUser, interference: &Answer, at: &str) {
    assert_eq!(addresses(app, &eve.user_id).await, [(ADA.to_owned(), true)], "{at}");
    let account = user(app, &eve.user_id).await;
    assert_eq!(account["requires_totp_mfa"], false, "{at}");
    for password in [PASSWORD, ATTACKERS] {
        assert_eq!(password_sign_in(app, ADA, password).await.status(), 400, "{at}");
    }
    assert_eq!(app.signed_in(eve).get("/api/v1/users/me").await.status(), 401, "{at}");
    let refresh = app.signed_in(eve).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refresh.status(), 401, "{at}");
    // A token that the creator got during the proof does not open the account.
    if let Some(token) = interference.json()["access_token"].as_str() {
        assert_eq!(app.client().with("x-stack-access-token", token).get("/api/v1/users/me").await.status(), 401, "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_wins_the_account_over_a_concurrent_creator() {
    races(Way::Reset, &[HeldPart::Proof, HeldPart::Action]).await;
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_code_wins_the_account_over_a_concurrent_creator() {
    races(Way::SignInCode, &[HeldPart::Proof, HeldPart::Action]).await;
}

// The clock runs in real time, because these proofs use the network.
#[tokio::test]
async fn a_provider_s_proof_wins_the_account_over_a_creator_who_acts_meanwhile() {
    races(Way::Provider, &[HeldPart::Proof]).await;
}

#[tokio::test]
async fn a_provider_s_proof_during_an_action_of_the_creator_wins_the_account() {
    races(Way::Provider, &[HeldPart::Action]).await;
}
