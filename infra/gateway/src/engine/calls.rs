//! Determines from the name and the body of a call what the call may write.

use std::collections::BTreeSet;

use store::trail::chain;
use wire::id::ProjectId;

pub(super) fn reads(operation: &str) -> bool {
    matches!(
        operation,
        "GetItem" | "BatchGetItem" | "TransactGetItems" | "Query" | "Scan" | "DescribeTable" | "DescribeTimeToLive" | "ListTables"
    )
}

/// Whether a call may write to a partition of the outbox, judging by the keys in its body.
pub(super) fn touches_outbox(operation: &str, body: &[u8]) -> bool {
    !reads(operation) && body.windows(3).any(|window| window == b"\"M#")
}

/// The projects to whose audit trails a call may write, judging by the keys in its body.
pub(super) fn trails_of(operation: &str, body: &[u8]) -> BTreeSet<ProjectId> {
    if reads(operation) {
        return BTreeSet::new();
    }
    let text = String::from_utf8_lossy(body);
    text.split('"').filter(|text| text.starts_with("P#")).filter_map(chain::project_of).collect()
}
