//! OAuth flows that continue after their session has ended. A thief with a stolen access token
//! starts to link the thief's provider account. If the user is anonymous, the thief starts to sign
//! up as this user. The session then ends, and the thief completes the flow.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, SignedInUser, TestApp};

use super::user;
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, begin, come_back, error_of, exchange, landed, parameter};
use crate::stored;

/// The lifetime of a short session: shorter than the time limit of a flow at the provider, and not
/// longer than the lifetime of the code that the app receives.
const SHORT: SignedDuration = SignedDuration::from_mins(5);

/// The purpose of the thief's flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Adds a provider account as a sign-in method.
    Link,
    /// Enables sign-in with a linked account.
    LinkAgain,
    /// Turns the anonymous user into an ordinary user whom the thief controls.
    Upgrade,
}

const AIMS: [Aim; 3] = [Aim::Link, Aim::LinkAgain, Aim::Upgrade];

/// The event that ends the thief's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    SignedOut,
    ByAnotherSession,
    ByServer,
    AllButTheOwners,
    AllByServer,
    Expired,
    Idle,
}

const ENDS: [End; 7] =
    [End::SignedOut, End::ByAnotherSession, End::ByServer, End::AllButTheOwners, End::AllByServer, End::Expired, End::Idle];

struct World {
    app: TestApp,
    provider: Provider,
    aim: Aim,
    /// The owner's session.
    owner: SignedInUser,
    /// The stolen session, which is another session of the same user.
    stolen: SignedInUser,
    stolen_id: String,
}

fn accounts_path(world: &World) -> String {
    format!("/api/v1/oauth-providers?user_id={}", world.owner.user_id)
}

fn mallory() -> Value {
    json!({ "sub": "acme|666", "email": "mallory@example.com", "email_verified": true })
}

impl World {
    async fn new(aim: Aim, end: Option<End>) -> Self {
        let (app, provider) = oauth_callback::start().await;
        let owner = match aim {
            Aim::Upgrade => stored::anonymous_user(&app).await,
            Aim::Link | Aim::LinkAgain => app.sign_in_by_mail("ada@example.com").await,
        };
        if aim == Aim::LinkAgain {
            let account = json!({
                "user_id": owner.user_id, "provider_config_id": "acme", "account_id": "acme|666", "allow_sign_in": false,
                "allow_connected_accounts": true,
            });
            assert_eq!(app.server().post("/api/v1/oauth-providers", account).await.status(), 201);
        }
        if end == Some(End::Idle) {
            app.configure(json!({ "config": { "session_max_idle_seconds": SHORT.as_secs() } })).await;
        }
        let life = if end == Some(End::Expired) { SHORT } else { SignedDuration::from_hours(1) };
        let body = json!({ "user_id": owner.user_id, "expires_in_millis": life.as_millis() });
        let mut begun = app.server().post("/api/v1/auth/sessions", body).await.json();
        begun["user_id"] = owner.user_id.clone().into();
        let stolen = SignedInUser::of(&owner.email, &begun);
        let sessions = own(&app, &stolen).get("/api/v1/auth/sessions").await.json();
        let current = sessions["items"].as_array().unwrap().iter().find(|session| session["is_current_session"] == true).unwrap();
        let stolen_id = current["id"].as_str().unwrap().to_owned();
        Self { app, provider, aim, owner, stolen, stolen_id }
    }

    /// Starts the flow and consents at the provider. Returns the provider's code and the state.
    async fn begin(&self) -> (String, String) {
        let token = ("token", self.stolen.access_token.as_str());
        let location =
            if self.aim == Aim::Upgrade { begin(&self.app, &[token]).await } else { begin(&self.app, &[("type", "link"), token]).await };
        self.provider.allow(&self.app, &location, mallory())
    }

    async fn end(&self, end: End) {
        let app = &self.app;
        let done = match end {
            End::SignedOut => own(app, &self.stolen).delete("/api/v1/auth/sessions/current").await,
            End::ByAnotherSession => own(app, &self.owner).delete(&format!("/api/v1/auth/sessions/{}?user_id=me", self.stolen_id)).await,
            End::ByServer => app.server().delete(&format!("/api/v1/auth/sessions/{}", self.stolen_id)).await,
            End::AllButTheOwners => own(app, &self.owner).delete("/api/v1/auth/sessions?user_id=me").await,
            End::AllByServer => app.server().delete(&format!("/api/v1/auth/sessions?user_id={}", self.owner.user_id)).await,
            End::Expired | End::Idle => return app.advance(SHORT),
        };
        assert_eq!(done.status(), 200, "{end:?}: {}", done.text());
    }

    /// The fields of the user that the flow would change.
    async fn seen(&self) -> Value {
        let user = user(&self.app, &self.owner.user_id).await;
        let accounts = self.app.server().get(&accounts_path(self)).await.json();
        json!([user["is_anonymous"], user["primary_email"], user["oauth_providers"], accounts["items"]])
    }

    fn sessions(&self) -> usize {
        let of_user = |(pk, sk): &&(String, String)| pk.ends_with(&self.owner.user_id) && sk.starts_with("SESSION#");
        self.app.table().keys().filter(of_user).count()
    }
}

/// A caller with the user's session. Anonymous users are accepted.
fn own(app: &TestApp, user: &SignedInUser) -> support::Caller {
    app.signed_in(user).with("x-stack-allow-anonymous-user", "true")
}

fn user_of(app: &TestApp, answer: &Answer) -> support::Caller {
    app.client().with("x-stack-access-token", answer.json()["access_token"].as_str().unwrap())
}

#[tokio::test]
async fn a_session_that_ends_during_an_oauth_flow_links_no_account() {
    for aim in AIMS {
        for end in ENDS {
            let world = World::new(aim, Some(end)).await;
            let (code, state) = world.begin().await;
            world.end(end).await;
            let (before, sessions) = (world.seen().await, world.sessions());
            let url = landed(&come_back(&world.app, &code, &state).await);
            if aim == Aim::Upgrade {
                // The flow no longer depends on the session, and signs up a new user.
                let signed_up = exchange(&world.app, &parameter(&url, "code")).await;
                let me = user_of(&world.app, &signed_up).get("/api/v1/users/me").await.json();
                assert_ne!(me["id"], json!(world.owner.user_id), "{end:?}");
            } else {
                assert_eq!(error_of(&url), "CANNOT_GET_OWN_USER_WITHOUT_USER", "{aim:?}, {end:?}");
            }
            assert_eq!((world.seen().await, world.sessions()), (before, sessions), "{aim:?}, {end:?}");
        }
    }
}

#[tokio::test]
async fn a_session_that_ends_before_the_code_exchange_links_no_account() {
    for aim in AIMS {
        for end in ENDS {
            let world = World::new(aim, Some(end)).await;
            let (code, state) = world.begin().await;
            if matches!(end, End::Expired | End::Idle) {
                // The code is issued a minute into the flow, so that it does not expire before the
                // session.
                world.app.advance(SignedDuration::from_mins(1));
            }
            let code = parameter(&landed(&come_back(&world.app, &code, &state).await), "code");
            match end {
                End::Expired | End::Idle => world.app.advance(SHORT - SignedDuration::from_mins(1)),
                end => world.end(end).await,
            }
            let (before, sessions) = (world.seen().await, world.sessions());
            for _ in 0..2 {
                assert_error(&exchange(&world.app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
                assert_eq!((world.seen().await, world.sessions()), (before.clone(), sessions), "{aim:?}, {end:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_oauth_flow_of_a_live_session_succeeds() {
    for aim in AIMS {
        let world = World::new(aim, Some(End::Idle)).await;
        let (code, state) = world.begin().await;
        // The owner's other session, which did not start the flow, ends.
        assert_eq!(own(&world.app, &world.owner).delete("/api/v1/auth/sessions/current").await.status(), 200);
        world.app.advance(SHORT - SignedDuration::from_secs(1));
        let url = landed(&come_back(&world.app, &code, &state).await);
        let done = exchange(&world.app, &parameter(&url, "code")).await;
        assert_eq!(done.status(), 200, "{aim:?}: {}", done.text());
        let me = user_of(&world.app, &done).get("/api/v1/users/me").await.json();
        assert_eq!((&me["id"], &me["is_anonymous"]), (&json!(world.owner.user_id), &json!(false)), "{aim:?}");
        assert_eq!(me["oauth_providers"][0]["account_id"], "acme|666", "{aim:?}");
    }
}

#[tokio::test]
async fn signing_in_with_a_provider_requires_no_anonymous_session() {
    let (app, provider) = oauth_callback::start().await;
    let (ada, _) = oauth_callback::sign_in(&app, &provider, oauth_callback::ada()).await;
    let visitor = stored::anonymous_user(&app).await;
    let location = begin(&app, &[("token", &visitor.access_token)]).await;
    let (code, state) = provider.allow(&app, &location, oauth_callback::ada());
    let code = parameter(&landed(&come_back(&app, &code, &state).await), "code");
    assert_eq!(own(&app, &visitor).delete("/api/v1/auth/sessions/current").await.status(), 200);
    let signed_in = exchange(&app, &code).await;
    assert_eq!(user_of(&app, &signed_in).get("/api/v1/users/me").await.json()["id"], json!(ada.user_id));
}

/// The session may end between the flow's read and its write.
#[tokio::test]
async fn both_halves_of_a_flow_are_conditional_on_its_session() {
    for aim in AIMS {
        let world = World::new(aim, None).await;
        let (code, state) = world.begin().await;
        world.app.recorder.clear();
        let code = parameter(&landed(&come_back(&world.app, &code, &state).await), "code");
        assert_eq!(exchange(&world.app, &code).await.status(), 200);
        let of_session = |text: &str| {
            let body: Value = serde_json::from_str(text).unwrap();
            let items = body["TransactItems"].as_array().cloned().unwrap_or_default();
            items.iter().any(|item| item["ConditionCheck"]["Key"]["sk"]["S"] == format!("SESSION#{}", world.stolen_id))
        };
        let writes = world.app.recorder.writes();
        let transactions = writes.iter().filter(|(operation, _)| operation == "TransactWriteItems");
        assert_eq!(transactions.filter(|(_, text)| of_session(text)).count(), 2, "{aim:?}");
    }
}
