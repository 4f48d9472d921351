//! `/llms-full.txt`, whose texts are put together at publication.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::publications::{LISTS, long_blog, text};

const PATH: &str = "/llms-full.txt";

fn is_chunk(sk: &str) -> bool {
    sk.starts_with("FULL#")
}

/// The selected items of the content.
fn items(app: &TestApp, is_wanted: impl Fn(&str) -> bool) -> Vec<Value> {
    let content = app.table().into_iter().filter(|((pk, sk), _)| pk == "CONTENT" && is_wanted(sk));
    content.map(|(_, item)| item).collect()
}

/// Deletes the chunks, as if a version without chunks had published the content.
fn delete_chunks(app: &TestApp) {
    for item in items(app, is_chunk) {
        let request = json!({ "TableName": gateway::engine::TABLE, "Key": { "pk": item["pk"], "sk": item["sk"] } });
        app.database().delete_item(serde_json::from_value(request).unwrap()).unwrap();
    }
}

/// Turns all publications into publications of an earlier version, which stored neither chunks nor
/// counts of posts.
async fn age(app: &TestApp) {
    delete_chunks(app);
    for mut item in items(app, |sk| sk == "SITE" || sk.starts_with("PUBLICATION#")) {
        let publication = item["publication"]["M"].as_object_mut().unwrap();
        assert!(publication.remove("chunks").is_some() && publication.remove("counts").is_some());
        app.app.store.put_line(&json!({ "Item": item }).to_string(), true).await.unwrap();
    }
}

/// The number of calls to the table for the document.
async fn calls(app: &TestApp) -> u32 {
    app.recorder.clear();
    app.recorder.measure();
    text(app, PATH).await;
    app.recorder.consumed().calls
}

#[tokio::test]
async fn all_texts_take_two_calls_of_the_table() {
    let app = TestApp::start().await;
    app.publish(&long_blog(300)).await;
    let full = text(&app, PATH).await;
    let places: Vec<_> = (0..300).rev().map(|number| full.find(&format!("\nText {number}.\n")).unwrap()).collect();
    assert!(places.is_sorted(), "newest first");
    assert_eq!(calls(&app).await, 2);

    delete_chunks(&app);
    assert_eq!(text(&app, PATH).await, full, "texts are read one by one if the chunks are gone");
    assert!(calls(&app).await > 2);
}

#[tokio::test]
async fn a_publication_without_chunks_is_shown_and_gets_them_when_published_again() {
    let app = TestApp::start().await;
    let content = long_blog(150);
    app.publish(&content).await;
    let mut before = Vec::new();
    for path in LISTS.into_iter().chain(["/blog?page=2", "/api/v1/blog-posts?offset=149"]) {
        before.push((path, text(&app, path).await));
    }
    age(&app).await;
    for (path, shown) in &before {
        assert_eq!(text(&app, path).await, *shown, "{path}");
    }
    assert_eq!(app.anonymous().get("/blog?page=4").await.status(), 404);

    let published = app.app.store.publish(&content, app.now()).await.unwrap();
    let written = published.written.unwrap();
    assert!(published.number == 2 && written == items(&app, is_chunk).len(), "only chunks are written: {written}");
    assert_eq!(calls(&app).await, 2);
    for (path, shown) in &before {
        assert_eq!(text(&app, path).await, *shown, "{path}");
    }
    assert_eq!(app.app.store.publish(&content, app.now()).await.unwrap().written, None);

    app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    for (path, shown) in &before {
        assert_eq!(text(&app, path).await, *shown, "{path} after a rollback to a publication without chunks");
    }
}

#[tokio::test]
async fn a_rollback_shows_the_texts_of_its_publication_from_chunks() {
    let app = TestApp::start().await;
    let mut content = long_blog(100);
    app.publish(&content).await;
    let before = text(&app, PATH).await;
    content.texts.insert("post-7".to_owned(), "A mistake.".to_owned());
    app.publish(&content).await;
    assert!(text(&app, PATH).await.contains("A mistake."));
    app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    assert_eq!(text(&app, PATH).await, before);
    assert_eq!(calls(&app).await, 2);
}

#[tokio::test]
async fn texts_of_the_future_are_in_the_chunks_and_appear_in_time() {
    let app = TestApp::start().await;
    let mut content = long_blog(100);
    for (hours, post) in content.blog_posts.iter_mut().take(60).enumerate() {
        let time = app.now() + SignedDuration::from_hours(60 - i64::try_from(hours).unwrap());
        post.published_at = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    }
    app.publish(&content).await;
    let shown = async |app: &TestApp| {
        let full = text(app, PATH).await;
        assert!(!full.contains("Omitted"), "{full}");
        full.matches("\nText ").count()
    };
    assert_eq!((shown(&app).await, calls(&app).await), (40, 2));
    app.advance(SignedDuration::from_hours(3));
    assert_eq!((shown(&app).await, calls(&app).await), (43, 2));
    app.advance(SignedDuration::from_hours(100));
    assert_eq!((shown(&app).await, calls(&app).await), (100, 2));
}
