//! Opening the engine.

use aws_sdk_dynamodb::operation::describe_time_to_live::DescribeTimeToLiveInput;
use aws_sdk_dynamodb::types::TimeToLiveStatus;

use super::*;

/// Refuses to turn on the TTL.
struct NoExpiry;

impl Observe for NoExpiry {
    fn before(&self, operation: &str, _: &[u8]) -> Option<Fault> {
        let refused = Fault::Refused { status: 400, body: r#"{"__type":"ValidationException"}"#.to_owned() };
        (operation == "UpdateTimeToLive").then_some(refused)
    }
}

#[tokio::test]
async fn expiry_is_turned_on_later_if_it_fails_at_the_first_start() {
    let folder = std::env::temp_dir().join(format!("gatelet-engine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("table.db");
    assert!(Engine::open(Some(&file), &Entropy::system(), Some(Arc::new(NoExpiry))).await.is_err());
    let engine = Engine::open(Some(&file), &Entropy::system(), None).await.unwrap();
    let found = engine.store().client().call(DescribeTimeToLiveInput::builder().table_name(TABLE)).await.unwrap();
    let status = found.time_to_live_description.and_then(|ttl| ttl.time_to_live_status);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(status, Some(TimeToLiveStatus::Enabled));
}
