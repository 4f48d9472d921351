//! The cost of an outbox page of a hundred entries, depending on the total number of entries:
//! through the router, on the embedded engine in memory. The measured pages are the first one, one
//! near the end, and the first pages of searches that find nothing or everything. To run it:
//! `cargo bench -p tests --bench outbox`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use model::email::category::Category;
use model::outbox::{CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use serde_json::{Map, Value};
use support::TestApp;
use tokio::runtime::Runtime;
use wire::id::{BroadcastId, UserId};

const PATH: &str = "/api/v1/emails/outbox";

/// An outbox with this number of scheduled entries.
async fn outbox(count: usize) -> TestApp {
    let app = TestApp::start().await;
    let source = Source { subject: Some("Hello".to_owned()), html: Some("<p>Hello</p>".to_owned()), ..Source::default() };
    let new = NewEntry {
        to: Recipients::CustomEmails { emails: Vec::new() },
        source,
        variables: Map::new(),
        category: Category::Transactional,
        is_high_priority: false,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    let id = BroadcastId::from(app.app.entropy.uuid());
    let mail = OutboxEntry::new(id.uuid().into(), new, app.now());
    let users: Vec<UserId> = (0..count).map(|_| app.app.entropy.uuid().into()).collect();
    let (store, project) = (&app.app.store, app.project_id());
    store.create_broadcast(project, id, &mail, &users, None).await.expect("a broadcast");
    while let Some(row) = store.broadcast(project, id).await.expect("a broadcast") {
        store.expand_broadcast(project, &row, app.now()).await.expect("entries");
    }
    app
}

async fn page(app: &TestApp, query: &str) -> Value {
    let answer = app.server().get(&format!("{PATH}?{query}")).await;
    assert_eq!(answer.status(), 200);
    answer.json()
}

/// The query for the page that follows this number of pages.
async fn far_behind(app: &TestApp, pages: usize) -> String {
    let mut query = String::new();
    for _ in 0..pages {
        let page = page(app, &query).await;
        query = format!("cursor={}", page["pagination"]["next_cursor"].as_str().expect("a next page"));
    }
    query
}

fn pages(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let mut group = criterion.benchmark_group("page of the outbox");
    group.sample_size(20);
    for count in [1000, 10_000, 100_000] {
        let (app, behind) = runtime.block_on(async {
            let app = outbox(count).await;
            let behind = far_behind(&app, count / 100 - 2).await;
            (app, behind)
        });
        for (name, query) in
            [("first", ""), ("far behind", &*behind), ("nothing found", "status=bounced"), ("all found", "status=preparing")]
        {
            group.bench_with_input(BenchmarkId::new(name, count), query, |bencher, query| {
                bencher.to_async(&runtime).iter(|| page(&app, query));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, pages);
criterion_main!(benches);
