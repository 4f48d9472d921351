//! Publications, with tests about writing them, the posts that are public, and rollbacks.

use std::collections::BTreeMap;

use gateway::content::sample;
use jiff::SignedDuration;
use model::content::{BlogPost, Content};
use support::TestApp;

use super::documents::published;

/// The documents that list posts.
pub(super) const LISTS: [&str; 8] =
    ["/api/v1/blog-posts", "/blog", "/feed.json", "/feed.xml", "/index.md", "/llms-full.txt", "/llms.txt", "/sitemap.xml"];

pub(super) async fn text(app: &TestApp, path: &str) -> String {
    let answer = app.anonymous().get(path).await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    answer.text().to_owned()
}

/// The sample content with an additional post, which becomes public in an hour.
pub(super) fn with_later_post(app: &TestApp) -> Content {
    let mut content = sample(None);
    let time = app.now() + SignedDuration::from_hours(1);
    let later = BlogPost {
        slug: "later".to_owned(),
        title: "Later".to_owned(),
        published_at: time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        excerpt: "A post of the future.".to_owned(),
        url: "/blog/later".to_owned(),
    };
    content.blog_posts.insert(0, later);
    content.texts.insert("later".to_owned(), "The *future*.".to_owned());
    content
}

/// A blog of this many posts, each with a different text.
pub(super) fn long_blog(count: usize) -> Content {
    let mut content = sample(None);
    let post = content.blog_posts[0].clone();
    let slug = |number: usize| format!("post-{number}");
    let post = |number: usize| BlogPost { slug: slug(number), url: format!("/blog/{}", slug(number)), ..post.clone() };
    content.blog_posts = (0..count).rev().map(post).collect();
    content.texts = (0..count).map(|number| (slug(number), format!("Text {number}."))).collect();
    content
}

#[tokio::test]
async fn a_post_appears_by_itself_when_its_time_comes() {
    let app = TestApp::start().await;
    app.publish(&with_later_post(&app)).await;
    let mut etags = BTreeMap::new();
    for path in LISTS {
        let answer = app.anonymous().get(path).await;
        assert!(!answer.text().contains("ater"), "{path}: {}", answer.text());
        etags.insert(path, answer.header("etag").unwrap().to_owned());
    }
    for path in ["/blog/later", "/blog/later.md"] {
        let answer = app.anonymous().get(path).await;
        assert_eq!((answer.status(), answer.header("cache-control")), (404, Some("no-store")), "{path}");
    }
    let tool = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "get_blog_post", "arguments": { "slug": "later" } },
    });
    let call = || app.anonymous().request("POST", "/mcp").header("mcp-protocol-version", "2025-06-18").json(&tool).send();
    assert_eq!(call().await.json()["result"]["isError"], true);

    app.advance(SignedDuration::from_secs(3599));
    assert_eq!(app.anonymous().get("/blog/later").await.status(), 404);
    app.advance(SignedDuration::from_secs(1));
    for path in LISTS {
        let answer = app.anonymous().request("GET", path).header("if-none-match", &etags[path]).send().await;
        assert_eq!(answer.status(), 200, "{path} has changed");
        assert!(answer.text().contains("later"), "{path}: {}", answer.text());
    }
    assert!(text(&app, "/blog/later").await.contains("<em>future</em>"));
    assert_ne!(call().await.json()["result"]["isError"], true);
}

#[tokio::test]
async fn documents_stay_the_same_while_time_passes() {
    let app = published().await;
    let mut before = BTreeMap::new();
    for path in LISTS {
        before.insert(path, text(&app, path).await);
    }
    app.advance(SignedDuration::from_hours(24 * 400));
    for path in LISTS {
        assert_eq!(text(&app, path).await, before[path], "{path}");
    }
}

#[tokio::test]
async fn a_publication_writes_only_what_has_changed() {
    let app = TestApp::start().await;
    let publish = async |content: &Content| app.app.store.publish(content, app.now()).await.unwrap().written;
    let mut content = long_blog(1000);
    assert!(publish(&content).await.unwrap() > 1000);
    assert_eq!(publish(&content).await, None, "the same content again");

    content.texts.insert("post-500".to_owned(), "Another text.".to_owned());
    let written = publish(&content).await.unwrap();
    assert!(written <= 5, "a text, its page, its part of the index and its chunk, not {written} items");
    assert!(text(&app, "/blog/post-500.md").await.ends_with("Another text.\n"));
    assert!(text(&app, "/blog/post-501.md").await.ends_with("Text 501.\n"));

    content.site.description = "Another description".to_owned();
    assert_eq!(publish(&content).await, Some(0), "posts stay where they are");
    assert!(text(&app, "/docs").await.contains("Gatelet") && text(&app, "/llms.txt").await.contains("Another description"));
}

#[tokio::test]
async fn a_rollback_shows_the_publication_before_with_all_its_texts() {
    let app = published().await;
    let mut changed = sample(None);
    changed.texts.insert("hello".to_owned(), "A mistake.".to_owned());
    let gone = changed.blog_posts.iter().position(|post| post.slug == "one-table-is-enough").unwrap();
    changed.blog_posts.remove(gone);
    changed.apps.clear();
    let mut before = BTreeMap::new();
    let paths = ["/apps", "/blog", "/blog/hello", "/blog/one-table-is-enough.md", "/api/v1/apps", "/feed.xml", "/llms-full.txt"];
    for path in paths {
        before.insert(path, text(&app, path).await);
    }
    app.publish(&changed).await;
    assert!(text(&app, "/blog/hello").await.contains("A mistake."));
    assert_eq!(app.anonymous().get("/blog/one-table-is-enough").await.status(), 404);

    let kept = app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    assert_eq!((kept.number, kept.is_current), (1, true));
    for path in paths {
        assert_eq!(text(&app, path).await, before[path], "{path}");
    }
    assert_eq!(app.app.store.roll_back(None, app.now()).await.unwrap(), None, "nothing came before the first publication");
    assert_eq!(app.app.store.roll_back(Some(2), app.now()).await.unwrap().unwrap().number, 2);
    assert!(text(&app, "/blog/hello").await.contains("A mistake."));
    assert_eq!(app.app.store.roll_back(Some(7), app.now()).await.unwrap(), None);

    // After a rollback, the next publication gets the number that follows the publication shown by
    // the rollback.
    app.app.store.roll_back(Some(1), app.now()).await.unwrap();
    changed.texts.insert("hello".to_owned(), "Right.".to_owned());
    app.publish(&changed).await;
    assert_eq!(app.app.store.roll_back(None, app.now()).await.unwrap().unwrap().number, 1);
}

#[tokio::test]
async fn five_publications_are_kept_and_the_rest_is_deleted() {
    let app = TestApp::start().await;
    for number in 1..=9 {
        let mut content = long_blog(3);
        content.texts.insert("post-0".to_owned(), format!("Version {number}."));
        content.site.name = format!("Site {number}");
        app.publish(&content).await;
    }
    let numbers =
        |kept: Vec<store::content::KeptPublication>| kept.into_iter().map(|kept| (kept.number, kept.is_current)).collect::<Vec<_>>();
    let kept = numbers(app.app.store.publications().await.unwrap());
    assert_eq!(kept, [(9, true), (8, false), (7, false), (6, false), (5, false)]);
    let count = |start: &str| app.table().keys().filter(|(pk, sk)| pk == "CONTENT" && sk.starts_with(start)).count();
    assert_eq!((count("PUBLICATION#"), count("TEXT#"), count("SLUGS#"), count("FULL#")), (5, 5 + 2, 5, 5));
    assert_eq!(count(""), 2 + 5 + 7 + 5 + 5 + count("POSTS#"));
    app.app.store.roll_back(Some(5), app.now()).await.unwrap().unwrap();
    assert!(text(&app, "/blog/post-0.md").await.ends_with("Version 5.\n"));
    assert_eq!(app.app.store.roll_back(Some(4), app.now()).await.unwrap(), None);

    // The publication that is being shown is kept, although it is the oldest publication.
    app.publish(&long_blog(2)).await;
    let kept = numbers(app.app.store.publications().await.unwrap());
    assert_eq!(kept, [(10, true), (9, false), (8, false), (7, false), (5, false)]);
    assert_eq!(app.app.store.roll_back(None, app.now()).await.unwrap().unwrap().number, 5);
    assert!(text(&app, "/blog/post-0.md").await.ends_with("Version 5.\n"));
}

#[tokio::test]
async fn rollbacks_and_publications_at_once_leave_one_of_them_whole() {
    let app = published().await;
    let versions: Vec<Content> = (0..4)
        .map(|number| {
            let mut content = long_blog(40 + number);
            content.site.name = format!("Site {number}");
            content.texts.values_mut().for_each(|text| *text = format!("Version {number}."));
            content
        })
        .collect();
    app.publish(&versions[0]).await;
    let publish = async |version: usize| {
        let _ = app.app.store.publish(&versions[version], app.now()).await;
    };
    let roll_back = async {
        for _ in 0..4 {
            let _ = app.app.store.roll_back(None, app.now()).await;
        }
    };
    tokio::join!(publish(1), publish(2), roll_back, publish(3));
    let name = app.anonymous().get("/api/v1/site").await.json()["data"]["name"].as_str().unwrap().to_owned();
    if let Some(version) = name.strip_prefix("Site ") {
        let list = app.anonymous().get("/api/v1/blog-posts").await.json();
        assert_eq!(list["data"].as_array().unwrap().len(), 40 + version.parse::<usize>().unwrap());
        for slug in ["post-0", "post-39"] {
            let page = text(&app, &format!("/blog/{slug}.md")).await;
            assert!(page.ends_with(&format!("Version {version}.\n")), "{name}: {page}");
        }
    } else {
        assert!(text(&app, "/blog/hello").await.contains("<em>Notes</em>"));
    }
}

#[tokio::test]
async fn documents_tell_when_they_last_changed() {
    let app = TestApp::start().await;
    app.publish(&with_later_post(&app)).await;
    let modified = async |path: &str| app.anonymous().get(path).await.header("last-modified").unwrap().to_owned();
    let paths = ["/blog", "/blog/hello", "/apps/notes", "/feed.xml", "/llms-full.txt", "/index.md"];
    let first = modified("/blog").await;
    for path in paths {
        assert_eq!(modified(path).await, first, "{path}");
        let asked = |name: &'static str, value: &str| app.anonymous().request("GET", path).header(name, value).send();
        let again = asked("if-modified-since", &first).await;
        assert_eq!((again.status(), again.text(), again.header("last-modified")), (304, "", Some(&*first)), "{path}");
        assert_eq!(asked("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT").await.status(), 200, "{path}");
        assert_eq!(asked("if-modified-since", "soon").await.status(), 200, "{path}");
        let both = app.anonymous().request("GET", path).header("if-modified-since", &first).header("if-none-match", "\"x\"");
        assert_eq!(both.send().await.status(), 200, "{path}: If-None-Match counts alone");
    }
    app.advance(SignedDuration::from_hours(1));
    assert_ne!(modified("/feed.xml").await, first, "a post has appeared");
    let later = modified("/blog").await;
    app.advance(SignedDuration::from_hours(1));
    app.app.store.publish(&sample(None), app.now()).await.unwrap();
    assert_ne!(modified("/blog").await, later);
    let current = modified("/blog").await;
    app.advance(SignedDuration::from_hours(1));
    app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    assert_ne!(modified("/blog").await, current, "a rollback changes the documents, too");
}
