//! The content that a process keeps for responses that are not cached: searches of `/mcp` and
//! `/a2a`, and documents from `/mcp`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::mcp::{modern, tool};
use super::publications::{long_blog, with_later_post};

/// The titles found by a search over the Model Context Protocol.
async fn titles(app: &TestApp, query: &str) -> Vec<String> {
    let found = tool(app, "search", json!({ "query": query })).await["result"]["structuredContent"]["data"].clone();
    found.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
}

/// The response of the agent to this text.
async fn agent(app: &TestApp, text: &str) -> Value {
    let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": text }] });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": message } });
    let request = app
        .anonymous()
        .request("POST", "/a2a")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(request.to_string());
    request.send().await.json()["result"]["message"].clone()
}

async fn resource(app: &TestApp, name: &str) -> String {
    let uri = format!("{}/{name}", app.app.settings.site_url);
    let read = modern(app, "resources/read", Some(&uri), json!({ "uri": uri })).await;
    read.json()["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn all_content_is_read_once_for_a_publication() {
    let app = TestApp::start().await;
    app.publish(&long_blog(300)).await;
    app.recorder.clear();
    app.recorder.measure();
    assert_eq!(titles(&app, "posts").await.len(), 20);
    let first = app.recorder.consumed();
    for _ in 0..2 {
        app.recorder.clear();
        app.recorder.measure();
        titles(&app, "posts").await;
        assert!(agent(&app, "posts").await.to_string().contains("post-299"));
        assert!(resource(&app, "llms.txt").await.contains("/blog/post-299.md"));
        assert!(resource(&app, "index.md").await.contains("/blog/post-299.md"));
        let later = app.recorder.consumed();
        assert_eq!(later.calls, 4, "one for each answer");
        assert!(later.read * 2.0 < first.read, "{} units, and {} before", later.read, first.read);
    }
}

#[tokio::test]
async fn a_publication_and_a_rollback_are_seen_at_once() {
    let app = TestApp::start().await;
    assert_eq!(titles(&app, "posts apps").await, [""; 0]);
    assert!(resource(&app, "index.md").await.contains("site.example"));
    let mut content = long_blog(1);
    for title in ["Alpha", "Beta"] {
        content.blog_posts[0].title = title.to_owned();
        app.publish(&content).await;
        assert_eq!(titles(&app, "posts").await, [title]);
        assert!(resource(&app, "index.md").await.contains(title));
    }
    app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    assert_eq!(titles(&app, "posts").await, ["Alpha"]);
    assert!(resource(&app, "index.md").await.contains("Alpha"));
}

#[tokio::test]
async fn a_later_post_is_found_from_its_time_on() {
    let app = TestApp::start().await;
    app.publish(&with_later_post(&app)).await;
    app.advance(SignedDuration::from_secs(3599));
    assert!(!titles(&app, "posts").await.contains(&"Later".to_owned()));
    assert!(!agent(&app, "later posts").await.to_string().contains("Later"));
    assert!(!resource(&app, "llms.txt").await.contains("Later"));
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(titles(&app, "later posts").await[0], "Later");
    assert!(agent(&app, "later posts").await.to_string().contains("Later"));
    assert!(resource(&app, "llms.txt").await.contains("Later"));
}

/// These responses are not cached, so a flood of requests for all posts would cause as many
/// renderings, with megabytes of data for each.
#[tokio::test]
async fn a_resource_shows_the_newest_posts_and_where_the_others_are() {
    let app = TestApp::start().await;
    app.publish(&long_blog(450)).await;
    for name in ["index.md", "llms.txt"] {
        let (read, document) = (resource(&app, name).await, app.anonymous().get(&format!("/{name}")).await);
        let document = document.text();
        let posts = |text: &str| text.matches("/blog/post-").count();
        assert_eq!((posts(&read), posts(document)), (200, 450), "{name}");
        assert!(read.contains("/blog/post-449.md") && read.contains("/blog/post-250.md"), "{name}");
        assert!(read.contains("- [250 older posts](https://site.example/api/v1/blog-posts?offset=200)"), "{name}: {read}");
    }
    let older = app.anonymous().get("/api/v1/blog-posts?offset=200").await.json();
    assert_eq!((older["data"].as_array().unwrap().len(), &older["data"][0]["slug"]), (250, &json!("post-249")));
}

#[tokio::test]
async fn a_search_of_the_content_finds_words_without_their_accents() {
    let app = TestApp::start().await;
    let mut content = long_blog(2);
    content.blog_posts[0].title = "A talk by Ana Núñez".to_owned();
    app.publish(&content).await;
    for query in ["nunez", "NÚÑEZ", "nun\u{303}ez"] {
        assert_eq!(titles(&app, query).await, ["A talk by Ana Núñez"], "{query}");
        assert!(agent(&app, query).await.to_string().contains("Núñez"), "{query}");
    }
}

/// Without this rule, many simultaneous requests after a publication would each read all content
/// again.
#[tokio::test]
async fn one_of_several_requests_reads_a_new_publication() {
    let app = TestApp::start().await;
    app.publish(&long_blog(50)).await;
    titles(&app, "posts").await;
    app.publish(&long_blog(60)).await;
    app.recorder.clear();
    let searches = futures_util::future::join_all((0..10).map(|_| titles(&app, "posts"))).await;
    assert!(searches.iter().all(|titles| titles.len() == 20));
    assert_eq!(app.recorder.count_of("BatchGetItem", "POSTS#"), 1);
}
