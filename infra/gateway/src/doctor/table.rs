//! Checks the table. Its keys, indexes, stream and expiry must be as the crate `store` needs them,
//! its capacity must be on demand, and deletion protection and backups must be on. There must be
//! projects, but no overdue emails or broadcasts.

use std::io::{self, Write};

use aws_sdk_dynamodb::operation::describe_continuous_backups::DescribeContinuousBackupsInput;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableInput;
use aws_sdk_dynamodb::operation::describe_time_to_live::DescribeTimeToLiveInput;
use aws_sdk_dynamodb::types::{
    BillingMode, ContinuousBackupsDescription, IndexStatus, KeySchemaElement, PointInTimeRecoveryStatus, StreamViewType, TableDescription,
    TableStatus, TimeToLiveStatus,
};
use jiff::SignedDuration;
use store::{Store, table};
use wire::clock::Clock;

use super::report::Report;
use crate::causes::with_causes;

/// How long an email or a broadcast may be overdue. The workers run every minute, so a longer delay
/// is a problem.
const LATE: SignedDuration = SignedDuration::from_mins(10);

/// Checks the table and its settings; returns whether the table can be read.
pub(super) async fn examine(store: &Store, report: &mut Report<impl Write>) -> io::Result<bool> {
    let name = store.table();
    let described = store.client().call(DescribeTableInput::builder().table_name(name)).await;
    let table = match described.map(|answer| answer.table) {
        Ok(Some(table)) => table,
        Ok(None) => return report.fail("table", format!("DynamoDB did not describe {name}")).map(|()| false),
        Err(error) => return report.fail("table", format!("{name}: {}", with_causes(&error))).map(|()| false),
    };
    examine_keys(&table, report)?;
    examine_indexes(&table, report)?;
    examine_stream(&table, report)?;
    examine_protection(&table, report)?;
    examine_expiry(store, report).await?;
    examine_backups(store, report).await?;
    Ok(true)
}

fn keys(schema: &[KeySchemaElement]) -> Vec<(&str, &str)> {
    schema.iter().map(|key| (key.attribute_name(), key.key_type().as_str())).collect()
}

fn examine_keys(found: &TableDescription, report: &mut Report<impl Write>) -> io::Result<()> {
    let name = found.table_name().unwrap_or_default();
    if found.table_status() != Some(&TableStatus::Active) {
        return report.fail("table", format!("{name} is {}", found.table_status().map_or("in an unknown state", TableStatus::as_str)));
    }
    if keys(found.key_schema()) != [("pk", "HASH"), ("sk", "RANGE")] {
        return report.fail("table", format!("{name} does not have the keys pk and sk, so it is not a table of Gatelet"));
    }
    match found.billing_mode_summary().and_then(|summary| summary.billing_mode()) {
        Some(BillingMode::PayPerRequest) => report.ok("table", format!("{name} exists, with on-demand capacity")),
        _ => report.warn("table", format!("{name} has provisioned capacity: requests beyond it are throttled")),
    }
}

fn examine_indexes(found: &TableDescription, report: &mut Report<impl Write>) -> io::Result<()> {
    for wanted in table::INDEXES {
        let name = wanted.name;
        let (pk, sk) = (format!("{name}pk"), format!("{name}sk"));
        let Some(index) = found.global_secondary_indexes().iter().find(|index| index.index_name() == Some(name)) else {
            report.fail("index", format!("{name} is missing"))?;
            continue;
        };
        let projection = index.projection().and_then(|projection| projection.projection_type());
        let is_same = keys(index.key_schema()) == [(pk.as_str(), "HASH"), (sk.as_str(), "RANGE")]
            && projection.is_some_and(|projection| projection.as_str() == wanted.projection);
        if !is_same {
            report.fail("index", format!("{name} has different keys, or a projection other than {}", wanted.projection))?;
        } else if index.index_status().is_some_and(|status| *status != IndexStatus::Active) {
            report.fail("index", format!("{name} is not ready yet"))?;
        } else {
            report.ok("index", name)?;
        }
    }
    Ok(())
}

fn examine_stream(found: &TableDescription, report: &mut Report<impl Write>) -> io::Result<()> {
    match found.stream_specification() {
        Some(stream) if stream.stream_enabled && stream.stream_view_type() == Some(&StreamViewType::NewAndOldImages) => {
            report.ok("stream", found.latest_stream_arn().unwrap_or("on"))
        }
        _ => report.fail(
            "stream",
            "off, or without both images: emails wait for the schedule, and webhooks and the chains of audit trails stop; \
             `aws dynamodb update-table --stream-specification`",
        ),
    }
}

fn examine_protection(found: &TableDescription, report: &mut Report<impl Write>) -> io::Result<()> {
    match found.deletion_protection_enabled() {
        Some(true) => report.ok("protection", "the table cannot be deleted by mistake"),
        _ => report.warn("protection", "off: one call deletes the table; `aws dynamodb update-table --deletion-protection-enabled`"),
    }
}

async fn examine_expiry(store: &Store, report: &mut Report<impl Write>) -> io::Result<()> {
    let found = store.client().call(DescribeTimeToLiveInput::builder().table_name(store.table())).await;
    let found = match found.map(|answer| answer.time_to_live_description) {
        Ok(found) => found,
        Err(error) => return report.warn("expiry", format!("cannot be read: {}", with_causes(&error))),
    };
    let is_on = found.as_ref().and_then(|ttl| ttl.time_to_live_status()) == Some(&TimeToLiveStatus::Enabled);
    match found.as_ref().and_then(|ttl| ttl.attribute_name()) {
        Some(table::TTL) if is_on => report.ok("expiry", format!("items expire by {}", table::TTL)),
        _ => report.warn("expiry", "off, or by another attribute: expired items are kept and billed; `aws dynamodb update-time-to-live`"),
    }
}

async fn examine_backups(store: &Store, report: &mut Report<impl Write>) -> io::Result<()> {
    let found = store.client().call(DescribeContinuousBackupsInput::builder().table_name(store.table())).await;
    let status = |backups: ContinuousBackupsDescription| backups.point_in_time_recovery_description?.point_in_time_recovery_status;
    match found.map(|answer| answer.continuous_backups_description.and_then(status)) {
        Ok(Some(PointInTimeRecoveryStatus::Enabled)) => report.ok("backups", "restorable to any second of the backup period"),
        Ok(_) => report.warn("backups", "off: lost data cannot be restored; `aws dynamodb update-continuous-backups`"),
        Err(error) => report.warn("backups", format!("cannot be read: {}", with_causes(&error))),
    }
}

/// Checks the table's data: the projects, and overdue emails and broadcasts.
pub(super) async fn examine_content(store: &Store, report: &mut Report<impl Write>) -> io::Result<()> {
    match store.projects().await {
        Ok(projects) if projects.is_empty() => report.warn("projects", "none yet: `gateway project create NAME --table …`")?,
        Ok(projects) => report.ok("projects", projects.len())?,
        Err(error) => report.fail("projects", format!("cannot be read: {}", with_causes(&error)))?,
    }
    let late = match store.due_work(Clock::system().now() - LATE, 100).await {
        Ok(due) => due.len(),
        Err(error) => return report.fail("outbox", format!("cannot be read: {}", with_causes(&error))),
    };
    match late {
        0 => report.ok("outbox", "no email or broadcast is overdue"),
        _ => report.fail("outbox", format!("{late} emails or broadcasts are overdue by ten minutes or more: are the workers running?")),
    }
}
