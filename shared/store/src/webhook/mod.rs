//! Webhooks: the endpoints of a project, and the deliveries to them.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | endpoint | `P#<P>` | `WEBHOOK#<endpoint>` | gsi1 `WEBHOOKS` / project, endpoint |
//! | number of endpoints, and the time of the last notice to the owners | `P#<P>` | `WEBHOOKS` | |
//! | delivery | `W#<P>#<endpoint>` | `DELIVERY#<id>` | |
//! | late deliveries ([`late`]) | `W#<P>#<endpoint>#LATE#<shard>` | `LATE#<first position>#<last position>` | |
//! | place of a pending delivery | `W#<P>#<endpoint>` | `QUEUE#<position>` | |
//! | state of an endpoint | `W#<P>#<endpoint>` | `STATE` | gsi2 `WEBHOOKS#<shard>` / due time, project, endpoint |
//!
//! A delivery and its place are written together. The place is deleted with the last attempt.
//! Positions come from the table's stream, so that one query reads the pending deliveries in the
//! order of the changes. Replays come last. For each endpoint, recording an event costs 2 units for
//! each KB of the delivery and 2 for its place, in addition to the update of the endpoint's state.
//! Each attempt costs as much as recording the event. A replay also marks the old delivery, at 2
//! units for each KB. Deliveries expire by TTL.
//!
//! While an endpoint has late deliveries, its item is also in the index of due endpoints.
//!
//! The list of all endpoints (`gsi1`) only shows whether there are any endpoints.

pub mod changes;
pub mod delivery;
pub(crate) mod keys;
pub mod late;
pub mod queue;
pub mod replay;

use jiff::{SignedDuration, Timestamp};
use model::trail::{Target, TargetKind};
use model::webhook::health::Health;
use model::webhook::{Endpoint, MAX_ENDPOINTS};
use wire::clock::after;
use wire::id::{ProjectId, WebhookEndpointId};

use crate::table::{Error, Item, Key, Label, Store, Write, entity, integer, is_made, number, string};
use crate::webhook::keys::{PREFIX, endpoint_key};

const ALL: &str = "WEBHOOKS";
/// The minimum time between two notices to the owners of a project.
const NOTICE_COOLDOWN: SignedDuration = SignedDuration::from_hours(24);

/// An endpoint with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub struct EndpointRow {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The version that was read.
    pub version: u64,
    /// Present while the endpoint has late deliveries ([`late`]); changes whenever late deliveries
    /// are added.
    pub late: Option<String>,
}

impl EndpointRow {
    fn of(item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        let late = item.get("late").and_then(|late| late.as_s().ok()).cloned();
        Ok(Self { endpoint: entity(item)?, version, late })
    }
}

fn count_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), ALL)
}

fn target(id: WebhookEndpointId) -> [Target; 1] {
    [Target::new(TargetKind::WebhookEndpoint, id)]
}

impl Store {
    /// The endpoint with this id.
    pub async fn webhook_endpoint(&self, project: &ProjectId, id: WebhookEndpointId) -> Result<Option<EndpointRow>, Error> {
        self.get(&endpoint_key(project, id)).await?.map(EndpointRow::of).transpose()
    }

    /// The endpoint with this id and the health of the endpoint, in one round trip.
    pub async fn webhook_endpoint_and_health(
        &self,
        project: &ProjectId,
        id: WebhookEndpointId,
    ) -> Result<Option<(EndpointRow, Health)>, Error> {
        let (endpoint, state) = (endpoint_key(project, id), queue::state_key(project, id));
        let mut items = self.get_many([endpoint.clone(), state.clone()]).await?;
        let Some(row) = items.take(&endpoint).map(EndpointRow::of).transpose()? else { return Ok(None) };
        Ok(Some((row, items.take(&state).map(|item| queue::health(&item)).unwrap_or_default())))
    }

    /// All endpoints of a project, oldest first. Costs one unit for each 4 KB.
    pub async fn webhook_endpoints(&self, project: &ProjectId) -> Result<Vec<Endpoint>, Error> {
        Ok(self.webhook_rows(project).await?.into_iter().map(|row| row.endpoint).collect())
    }

    /// Like [`Self::webhook_endpoints`], but with the attributes that are stored outside the
    /// endpoints.
    pub(crate) async fn webhook_rows(&self, project: &ProjectId) -> Result<Vec<EndpointRow>, Error> {
        let query = self.query_prefix(format!("P#{project}"), PREFIX);
        let mut rows: Vec<EndpointRow> = self.query_all(query).await?.into_iter().map(EndpointRow::of).collect::<Result<_, _>>()?;
        rows.sort_by_key(|row| (row.endpoint.created_at, row.endpoint.id));
        Ok(rows)
    }

    /// Whether any project in the table has an endpoint.
    pub async fn has_webhooks(&self) -> Result<bool, Error> {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk").limit(1);
        Ok(!self.query_page(query.expression_attribute_values(":pk", string(ALL))).await?.0.is_empty())
    }

    /// Creates an endpoint; `false` if the project already has the maximum number of endpoints.
    pub async fn create_webhook_endpoint(&self, project: &ProjectId, endpoint: &Endpoint) -> Result<bool, Error> {
        let more = Write::update(count_key(project), "ADD endpoints :one")
            .on("attribute_not_exists(endpoints) OR endpoints < :most")
            .value(":one", integer(1))
            .value(":most", integer(MAX_ENDPOINTS))
            .labelled(Label::Count);
        let create = Write::create(endpoint_key(project, endpoint.id), endpoint)?
            .attribute("version", integer(1))
            .attribute("gsi1pk", string(ALL))
            .attribute("gsi1sk", string(format!("{project}#{}", endpoint.id)))
            .targets(target(endpoint.id));
        match self.transact([create, more]).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Replaces an endpoint, and writes `others` in the same transaction; fails with
    /// [`Error::Conflict`] if the endpoint has changed since it was read.
    pub async fn replace_webhook_endpoint(
        &self,
        project: &ProjectId,
        row: &EndpointRow,
        next: &Endpoint,
        others: Vec<Write>,
    ) -> Result<(), Error> {
        let replace = Write::update(endpoint_key(project, next.id), "SET d = :d, version = :new")
            .on("version = :old")
            .targets(target(next.id))
            .entity(":d", next)?
            .value(":old", integer(row.version))
            .value(":new", integer(row.version + 1));
        self.transact([replace].into_iter().chain(others)).await
    }

    /// The write that records a notice telling a project's owners that an endpoint was switched
    /// off; fails if another notice is recorded in the meantime. `None` if a notice was recorded
    /// less than a day ago, or if the project never had an endpoint. Costs 1 unit to read.
    pub async fn webhook_notice(&self, project: &ProjectId, now: Timestamp) -> Result<Option<Write>, Error> {
        let key = count_key(project);
        let Some(item) = self.get(&key).await? else { return Ok(None) };
        let latest = after(now, -NOTICE_COOLDOWN).as_millisecond();
        if number(&item, "told").is_some_and(|told: i64| told > latest) {
            return Ok(None);
        }
        let write = Write::update(key, "SET told = :now").on("attribute_exists(pk) AND (attribute_not_exists(told) OR told <= :latest)");
        Ok(Some(write.value(":now", integer(now.as_millisecond())).value(":latest", integer(latest))))
    }

    /// Deletes an endpoint; `false` if it does not exist. A worker deletes the deliveries of the
    /// endpoint.
    pub async fn delete_webhook_endpoint(&self, project: &ProjectId, id: WebhookEndpointId, now: Timestamp) -> Result<bool, Error> {
        let less = Write::update(count_key(project), "ADD endpoints :less").value(":less", integer(-1));
        let gone = Write::delete(endpoint_key(project, id)).on("attribute_exists(pk)");
        is_made(self.transact([gone, less, queue::wake(project, id, now)]).await)
    }
}
