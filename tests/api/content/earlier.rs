//! Content from an earlier version, which overwrote the posts and the index.

use gateway::content::sample;
use serde_json::{Value, json};
use support::TestApp;

const PATHS: [&str; 5] = ["/blog", "/feed.xml", "/llms.txt", "/sitemap.xml", "/api/v1/blog-posts"];

/// A JSON value as a DynamoDB attribute.
fn attribute(value: &Value) -> Value {
    match value {
        Value::Array(values) => json!({ "L": values.iter().map(attribute).collect::<Vec<_>>() }),
        Value::Object(fields) => {
            let fields: serde_json::Map<_, _> = fields.iter().map(|(name, value)| (name.clone(), attribute(value))).collect();
            json!({ "M": fields })
        }
        value => json!({ "S": value.as_str().unwrap() }),
    }
}

/// An item of the third publication, with two pages of posts.
fn item(sk: &str, entity: &Value) -> String {
    let keys = json!({ "pk": { "S": "CONTENT" }, "sk": { "S": sk }, "d": attribute(entity) });
    let mut item = keys.as_object().unwrap().clone();
    if !sk.starts_with("TEXT#") {
        let version = json!({ "version": { "S": "v" }, "post_items": { "N": "2" }, "number": { "N": "3" } });
        item.extend(version.as_object().unwrap().clone());
    }
    json!({ "Item": item }).to_string()
}

fn post(slug: &str, day: &str) -> Value {
    json!({ "slug": slug, "title": slug, "publishedAt": format!("2025-01-{day}T03:04:05Z"), "excerpt": "Short", "url": format!("/blog/{slug}") })
}

async fn published_before() -> TestApp {
    let app = TestApp::start().await;
    let (new, old) = (post("new", "03"), post("old", "02"));
    let place = |slug: &str, day: &str| json!({ "sk": format!("TEXT#2025-01-{day}T03:04:05Z#{slug}#3"), "digest": "x" });
    let items = [
        ("SITE", serde_json::to_value(sample(None).site).unwrap()),
        ("APPS", serde_json::to_value(sample(None).apps).unwrap()),
        ("POSTS#0000", json!([new])),
        ("POSTS#0001", json!([old])),
        ("SLUGS#00", json!({ "new": place("new", "03") })),
        ("SLUGS#07", json!({ "old": place("old", "02") })),
        ("TEXT#2025-01-03T03:04:05Z#new#3", json!({ "post": new, "text": "The *new* text." })),
        ("TEXT#2025-01-02T03:04:05Z#old#3", json!({ "post": old, "text": "The *old* text." })),
        ("TEXT#2025-01-02T03:04:05Z#old#2", json!({ "post": old, "text": "A replaced text." })),
    ];
    for (sk, entity) in items {
        app.app.store.put_line(&item(sk, &entity), true).await.unwrap();
    }
    app
}

fn sort_keys(app: &TestApp) -> Vec<String> {
    app.table().into_keys().filter(|(pk, _)| pk == "CONTENT").map(|(_, sk)| sk).collect()
}

#[tokio::test]
async fn content_of_the_version_before_is_shown_with_its_texts() {
    let app = published_before().await;
    for path in PATHS {
        let shown = app.anonymous().get(path).await;
        let (new, old) = (shown.text().find("new"), shown.text().find("old"));
        assert!(shown.status() == 200 && new.is_some() && new < old, "{path}: {}", shown.text());
    }
    assert_eq!(app.anonymous().get("/api/v1/apps").await.json()["data"].as_array().unwrap().len(), sample(None).apps.len());
    assert!(app.anonymous().get("/blog/old").await.text().contains("The <em>old</em> text."));
    assert!(app.anonymous().get("/blog/new.md").await.text().ends_with("The *new* text.\n"));
    assert_eq!(app.anonymous().get("/blog/other").await.status(), 404);
    let full = app.anonymous().get("/llms-full.txt").await;
    assert!(full.text().contains("The *new* text.") && full.text().contains("The *old* text."), "{}", full.text());
    assert!(!full.text().contains("A replaced text."));
    assert_eq!(app.app.store.roll_back(None, app.now()).await.unwrap(), None, "it kept no publication to return to");
}

#[tokio::test]
async fn content_of_the_version_before_is_replaced_completely() {
    let app = published_before().await;
    app.publish(&sample(None)).await;
    for path in PATHS {
        let shown = app.anonymous().get(path).await;
        assert!(shown.status() == 200 && !shown.text().contains("/blog/old"), "{path}: {}", shown.text());
    }
    assert_eq!(app.anonymous().get("/blog/old").await.status(), 404);
    assert!(app.anonymous().get("/blog/hello").await.text().contains("<em>Notes</em>"));
    let keys = sort_keys(&app);
    assert!(keys.contains(&"PUBLICATION#4".to_owned()), "{keys:?}");
    assert!(keys.iter().all(|sk| ["SITE", "APPS"].contains(&sk.as_str()) || sk.ends_with("#4")), "{keys:?}");
    assert_eq!(app.app.store.roll_back(None, app.now()).await.unwrap(), None);
}
