//! Sends every event file except the events of the workers to the real handlers, to show that
//! operations understand API Gateway's requests.
//!
//! First, the data that the events need is created: a project with its keys, the user
//! `ada@example.com`, and items such as a code, a refresh token and an email. After that, each
//! event must succeed. The only exception is the event of the fallback, which does not match any
//! operation.

mod furnish;
mod openid;
mod owned_keys;
mod passkeys;
pub(crate) mod sent;
mod webhook;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use infra::Operation;
use jiff::SignedDuration;
use model::limit::Limits;
use model::project::apple_bundle::APPLE;
use support::stand_in::StandIn;
use support::{Answer, Snapshot, TestApp};
use tokio::sync::OnceCell;

pub(crate) use self::furnish::{CODE, KEY, PROJECT, TWIN, picture};
use self::furnish::{LINK, Placeholders, TWIN_KEY, TWIN_LINK, furnish};

/// The service with all data that the events need.
pub(crate) struct World {
    pub(crate) app: Arc<TestApp>,
    placeholders: Placeholders,
}

/// A snapshot of a world. A snapshot is used because creating a world takes longer than most tests.
pub(crate) struct FurnishedWorld {
    snapshot: Snapshot,
    placeholders: Placeholders,
}

impl FurnishedWorld {
    async fn from_events() -> &'static Self {
        static FURNISHED: OnceCell<FurnishedWorld> = OnceCell::const_new();
        FURNISHED.get_or_init(async || World::at(Limits::off(), SignedDuration::ZERO).await.kept()).await
    }

    /// Starts a world in the state of this snapshot.
    pub(crate) async fn begin(&self, limits: Limits) -> World {
        self.with(TestApp::start_from_at(&self.snapshot, limits, StandIn::lasting(APPLE)).await)
    }

    fn with(&self, app: TestApp) -> World {
        World { app: Arc::new(app), placeholders: self.placeholders.clone() }
    }
}

/// A snapshot of a world with two identical projects.
pub(crate) struct Twins {
    furnished: FurnishedWorld,
    /// The second project's placeholders.
    placeholders: Placeholders,
}

impl Twins {
    async fn from_events() -> &'static Self {
        static TWINS: OnceCell<Twins> = OnceCell::const_new();
        let make = async || {
            let world = World::new(Limits::off()).await;
            let placeholders = furnish(&world.app, TWIN, TWIN_KEY).await;
            let own = [(PROJECT, TWIN.to_owned()), (KEY, TWIN_KEY.to_owned()), (LINK, format!("code={TWIN_LINK}"))];
            Self { furnished: world.kept(), placeholders: own.into_iter().chain(placeholders).collect() }
        };
        TWINS.get_or_init(make).await
    }

    /// Starts a world in the state of this snapshot, as seen by each of the two projects.
    pub(crate) async fn begin(&self) -> (World, World) {
        let world = self.furnished.begin(Limits::off()).await;
        let twin = World { app: Arc::clone(&world.app), placeholders: self.placeholders.clone() };
        (world, twin)
    }

    /// A snapshot of the current state of these worlds, for tests that do not need a recorder.
    pub(crate) fn of((world, twin): (World, World)) -> Self {
        let furnished = world.kept();
        let furnished = FurnishedWorld { snapshot: furnished.snapshot.unobserved(), ..furnished };
        Self { furnished, placeholders: twin.placeholders }
    }
}

impl World {
    pub(crate) async fn new(limits: Limits) -> Self {
        FurnishedWorld::from_events().await.begin(limits).await
    }

    /// Like [`Self::new`], but for tests that do not need a recorder
    /// ([`TestApp::start_unobserved`]).
    pub(crate) async fn unobserved(limits: Limits) -> Self {
        let furnished = FurnishedWorld::from_events().await;
        furnished.with(TestApp::start_from_at(&furnished.snapshot.unobserved(), limits, StandIn::lasting(APPLE)).await)
    }

    /// A world with the same random numbers as every world created by this function.
    pub(crate) async fn equal(limits: Limits) -> Self {
        let furnished = FurnishedWorld::from_events().await;
        furnished.with(TestApp::start_equal_at(&furnished.snapshot, limits, StandIn::lasting(APPLE)))
    }

    /// A world in which requests to providers fail.
    pub(crate) async fn without_providers(limits: Limits) -> Self {
        let furnished = FurnishedWorld::from_events().await;
        furnished.with(TestApp::start_from(&furnished.snapshot, limits).await)
    }

    /// A world whose clock is ahead of the tests' start by this much.
    pub(crate) async fn at(limits: Limits, after_start: SignedDuration) -> Self {
        let app = TestApp::start_with(limits).await;
        app.advance(after_start);
        app.publish(&gateway::content::sample(Some("https://site.example"))).await;
        let placeholders = furnish(&app, PROJECT, KEY).await;
        Self { app: Arc::new(app), placeholders }
    }

    /// The world of the events, and a second project with the same users, addresses, codes and
    /// teams. The events of the second project differ only in the project's id, in keys and tokens,
    /// and in the codes of links.
    pub(crate) async fn with_twin() -> (Self, Self) {
        Twins::from_events().await.begin().await
    }

    /// The same world, but functions handle the requests ([`TestApp::as_functions`]).
    pub(crate) fn of_functions(self) -> Self {
        Self { app: Arc::new(self.app.as_functions()), ..self }
    }

    /// A snapshot of this world, which other worlds can start from.
    pub(crate) fn kept(self) -> FurnishedWorld {
        FurnishedWorld { snapshot: self.app.snapshot(), placeholders: self.placeholders }
    }

    /// Sends an event by name, such as `auth/password-sign-in`.
    pub(crate) async fn send(&self, name: &str) -> Answer {
        Answer::read(self.app.answer(self.request(name)).await).await
    }

    /// Sends an event by name, with a change to its JSON body.
    pub(crate) async fn send_with(&self, name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Answer {
        let (mut parts, body) = self.request(name).into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let body = match serde_json::from_slice(&bytes) {
            Ok(mut body) => {
                change(&mut body);
                parts.headers.remove(http::header::CONTENT_LENGTH);
                Body::from(body.to_string())
            }
            Err(_) => Body::from(bytes),
        };
        Answer::read(self.app.answer(http::Request::from_parts(parts, body)).await).await
    }

    /// The text of an event, as API Gateway sends it.
    pub(crate) fn event(&self, name: &str) -> String {
        self.placeholders.iter().fold(text(name), |text, (placeholder, value)| text.replace(placeholder, value))
    }

    pub(crate) fn request(&self, name: &str) -> http::Request<Body> {
        let event = self.event(name);
        let request = lambda_http::request::from_str(&event).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (parts, body) = request.into_parts();
        let mut request = http::Request::new(Body::from(body.to_vec()));
        *request.method_mut() = parts.method;
        // As in HTTP's request line, the URI does not contain a host.
        *request.uri_mut() = parts.uri.path_and_query().unwrap().as_str().parse().unwrap();
        *request.headers_mut() = parts.headers;
        request
    }
}

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../events/{name}.json"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The name of an operation's event.
pub(crate) fn name(operation: &Operation) -> String {
    format!("{}/{}", operation.area(), operation.short_name())
}

/// The status of the response to the event if the operation succeeds.
pub(crate) fn success(operation: &Operation) -> u16 {
    match operation.route.name {
        // In these events, the provider has denied access, so the app gets the error.
        "auth-oauth-callback"
        | "auth-oauth-callback-form"
        | "hosted-authorization-show"
        | "hosted-authorization-submit"
        | "hosted-logout-show"
        | "hosted-logout-submit" => 303,
        _ => operation.description.status.unwrap_or(200),
    }
}

/// The name of the operation and of the event. The events of the workers are not included.
pub(crate) fn events() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events");
    let areas = std::fs::read_dir(root).unwrap().map(|area| area.unwrap().path()).filter(|area| !area.ends_with("workers"));
    let files = areas.flat_map(|area| std::fs::read_dir(area).unwrap().map(|file| file.unwrap().path()));
    let names = |file: PathBuf| {
        let (area, event) = (file.parent().unwrap().file_name().unwrap(), file.file_stem().unwrap());
        (format!("{}-{}", area.display(), event.display()), format!("{}/{}", area.display(), event.display()))
    };
    let mut events: Vec<(String, String)> = files.map(names).collect();
    events.sort();
    events
}

#[tokio::test]
async fn every_event_of_an_operation_succeeds() {
    let all = infra::operations::all();
    for (name, sent) in sent::SentEvents::get().await.iter() {
        let answer = &sent.answer;
        let expected = all.iter().find(|operation| operation.route.name == name).map_or(405, success);
        assert_eq!(answer.status(), expected, "{name}: {}", answer.text());
    }
}
