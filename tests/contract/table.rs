//! The deployment template and the gateway create the same table.

use serde_json::{Value, json};
use store::table;

use crate::tree;

fn keys(schema: &[aws_sdk_dynamodb::types::KeySchemaElement]) -> Value {
    schema.iter().map(|key| json!({ "AttributeName": key.attribute_name(), "KeyType": key.key_type().as_str() })).collect()
}

#[test]
fn the_table_of_the_template_matches_the_store() {
    let template = tree::template();
    let found = &template["Resources"]["Table"]["Properties"];
    let wanted = table::definition("any").unwrap().build().unwrap();

    let attributes = wanted.attribute_definitions();
    let attributes: Value = attributes
        .iter()
        .map(|one| json!({ "AttributeName": one.attribute_name(), "AttributeType": one.attribute_type().as_str() }))
        .collect();
    assert_eq!(found["AttributeDefinitions"], attributes);
    assert_eq!(found["KeySchema"], keys(wanted.key_schema()));
    assert_eq!(found["BillingMode"], wanted.billing_mode().unwrap().as_str());

    let indexes = wanted.global_secondary_indexes();
    let indexes: Value = indexes
        .iter()
        .map(|index| {
            let projection = index.projection().unwrap().projection_type().unwrap().as_str();
            json!({ "IndexName": index.index_name(), "KeySchema": keys(index.key_schema()), "Projection": { "ProjectionType": projection } })
        })
        .collect();
    assert_eq!(found["GlobalSecondaryIndexes"], indexes);

    let stream = wanted.stream_specification().unwrap().stream_view_type().unwrap();
    assert_eq!(found["StreamSpecification"], json!({ "StreamViewType": stream.as_str() }));
    assert_eq!(found["TimeToLiveSpecification"], json!({ "AttributeName": table::TTL, "Enabled": true }));
}

#[test]
fn the_table_is_protected_against_accidental_deletion() {
    let template = tree::template();
    let table = &template["Resources"]["Table"];
    assert_eq!(table["DeletionPolicy"], "Retain");
    assert_eq!(table["UpdateReplacePolicy"], "Retain");
    assert_eq!(table["Properties"]["DeletionProtectionEnabled"], true);
    assert_eq!(table["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true);
    assert_eq!(table["Properties"]["SSESpecification"]["SSEEnabled"], true);
}
