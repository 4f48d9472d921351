//! Derives the events of a change, with their data. Users and teams are shown as servers see them.

use std::collections::{BTreeSet, HashMap};

use flows::App;
use flows::accounts::selected_team;
use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::owned_key::view::OwnedKeyView;
use model::owned_key::{OwnedKey, OwnedKeys, Owner};
use model::permission::{Grant, Scope};
use model::project::Project;
use model::project::key_set::KeySetRead;
use model::session::Session;
use model::team::Team;
use model::team::view::TeamView;
use model::trail::view::AuditEntry;
use model::user::User;
use model::view::user::ServerUser;
use model::webhook::event::EventType;
use serde_json::{Value, json};
use store::webhook::changes::{Change, Pair, Subject};
use wire::id::{ProjectId, TeamId, UserId};
use wire::level::Level;

/// Events without their ids.
type Events = Vec<(EventType, Value)>;

/// Facts about other items on which the events of a change may depend.
pub(super) struct ChangeContext<'a> {
    pub(super) app: &'a App,
    pub(super) project: &'a Project,
    /// The teams that each user leaves in this batch.
    pub(super) teams_left: &'a HashMap<(ProjectId, UserId), Vec<TeamId>>,
}

/// The events of a change, in order.
pub(super) async fn events(known: &ChangeContext<'_>, change: &Change) -> Result<Events, store::Error> {
    let project = known.project;
    Ok(match &change.subject {
        Subject::User(pair) => user(known, pair).await?,
        Subject::Membership(..) => Vec::new(),
        Subject::Team(pair) => team(pair),
        Subject::Member(team, user, pair) => member(project, *team, *user, pair),
        Subject::Session(pair) => session(pair),
        Subject::Email(pair) => email(pair),
        Subject::Keys(pair) => match (&pair.old, &pair.new) {
            (old, Some(new)) if old.as_ref() != Some(new) => {
                let event_type = if old.is_none() { EventType::ApiKeyCreated } else { EventType::ApiKeyUpdated };
                vec![(event_type, json!(KeySetRead::of(new)))]
            }
            _ => Vec::new(),
        },
        Subject::Trail(entry) => vec![(EventType::AuditEntryCreated, json!(AuditEntry::from((**entry).clone())))],
    })
}

async fn user(known: &ChangeContext<'_>, pair: &Pair<(User, Timestamp)>) -> Result<Events, store::Error> {
    let ChangeContext { app, project, .. } = known;
    let view = |user: &User, active_at: Timestamp, team: Option<&Team>| json!(ServerUser::of(user, active_at, &project.config, team));
    Ok(match (&pair.old, &pair.new) {
        // The selected personal team is omitted, because the receiver may not know it yet.
        (None, Some((new, active_at))) => vec![(EventType::UserCreated, view(new, *active_at, None))],
        (Some((old, _)), Some((new, active_at))) => {
            let mut events = Vec::new();
            if old.selected_team_id != new.selected_team_id || view(old, *active_at, None) != view(new, *active_at, None) {
                let team = selected_team(&app.store, &project.id, new).await?;
                events.push((EventType::UserUpdated, view(new, *active_at, team.as_ref())));
            }
            let types = [EventType::ProjectPermissionCreated, EventType::ProjectPermissionDeleted];
            let holder = json!({ "user_id": new.id });
            permissions(&mut events, project, [&old.permissions, &new.permissions], (Scope::Project, types, &holder));
            owned_keys(&mut events, Owner::User(new.id), [&old.api_keys, &new.api_keys]);
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
            let mut events = Events::new();
            if view(old) != view(new) {
                events.push((EventType::TeamUpdated, view(new)));
            }
            owned_keys(&mut events, Owner::Team(new.id), [&old.api_keys, &new.api_keys]);
            events
        }
        (Some(old), None) => vec![(EventType::TeamDeleted, json!({ "id": old.id }))],
        (None, None) => Vec::new(),
    }
}

/// The events of a user's or team's API keys, which are stored in the owner's item. Using a key or
/// deleting its owner does not cause events for the key.
fn owned_keys(events: &mut Events, owner: Owner, [old, new]: [&OwnedKeys; 2]) {
    let ([created, updated, deleted], (name, id)) = match owner {
        Owner::User(id) => {
            ([EventType::UserApiKeyCreated, EventType::UserApiKeyUpdated, EventType::UserApiKeyDeleted], ("user_id", id.to_string()))
        }
        Owner::Team(id) => {
            ([EventType::TeamApiKeyCreated, EventType::TeamApiKeyUpdated, EventType::TeamApiKeyDeleted], ("team_id", id.to_string()))
        }
    };
    let unused = |key: &OwnedKey| OwnedKey { last_used_at: None, ..key.clone() };
    for key in new.iter() {
        let event_type = match old.get(key.id) {
            None => created,
            Some(before) if unused(before) != unused(key) => updated,
            Some(_) => continue,
        };
        events.push((event_type, json!(OwnedKeyView::of(owner, key))));
    }
    for key in old.iter().filter(|key| new.get(key.id).is_none()) {
        events.push((deleted, json!({ "id": key.id, (name): id })));
    }
}

fn member(project: &Project, team: TeamId, user: UserId, pair: &Pair<BTreeSet<Grant>>) -> Events {
    let membership = json!({ "team_id": team, "user_id": user });
    let (none, mut events) = (BTreeSet::new(), Events::new());
    let (old, new) = match (&pair.old, &pair.new) {
        (None, Some(new)) => {
            events.push((EventType::TeamMembershipCreated, membership.clone()));
            (&none, new)
        }
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return vec![(EventType::TeamMembershipDeleted, membership)],
        (None, None) => return events,
    };
    let types = [EventType::TeamPermissionCreated, EventType::TeamPermissionDeleted];
    permissions(&mut events, project, [old, new], (Scope::Team, types, &membership));
    events
}

/// The events of granted and revoked permissions. `holder` contains the ids of the permissions'
/// holder.
fn permissions(
    events: &mut Events,
    project: &Project,
    [old, new]: [&BTreeSet<Grant>; 2],
    (scope, [created, deleted], holder): (Scope, [EventType; 2], &Value),
) {
    let [old, new] = [old, new].map(|grants| project.config.rbac.granted(grants, scope, false));
    for (event_type, ids) in [(created, new.difference(&old)), (deleted, old.difference(&new))] {
        for id in ids {
            let mut data = holder.clone();
            data["id"] = json!(id);
            events.push((event_type, data));
        }
    }
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

/// The events of an email contain only its id, status and creation time, but not its recipients,
/// texts or codes.
fn email(pair: &Pair<OutboxEntry>) -> Events {
    let Some(new) = &pair.new else { return Vec::new() };
    let event_type = match &pair.old {
        None => EventType::EmailCreated,
        Some(old) if old.status() != new.status() => EventType::EmailUpdated,
        Some(_) => return Vec::new(),
    };
    vec![(event_type, json!({ "id": new.id, "status": new.status(), "created_at_millis": new.created_at.as_millisecond() }))]
}
