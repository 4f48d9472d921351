//! Keys of endpoints, and the partition of their deliveries.

use wire::id::{ProjectId, WebhookEndpointId};

use crate::table::Key;

pub(super) const PREFIX: &str = "WEBHOOK#";

/// The key of an endpoint.
pub(crate) fn endpoint_key(project: &ProjectId, id: WebhookEndpointId) -> Key {
    Key::new(format!("P#{project}"), format!("{PREFIX}{id}"))
}

/// The number of partitions for the late deliveries of an endpoint.
pub(super) const LATE_SHARDS: u8 = 8;

/// The partitions of an endpoint's late deliveries.
pub(crate) fn late_partitions(project: &ProjectId, id: WebhookEndpointId) -> impl Iterator<Item = String> + Clone + use<> {
    let partition = partition(project, id);
    (0..LATE_SHARDS).map(move |shard| format!("{partition}#LATE#{shard}"))
}

/// The partition of an endpoint's deliveries.
pub(crate) fn partition(project: &ProjectId, id: WebhookEndpointId) -> String {
    format!("W#{project}#{id}")
}
