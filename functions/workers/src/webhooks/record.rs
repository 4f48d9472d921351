//! Records the events of a stream batch.

use std::collections::{BTreeSet, HashMap};

use crypto::digest::Digest;
use flows::App;
use jiff::Timestamp;
use model::project::Project;
use model::webhook::delivery::Delivery;
use model::webhook::event::{EventType, Message};
use serde_json::Value;
use store::table::stream::{Record, records};
use store::webhook::EndpointRow;
use store::webhook::changes::{self, Change, Subject};
use store::webhook::delivery::NewDelivery;
use wire::id::{ProjectId, TeamId, UserId};

use crate::fail_point::reached;
use crate::webhooks::messages::{ChangeContext, events};

/// Records a delivery for each event of a batch and each endpoint that wants the event. Returns the
/// number of deliveries. After a failure, the batch must be read again.
pub async fn record(app: &App, event: &Value) -> Result<usize, store::Error> {
    let changes: Vec<Change> = records(event).into_iter().filter_map(meaning).collect();
    let projects: BTreeSet<ProjectId> = changes.iter().map(|change| change.project.clone()).collect();
    let mut endpoints = app.store.webhooks_of(projects).await?;
    endpoints.retain(|_, endpoints| !endpoints.is_empty());
    let changes: Vec<Change> = changes.into_iter().filter(|change| endpoints.contains_key(&change.project)).collect();
    // The endpoints that already have late deliveries are noted before new deliveries are recorded,
    // because late deliveries come first.
    let rows = endpoints.iter().flat_map(|(project, rows)| rows.iter().map(move |row| (project, row)));
    let late = rows.filter(|(_, row)| row.late.is_some()).map(|(project, row)| (project.clone(), row.endpoint.id)).collect();
    let left = teams_left(&changes);
    let mut projects: HashMap<ProjectId, Option<Project>> = HashMap::new();
    let mut new = Vec::new();
    for change in changes {
        if !projects.contains_key(&change.project) {
            let project = app.store.project(&change.project).await?.map(|row| row.project);
            projects.insert(change.project.clone(), project);
        }
        let (Some(Some(project)), Some(endpoints)) = (projects.get(&change.project), endpoints.get(&change.project)) else { continue };
        let known = ChangeContext { app, project, teams_left: &left };
        for (index, (event_type, data)) in events(&known, &change).await?.into_iter().enumerate() {
            let message = message(&change, index, event_type, data);
            new.extend(deliveries(&change, (index, &message), app.clock.now(), endpoints));
        }
    }
    let count = new.len();
    reached("recording", count);
    app.store.record_webhooks(new, late, app.clock.now()).await?;
    reached("recorded", count);
    Ok(count)
}

fn meaning(record: Record) -> Option<Change> {
    let failed = |error: &store::Error| tracing::error!(%error, "a change has no event, because its item cannot be parsed");
    changes::parse(record).inspect_err(failed).ok().flatten()
}

/// The teams that each user left in this batch. A deleted user's memberships are usually deleted in
/// the same transaction.
fn teams_left(changes: &[Change]) -> HashMap<(ProjectId, UserId), Vec<TeamId>> {
    let mut left: HashMap<_, Vec<TeamId>> = HashMap::new();
    for change in changes {
        if let Subject::Membership(user, team, pair) = &change.subject
            && pair.new.is_none()
        {
            left.entry((change.project.clone(), *user)).or_default().push(*team);
        }
    }
    left
}

/// The event with this index among the events of a change. The id of the event is derived from the
/// change, so a batch that is read again has the same ids.
fn message(change: &Change, index: usize, event_type: EventType, data: Value) -> Message {
    let seed = format!("{}/{}/{}/{index}", change.project, change.object, change.position);
    Message::new(format!("msg_{}", Digest::of(&seed)), event_type, change.at, data)
}

/// The deliveries of an event. The events of one change keep their order. Two changes in different
/// shards of the stream may have the same sequence number. Their events still get different
/// positions, because the positions include the digest of the changed object.
fn deliveries<'a>(
    change: &'a Change,
    (index, message): (usize, &'a Message),
    now: Timestamp,
    endpoints: &'a [EndpointRow],
) -> impl Iterator<Item = NewDelivery> {
    let position = format!("{}#{}#{index:04}", change.position, Digest::of(&change.object));
    let endpoints = endpoints.iter().map(|row| &row.endpoint);
    endpoints.filter(|endpoint| endpoint.receives(message.event_type, message.at)).map(move |endpoint| NewDelivery {
        lane: (change.project.clone(), endpoint.id),
        delivery: Delivery::of(message.clone(), endpoint.id, now),
        position: position.clone(),
        object: change.object.clone(),
    })
}
