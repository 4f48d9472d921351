//! Sends every operation's event. A change adds one entry. The entry contains the caller, access
//! level, target and fields, but no other values from the request. The test covers new operations
//! automatically.

use std::collections::BTreeSet;

use api::http::{Route, Trail};
use api::product::trail::{parameters, target_kind};
use axum::body::Body;
use http::HeaderMap;
use http_body_util::BodyExt as _;
use infra::operations;
use model::limit::Limits;
use model::project::KeyKind;
use model::trail::{Access, Actor, Entry, Event};
use serde_json::Value;
use support::secrets::{self, Secret};
use wire::id::{ProjectId, TrailEntryId, UserId};

use super::{project_trail, text};
use crate::events::{PROJECT, World, name, success};

/// The events of these operations change nothing, because the provider denied access, or because a
/// refresh token is exchanged for an access token.
const CHANGE_NOTHING: [&str; 3] = ["auth-oauth-callback", "auth-oauth-callback-form", "auth-oauth-token"];
/// The minimum length of the values that are checked. Shorter values may also occur by chance.
const MIN_LENGTH: usize = 5;

/// A request, and the entries that it has added.
struct Trial {
    world: World,
    headers: HeaderMap,
    path: String,
    body: Value,
    secrets: Vec<Secret>,
    status: u16,
    entries: Vec<Entry>,
}

impl Trial {
    async fn run(event: &str) -> Self {
        let world = World::unobserved(Limits::standard()).await;
        let (parts, body) = world.request(event).into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let mut found = secrets::from_request(&parts, &body);
        let (headers, path) = (parts.headers.clone(), parts.uri.path().to_owned());
        let value = serde_json::from_slice(&body).unwrap_or_default();
        let before = ids(&world).await;
        let answer = world.app.answer(http::Request::from_parts(parts, Body::from(body))).await;
        let (parts, body) = answer.into_parts();
        found.extend(secrets::from_answer(&parts, &body.collect().await.unwrap().to_bytes()));
        let entries = since(&world, &before).await;
        Self { world, headers, path, body: value, secrets: found, status: parts.status.as_u16(), entries }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(format!("x-service-{name}"))?.to_str().ok()
    }

    fn access(&self) -> Option<Access> {
        Some(match self.header("access-type")? {
            "client" => Access::Client,
            "server" => Access::Server,
            "admin" => Access::Admin,
            other => panic!("{other}"),
        })
    }

    /// The caller, as shown by the request's headers. For a sign-in, the new session shows the
    /// caller.
    async fn actor(&self, entry: &Entry) -> Actor {
        let (app, project) = (&self.world.app.app, ProjectId::parse(self.header("project-id").unwrap_or(PROJECT)).unwrap());
        let key = |name: &str| self.header(name).map(str::to_owned);
        let key = match self.access() {
            Some(Access::Server) => key("secret-server-key").map(|key| (key, KeyKind::SecretServer)),
            Some(Access::Admin) => key("super-secret-admin-key").map(|key| (key, KeyKind::SuperSecretAdmin)),
            Some(Access::Client) | None => None,
        };
        let claims = |name: &str| self.header(name).map(|token| app.signer.verify(token, app.clock.now()).unwrap());
        match (key, claims("access-token"), claims("admin-access-token")) {
            (_, _, Some(owner)) => Actor::Operator { user_id: owner.sub },
            (Some((key, kind)), ..) => {
                let key_set_id = app.store.api_key(&project, &key.into()).await.unwrap().unwrap().set_id.into();
                Actor::Key { key_set_id, kind }
            }
            (None, Some(own), None) => Actor::User { user_id: own.sub, session_id: own.refresh_token_id },
            // A user who signs in is identified by the new session.
            (None, None, None) if entry.events.contains(&Event::SignIn) => {
                let Actor::User { user_id, session_id } = entry.actor else { panic!("{entry:?}") };
                let session = app.store.session(&project, entry.user_id.unwrap(), session_id).await.unwrap();
                assert!(session.is_some_and(|session| session.created_at == entry.at), "{entry:?}");
                Actor::User { user_id: entry.user_id.unwrap_or(user_id), session_id }
            }
            (None, None, None) => Actor::Anonymous,
        }
    }

    /// The targets and the user named in the path, if any.
    fn named(&self, route: &Route) -> (Vec<String>, Option<UserId>) {
        let value = |parameter: &str| {
            let mut pairs = route.path.split('/').zip(self.path.split('/'));
            pairs.find(|(of, _)| *of == format!("{{{parameter}}}")).map(|(_, value)| value.to_owned()).unwrap()
        };
        let kinds = parameters(route.path).filter_map(|(before, parameter)| Some((target_kind(before, parameter)?, value(parameter))));
        let targets = kinds.map(|(kind, id)| format!("{} {id}", serde_json::to_value(kind).unwrap().as_str().unwrap())).collect();
        let user =
            parameters(route.path).find(|(_, parameter)| *parameter == "user_id").and_then(|_| UserId::parse(&value("user_id")).ok());
        (targets, user)
    }
}

/// The trails of the events' project and of `internal`.
async fn all(world: &World) -> Vec<Entry> {
    let mut entries = project_trail(&world.app, &ProjectId::parse(PROJECT).unwrap()).await;
    entries.extend(project_trail(&world.app, &ProjectId::internal()).await);
    entries
}

async fn ids(world: &World) -> BTreeSet<TrailEntryId> {
    all(world).await.into_iter().map(|entry| entry.id).collect()
}

/// The entries that are not in `before`. The order of entries from the same millisecond is not
/// defined.
async fn since(world: &World, before: &BTreeSet<TrailEntryId>) -> Vec<Entry> {
    all(world).await.into_iter().filter(|entry| !before.contains(&entry.id)).collect()
}

/// The strings in a body.
fn values(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(values).collect(),
        Value::Object(fields) => fields.values().flat_map(values).collect(),
        _ => Vec::new(),
    }
}

/// Whether an entry may contain this value of a request. The ids of existing items are recorded.
/// Short values and single words occur by chance. Of the other values, only the name of a target
/// may be recorded.
fn is_told(value: &str) -> bool {
    uuid::Uuid::try_parse(value).is_ok() || value.len() < MIN_LENGTH || value.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn assert_tells_nothing_sent(name: &str, trial: &Trial, entry: &Entry) {
    let (whole, text) = (text(entry), text(&Entry { targets: Vec::new(), ..entry.clone() }));
    for secret in &trial.secrets {
        // The list of settings to reset is in the field `keys`, but contains names instead of
        // secrets.
        let is_name = name == "projects-config-override-reset-keys" && secret.name == "keys";
        assert!(is_name || !whole.contains(&secret.value), "{name} reveals the secret {}", secret.name);
    }
    if name != "projects-config-override-reset-keys" {
        for value in values(&trial.body).into_iter().filter(|value| !is_told(value)) {
            assert!(!text.contains(&value), "{name} tells {value:?}: {text}");
        }
    }
}

#[tokio::test]
async fn exactly_the_changing_operations_leave_one_entry() {
    for operation in operations::all() {
        let route = operation.route;
        let trial = Trial::run(&name(&operation)).await;
        assert_eq!(trial.status, success(&operation), "{}", route.name);
        let expected = usize::from(route.table.trail == Trail::Entry && !CHANGE_NOTHING.contains(&route.name));
        assert_eq!(trial.entries.len(), expected, "{}: {:?}", route.name, trial.entries);
        let Some(entry) = trial.entries.first() else { continue };

        assert_eq!((entry.operation.as_str(), entry.count), (route.name, 1));
        assert_eq!(entry.at, trial.world.app.now(), "{}", route.name);
        assert_eq!(entry.place.as_ref().map(|place| place.ip.to_string()).as_deref(), Some("0.0.0.0"), "{}", route.name);
        assert_eq!(entry.access, trial.access(), "{}", route.name);
        assert_eq!(entry.actor, trial.actor(entry).await, "{}", route.name);
        let (targets, user) = trial.named(&route);
        let told: Vec<String> = entry
            .targets
            .iter()
            .map(|target| format!("{} {}", serde_json::to_value(target.kind).unwrap().as_str().unwrap(), target.id))
            .collect();
        assert!(told.starts_with(&targets), "{}: {told:?} does not begin with {targets:?}", route.name);
        assert!(user.is_none() || user == entry.user_id, "{}: {:?}", route.name, entry.user_id);
        if !route.body.ignores_unknown_fields() {
            for field in trial.body.as_object().into_iter().flat_map(|body| body.keys()) {
                let is_named = entry.fields.iter().any(|told| told == field || told.starts_with(&format!("{field}.")));
                let has_settings = ["config_string", "config_override_string", "keys"].contains(&field.as_str());
                assert!(is_named || has_settings && !entry.fields.is_empty(), "{}: {field} is not among {:?}", route.name, entry.fields);
            }
        }
        assert_tells_nothing_sent(route.name, &trial, entry);
    }
}

#[tokio::test]
async fn created_items_are_recorded_by_id() {
    for event in
        ["teams/team-create", "projects/api-key-create", "projects/internal-create", "emails/template-create", "emails/draft-create"]
    {
        let world = World::unobserved(Limits::standard()).await;
        let before = ids(&world).await;
        let created = world.send(event).await.json();
        let entry = since(&world, &before).await.remove(0);
        let id = created["id"].as_str().unwrap();
        assert!(entry.targets.iter().any(|target| target.id == id), "{event}: {:?}", entry.targets);
    }
}
