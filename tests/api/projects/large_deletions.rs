//! Projects with a very large amount of data are deleted in parts. Their deletion does not delay
//! other deletions. Tokio's clock is paused, and each call to the table takes [`ROUND_TRIP`].

use std::time::Duration;

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use gateway::keys::Keys;
use jiff::SignedDuration;
use model::project::Project;
use model::user::User;
use serde_json::{Value, json};
use store::project::deletion::Purge;
use store::user;
use support::{ROUND_TRIP, TestApp};
use tokio::time::{Instant, timeout};
use uuid::Uuid;
use wire::id::{ProjectId, UserId};

use crate::webhooks::ENDPOINTS;

/// Two project ids, in the order of their notes.
const FIRST: &str = "00000000-1111-4222-8333-444444444444";
const SECOND: &str = "ffffffff-1111-4222-8333-444444444444";

/// Writes this many items that consist only of a key to a partition.
async fn fill(app: &TestApp, pk: &str, sk: impl Fn(usize) -> String, count: usize) {
    let store = &app.app.store;
    let put = |index| {
        let item = [("pk".to_owned(), AttributeValue::S(pk.to_owned())), ("sk".to_owned(), AttributeValue::S(sk(index)))];
        let put = Put::builder().table_name(store.table()).set_item(Some(item.into())).build().unwrap();
        TransactWriteItem::builder().put(put).build()
    };
    let all: Vec<_> = (0..count).map(put).collect();
    for items in all.chunks(100) {
        store.client().call(TransactWriteItemsInput::builder().set_transact_items(Some(items.to_vec()))).await.unwrap();
    }
}

/// The number of items in a partition.
fn count(app: &TestApp, pk: &str) -> usize {
    let request = json!({ "TableName": app.app.store.table(), "KeyConditionExpression": "pk = :pk", "Select": "COUNT",
        "ExpressionAttributeValues": { ":pk": { "S": pk } } });
    let answer = app.database().query(serde_json::from_value(request).unwrap()).unwrap();
    usize::try_from(serde_json::to_value(answer).unwrap()["Count"].as_u64().unwrap()).unwrap()
}

fn has(app: &TestApp, (pk, sk): &(String, String)) -> bool {
    let request = json!({ "TableName": app.app.store.table(), "Key": { "pk": { "S": pk }, "sk": { "S": sk } } });
    app.database().get_item(serde_json::from_value(request).unwrap()).unwrap().item.is_some()
}

async fn project(app: &TestApp, id: &str) -> Project {
    let (parts, id) = (&app.app, ProjectId::parse(id).unwrap());
    Keys::generate(&parts.entropy, id.clone()).install(&parts.store, &parts.clock, &parts.entropy).await.unwrap();
    parts.store.project(&id).await.unwrap().unwrap().project
}

/// Creates users with sessions, all users in the same part of the list of users.
async fn users(app: &TestApp, project: &ProjectId, sessions: usize, count: usize) {
    for number in 0..count {
        let id = UserId::from(Uuid::from_u128((number as u128) << 64));
        let user = User { id, ..User::new(&app.app.entropy, app.now()) };
        app.app.store.transact([user::create(project, &user).unwrap()]).await.unwrap();
        let session = |_| format!("SESSION#{}", app.app.entropy.uuid());
        fill(app, &format!("U#{project}#{id}"), session, sessions).await;
    }
}

/// Deletes two projects, and pauses the clock.
async fn end_both(app: &TestApp, projects: [&Project; 2]) {
    for project in projects {
        app.app.store.end_project(project, app.now()).await.unwrap();
    }
    tokio::time::pause();
    app.recorder.clear();
    app.recorder.measure();
}

/// The pending deletions of projects.
async fn pending(app: &TestApp) -> Vec<String> {
    app.app.store.endings().await.unwrap().into_iter().map(|ending| ending.project.to_string()).collect()
}

/// Advances the clock to a minute when the worker begins with the first of two deletions.
fn await_turn_of_first(app: &TestApp) {
    app.advance(SignedDuration::from_secs(60 + 60 * (app.now().as_second() / 60 % 2)));
    app.advance(SignedDuration::from_secs(60 * (app.now().as_second() / 60 % 2)));
}

#[tokio::test]
async fn partitions_are_deleted_in_parts_while_there_is_time() {
    let app = TestApp::start().await;
    let id = app.project_id().clone();
    let endpoint = app.admin().post(ENDPOINTS, json!({ "url": "https://example.com/hooks", "event_types": [] })).await.json();
    let deliveries = format!("W#{id}#{}", endpoint["id"].as_str().unwrap());
    let trail = format!("P#{id}#TRAIL#{}", app.now().to_string().split_once('T').unwrap().0);
    let words = format!("WORDS#{id}#0");
    let sk = |index| format!("ITEM#{index:05}");
    for partition in [&deliveries, &trail, &words] {
        fill(&app, partition, sk, 1500).await;
    }
    let project = app.app.store.project(&id).await.unwrap().unwrap().project;
    app.app.store.end_project(&project, app.now()).await.unwrap();
    tokio::time::pause();
    app.recorder.clear();
    app.recorder.measure();

    let purge =
        async |time: Duration| app.app.store.purge_project(&id, project.created_at, app.now(), Instant::now() + time).await.unwrap();
    assert_eq!(purge(10 * ROUND_TRIP).await, Purge::Unfinished);
    for partition in [&deliveries, &trail] {
        assert!((300..1300).contains(&count(&app, partition)), "{partition}: {}", count(&app, partition));
    }
    // The deliveries are found through their endpoint, so the endpoint is not deleted.
    let key = (format!("P#{id}"), format!("WEBHOOK#{}", endpoint["id"].as_str().unwrap()));
    assert!(has(&app, &key));
    let mut steps = 1;
    while purge(10 * ROUND_TRIP).await == Purge::Unfinished {
        steps += 1;
    }
    assert!((3..20).contains(&steps), "{steps}");
    assert_eq!(purge(1000 * ROUND_TRIP).await, Purge::Nothing);
    assert_eq!([&deliveries, &trail, &words].map(|partition| count(&app, partition)), [0; 3]);
    assert!(!has(&app, &key));

    // The results of a query are deleted before the next query of the partition.
    for partition in [&deliveries, &trail, &words] {
        let of_it = app.recorder.calls().into_iter().filter(|(_, body)| body.contains(&format!("{partition:?}")));
        let sizes = of_it.map(|(call, body)| if call == "Query" { 0 } else { deleted(&body, partition) });
        let sizes: Vec<usize> = sizes.collect();
        let parts = sizes.split(|size| *size == 0).map(|part| part.iter().sum::<usize>());
        assert!(parts.max().unwrap() <= 300, "{partition}: {sizes:?}");
    }
}

/// The number of items of a partition that a transaction deletes.
fn deleted(body: &str, partition: &str) -> usize {
    let body: Value = serde_json::from_str(body).unwrap();
    let items = body["TransactItems"].as_array().unwrap().iter();
    items.filter(|item| item["Delete"]["Key"]["pk"]["S"] == partition).count()
}

#[tokio::test]
async fn a_worker_that_is_stopped_in_each_step_completes_other_deletions() {
    let app = TestApp::start().await;
    let (large, small) = (project(&app, FIRST).await, project(&app, SECOND).await);
    users(&app, &large.id, 12, 150).await;
    end_both(&app, [&large, &small]).await;
    await_turn_of_first(&app);
    for _ in 0..6 {
        // Five seconds are too short for the large project, but more than long enough for the small
        // one.
        let stopped = timeout(Duration::from_secs(5), workers::endings::step(&app.app, Instant::now() + Duration::from_secs(100)));
        stopped.await.ok();
        if pending(&app).await == [FIRST] {
            return;
        }
        app.advance(SignedDuration::from_secs(60));
    }
    panic!("{:?}", pending(&app).await);
}

#[tokio::test]
async fn each_deletion_gets_a_share_of_the_time() {
    let app = TestApp::start().await;
    let (large, small) = (project(&app, FIRST).await, project(&app, SECOND).await);
    users(&app, &large.id, 12, 120).await;
    end_both(&app, [&large, &small]).await;
    await_turn_of_first(&app);
    let step = async || workers::endings::step(&app.app, Instant::now() + Duration::from_secs(16)).await.unwrap();
    assert_eq!(step().await, 0);
    // The items of the second project are deleted, so the next step completes its deletion.
    assert_eq!((step().await, pending(&app).await), (1, vec![FIRST.to_owned()]));
    let mut steps = 0;
    while step().await == 0 {
        steps += 1;
    }
    assert!((1..9).contains(&steps), "{steps}");
    assert_eq!(pending(&app).await, Vec::<String>::new());
}
