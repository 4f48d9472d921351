//! Keys of endpoints, and the partition of their deliveries.

use wire::id::{ProjectId, WebhookEndpointId};

use crate::item::Key;

pub(super) const PREFIX: &str = "WEBHOOK#";

/// The key of an endpoint.
pub(crate) fn endpoint_key(project: &ProjectId, id: WebhookEndpointId) -> Key {
    Key::new(format!("P#{project}"), format!("{PREFIX}{id}"))
}

/// The partition of an endpoint's late deliveries.
pub(crate) fn late_partition(project: &ProjectId, id: WebhookEndpointId) -> String {
    format!("{}#LATE", partition(project, id))
}

/// The partition of an endpoint's deliveries.
pub(crate) fn partition(project: &ProjectId, id: WebhookEndpointId) -> String {
    format!("W#{project}#{id}")
}
