//! The alarms of the deployment template.

use std::collections::BTreeSet;
use std::fs;

use infra::checked_in::root;
use serde_json::{Map, Value, json};
use store::table;

use crate::tree;

/// The alarms of the template by id.
fn alarms() -> Map<String, Value> {
    let mut template = tree::template();
    let Value::Object(resources) = template["Resources"].take() else { panic!("the template has no resources") };
    resources
        .into_iter()
        .filter(|(_, one)| one["Type"] == "AWS::CloudWatch::Alarm")
        .map(|(id, one)| (id, one["Properties"].clone()))
        .collect()
}

#[test]
fn the_throttles_of_the_table_and_of_each_index_ring() {
    let found: BTreeSet<(String, String)> = alarms()
        .into_iter()
        .filter(|(_, alarm)| alarm["Namespace"] == "AWS/DynamoDB")
        .map(|(_, alarm)| {
            let index = alarm["Dimensions"].as_array().unwrap().iter().find(|one| one["Name"] == "GlobalSecondaryIndexName");
            let index = index.map_or("", |index| index["Value"].as_str().unwrap());
            (index.to_owned(), alarm["MetricName"].as_str().unwrap().to_owned())
        })
        .collect();
    let places = table::INDEXES.iter().map(|index| index.name).chain([""]);
    let wanted = places.flat_map(|place| ["ReadThrottleEvents", "WriteThrottleEvents"].map(|metric| (place.to_owned(), metric.to_owned())));
    assert_eq!(found, wanted.collect());
}

#[test]
fn a_schedule_that_does_not_run_rings_although_the_stream_starts_the_function() {
    let alarms = alarms();
    for id in ["OldestDueMail", "WorkersStopped"] {
        let alarm = &alarms[id];
        // Only scheduled runs write this metric.
        assert_eq!((&alarm["Namespace"], &alarm["MetricName"]), (&json!("Gatelet"), &json!("OldestDueMailAge")), "{id}");
        assert_eq!(alarm["TreatMissingData"], "breaching", "{id}");
    }
    let stopped = &alarms["WorkersStopped"];
    let counted = (&stopped["Statistic"], &stopped["ComparisonOperator"], &stopped["Threshold"]);
    assert_eq!(counted, (&json!("SampleCount"), &json!("LessThanThreshold"), &json!(1)));
}

#[test]
fn a_single_sign_of_a_forged_audit_trail_rings() {
    let alarm = &alarms()["SuspectTrails"];
    assert_eq!((&alarm["Namespace"], &alarm["MetricName"]), (&json!("Gatelet"), &json!("SuspectTrails")));
    assert_eq!((&alarm["Statistic"], &alarm["Threshold"], &alarm["EvaluationPeriods"]), (&json!("Sum"), &json!(0), &json!(1)));
    assert_eq!(alarm["TreatMissingData"], "notBreaching");
}

#[test]
fn the_guide_lists_every_alarm() {
    let guide = fs::read_to_string(root().join("infra/README.md")).unwrap();
    let section = guide.split("## When an alarm rings").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let listed: BTreeSet<&str> = rows.skip(1).flat_map(|row| row.split(", ")).collect();
    let alarms = alarms();
    assert_eq!(listed, alarms.keys().map(String::as_str).collect());
}
