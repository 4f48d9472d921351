//! The events of a change, with their data. Users and teams have the form that servers read.

use std::collections::{BTreeSet, HashMap};

use flows::App;
use flows::accounts::selected_team;
use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::owned_key::view::OwnedKeyView;
use model::owned_key::{OwnedKey, OwnedKeys, Owner};
use model::permission::{Grant, PermissionId, Scope};
use model::project::Project;
use model::project::key_set::KeySetRead;
use model::session::Session;
use model::team::Team;
use model::team::view::TeamView;
use model::trail::view::AuditEntry;
use model::user::User;
use model::user::view::ServerUser;
use model::webhook::event::EventType;
use serde_json::{Value, json};
use store::webhook::changes::{Change, Pair, Subject};
use wire::id::{ProjectId, TeamId, UserId};
use wire::level::Level;

/// Events without their ids.
type Events = Vec<(EventType, Value)>;

/// What the events of a change may depend on besides the change.
pub(super) struct Known<'a> {
    pub(super) app: &'a App,
    pub(super) project: &'a Project,
    /// The teams that the batch removes users from.
    pub(super) teams_left: &'a HashMap<(ProjectId, UserId), Vec<TeamId>>,
}

/// The events of a change, in order.
pub(super) async fn of(known: &Known<'_>, change: &Change) -> Result<Events, store::Error> {
    let project = known.project;
    Ok(match &change.subject {
        Subject::User(pair) => user(known, pair).await?,
        Subject::Membership(..) => Vec::new(),
        Subject::Team(pair) => team(pair),
        Subject::Member(team, user, pair) => member(project, *team, *user, pair),
        Subject::Session(pair) => session(pair),
        Subject::Email(pair) => email(pair),
        Subject::Keys(pair) => match (&pair.old, &pair.new) {
            (None, Some(new)) => vec![(EventType::ApiKeyCreated, json!(KeySetRead::of(new)))],
            (Some(old), Some(new)) if old != new => vec![(EventType::ApiKeyUpdated, json!(KeySetRead::of(new)))],
            _ => Vec::new(),
        },
        Subject::Trail(entry) => vec![(EventType::AuditEntryCreated, json!(AuditEntry::from((**entry).clone())))],
    })
}

async fn user(known: &Known<'_>, pair: &Pair<(User, Timestamp)>) -> Result<Events, store::Error> {
    let Known { app, project, .. } = known;
    Ok(match (&pair.old, &pair.new) {
        // The personal team, which is selected, may not exist yet for a receiver.
        (None, Some((new, active_at))) => vec![(EventType::UserCreated, json!(ServerUser::of(new, *active_at, &project.config, None)))],
        (Some((old, _)), Some((new, active_at))) => {
            let bare = |user: &User| json!(ServerUser::of(user, *active_at, &project.config, None));
            let mut events = Vec::new();
            if old.selected_team_id != new.selected_team_id || bare(old) != bare(new) {
                let team = selected_team(&app.store, &project.id, new).await?;
                events.push((EventType::UserUpdated, json!(ServerUser::of(new, *active_at, &project.config, team.as_ref()))));
            }
            let data = |id: &PermissionId| json!({ "id": id, "user_id": new.id });
            let types = [EventType::ProjectPermissionCreated, EventType::ProjectPermissionDeleted];
            events.extend(permissions(project, Scope::Project, [&old.permissions, &new.permissions], types, data));
            events.extend(owned_keys(Owner::User(new.id), [&old.api_keys, &new.api_keys]));
            events
        }
        (Some((old, _)), None) => {
            let teams = known.teams_left.get(&(project.id.clone(), old.id));
            let teams: Vec<Value> = teams.into_iter().flatten().map(|team| json!({ "id": team })).collect();
            vec![(EventType::UserDeleted, json!({ "id": old.id, "teams": teams }))]
        }
        (None, None) => Vec::new(),
    })
}

fn team(pair: &Pair<Team>) -> Events {
    let view = |team: &Team| json!(TeamView::of(team, Level::Server));
    match (&pair.old, &pair.new) {
        (None, Some(new)) => vec![(EventType::TeamCreated, view(new))],
        (Some(old), Some(new)) => {
            let updated = (view(old) != view(new)).then(|| (EventType::TeamUpdated, view(new)));
            updated.into_iter().chain(owned_keys(Owner::Team(new.id), [&old.api_keys, &new.api_keys])).collect()
        }
        (Some(old), None) => vec![(EventType::TeamDeleted, json!({ "id": old.id }))],
        (None, None) => Vec::new(),
    }
}

/// The events of the API keys of a user or team, which are part of its item. The use of a key is no
/// change, and the end of its owner is that of its keys.
fn owned_keys(owner: Owner, [old, new]: [&OwnedKeys; 2]) -> Events {
    let [created, updated, deleted] = match owner {
        Owner::User(_) => [EventType::UserApiKeyCreated, EventType::UserApiKeyUpdated, EventType::UserApiKeyDeleted],
        Owner::Team(_) => [EventType::TeamApiKeyCreated, EventType::TeamApiKeyUpdated, EventType::TeamApiKeyDeleted],
    };
    let unused = |key: &OwnedKey| OwnedKey { last_used_at: None, ..key.clone() };
    let view = |key: &OwnedKey| json!(OwnedKeyView::of(owner, key));
    let changed = new.iter().filter_map(|key| match old.get(key.id) {
        None => Some((created, view(key))),
        Some(before) => (unused(before) != unused(key)).then(|| (updated, view(key))),
    });
    let gone = old.iter().filter(|key| new.get(key.id).is_none()).map(|key| {
        let data = match owner {
            Owner::User(id) => json!({ "id": key.id, "user_id": id }),
            Owner::Team(id) => json!({ "id": key.id, "team_id": id }),
        };
        (deleted, data)
    });
    changed.chain(gone).collect()
}

fn member(project: &Project, team: TeamId, user: UserId, pair: &Pair<BTreeSet<Grant>>) -> Events {
    let membership = json!({ "team_id": team, "user_id": user });
    let none = BTreeSet::new();
    let data = |id: &PermissionId| json!({ "id": id, "team_id": team, "user_id": user });
    let types = [EventType::TeamPermissionCreated, EventType::TeamPermissionDeleted];
    let changed = |old: &BTreeSet<Grant>, new: &BTreeSet<Grant>| permissions(project, Scope::Team, [old, new], types, data);
    match (&pair.old, &pair.new) {
        (None, Some(grants)) => [(EventType::TeamMembershipCreated, membership)].into_iter().chain(changed(&none, grants)).collect(),
        (Some(old), Some(new)) => changed(old, new),
        (Some(_), None) => vec![(EventType::TeamMembershipDeleted, membership)],
        (None, None) => Vec::new(),
    }
}

/// The events of permissions that were granted and revoked.
fn permissions(
    project: &Project,
    scope: Scope,
    [old, new]: [&BTreeSet<Grant>; 2],
    [created, deleted]: [EventType; 2],
    data: impl Fn(&PermissionId) -> Value,
) -> Events {
    let [old, new] = [old, new].map(|grants| project.config.rbac.granted(grants, scope, false));
    let granted = new.difference(&old).map(|id| (created, data(id)));
    granted.chain(old.difference(&new).map(|id| (deleted, data(id)))).collect()
}

fn session(pair: &Pair<Session>) -> Events {
    let event_type = match (&pair.old, &pair.new) {
        (None, Some(_)) => EventType::SessionCreated,
        (Some(_), None) => EventType::SessionDeleted,
        _ => return Vec::new(),
    };
    let data = pair.any().map(|session| {
        json!({
            "id": session.id,
            "user_id": session.user_id,
            "created_at_millis": session.created_at.as_millisecond(),
            "expires_at_millis": session.expires_at.as_millisecond(),
            "is_impersonation": session.is_impersonation,
        })
    });
    data.map(|data| (event_type, data)).into_iter().collect()
}

/// The events of an email contain no recipients, texts or codes: only its id, status and time of
/// creation.
fn email(pair: &Pair<OutboxEntry>) -> Events {
    let data =
        |entry: &OutboxEntry| json!({ "id": entry.id, "status": entry.status(), "created_at_millis": entry.created_at.as_millisecond() });
    match (&pair.old, &pair.new) {
        (None, Some(new)) => vec![(EventType::EmailCreated, data(new))],
        (Some(old), Some(new)) if old.status() != new.status() => vec![(EventType::EmailUpdated, data(new))],
        _ => Vec::new(),
    }
}
