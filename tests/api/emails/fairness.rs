//! The work of one project does not delay the work of other projects.

use model::email::category::Category;
use model::outbox::{CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use serde_json::{Map, json};
use store::outbox::work::{DueWork, SearchProgress};
use support::TestApp;
use wire::id::{BroadcastId, EmailId, ProjectId, UserId};

/// Puts urgent emails to this many users into a project's outbox.
async fn urgent(app: &TestApp, project: &ProjectId, count: usize) {
    let new = NewEntry {
        to: Recipients::CustomEmails { emails: Vec::new() },
        source: Source { subject: Some("x".to_owned()), html: Some("<p>x</p>".to_owned()), ..Source::default() },
        variables: Map::new(),
        category: Category::Transactional,
        is_high_priority: true,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    let id = BroadcastId::from(app.app.entropy.uuid());
    let mail = OutboxEntry::new(EmailId::from(app.app.entropy.uuid()), new, app.now());
    let users: Vec<UserId> = (0..count).map(|_| app.app.entropy.uuid().into()).collect();
    let store = &app.app.store;
    store.create_broadcast(project, id, &mail, &users, None).await.unwrap();
    while let Some(row) = store.broadcast(project, id).await.unwrap() {
        store.expand_broadcast(project, &row, app.now()).await.unwrap();
    }
    app.advance(jiff::SignedDuration::from_millis(1));
}

/// The number of calls until the work of `wanted` is found.
async fn calls(app: &TestApp, busy: &[ProjectId], wanted: &ProjectId, searched: &mut SearchProgress) -> usize {
    for call in 1..=100 {
        let due = app.app.store.due_beside(busy, app.now(), 5, searched).await.unwrap();
        assert!(due.iter().all(|due| !busy.contains(due.project())));
        if due.iter().any(|due| due.project() == wanted) {
            return call;
        }
    }
    panic!("the work is never found");
}

#[tokio::test]
async fn work_is_found_behind_that_of_another_project() {
    let app = TestApp::start().await;
    let (first, other) = (app.project_id().clone(), app.another_project().await.project_id);
    urgent(&app, &first, 200).await;
    urgent(&app, &other, 1).await;
    let due = app.app.store.due_beside(&[], app.now(), 5, &mut SearchProgress::default()).await.unwrap();
    assert_eq!((due.len(), due.iter().all(|due| *due.project() == first)), (20, true), "five of each partition");
    // Each call searches five more keys of a partition, which has about fifty keys. After the last
    // key, the search starts again at the first key.
    let mut searched = SearchProgress::default();
    for _ in 0..3 {
        assert!((2..=20).contains(&calls(&app, &[], &other, &mut searched).await));
    }
    // While the first project is busy, each call continues the search.
    assert_eq!(calls(&app, std::slice::from_ref(&first), &other, &mut SearchProgress::default()).await, 1);
    let due = app.app.store.due_beside(&[first.clone(), other], app.now(), 5, &mut SearchProgress::default()).await.unwrap();
    assert!(due.is_empty(), "{due:?}");
}

#[tokio::test]
async fn a_search_behind_much_work_continues_in_the_next_call() {
    let app = TestApp::start().await;
    let (first, other) = (app.project_id().clone(), app.another_project().await.project_id);
    // Each of the four partitions contains more than a thousand entries.
    urgent(&app, &first, 5200).await;
    urgent(&app, &other, 1).await;
    let mut searched = SearchProgress::default();
    for _ in 0..3 {
        assert_eq!(calls(&app, std::slice::from_ref(&first), &other, &mut searched).await, 2);
    }
}

#[tokio::test]
async fn all_work_of_several_projects_is_done() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    urgent(&app, app.project_id(), 300).await;
    urgent(&app, &other.project_id, 300).await;
    let body =
        json!({ "email": "eve@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/v" });
    assert_eq!(app.client_of(&other).post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    app.send_emails().await;
    assert_eq!(app.inbox.messages(Some("eve@example.com")).len(), 1);
    let due: Vec<DueWork> = app.app.store.due_work(app.now() + jiff::SignedDuration::from_hours(1), 10).await.unwrap();
    assert!(due.is_empty(), "{due:?}");
}
