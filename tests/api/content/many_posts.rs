//! The costs of the documents with 10,000 posts on the site.

use std::fmt::Write as _;

use expect_test::expect_file;
use model::content::{BlogPost, Content};
use serde_json::json;
use support::TestApp;

use super::mcp::{modern, tool};

const POSTS: usize = 10_000;
/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 4 << 20;

const HEAD: &str = "\
# What the content costs at 10,000 posts

Written by `UPDATE_EXPECT=1 cargo test -p tests --test api many_posts`, with 10,000 posts whose
excerpts have 200 characters and whose texts have 1 KB. A call to the table reads up to 100 items:
parts of the list with 64 posts on average, or chunks of texts. Texts are compressed at publication.
This test's texts repeat themselves, so they compress better than usual texts. Caches in front of
the service keep documents for five minutes and lists for one minute, so these are costs per request
from a cache, not from a reader. Responses to models and agents are not cached. A process keeps the
content that it has read for searches and resources until the next publication.

| answer | bytes | calls to the table | read units |
|---|---|---|---|
";

/// The sample content with many posts.
fn many() -> Content {
    let mut content = gateway::content::sample(None);
    let post = |number: usize| BlogPost {
        slug: format!("post-{number:05}"),
        title: format!("Post {number}"),
        published_at: format!("2026-01-01T00:00:{:02}Z", 59 - number * 60 / POSTS),
        excerpt: "An excerpt has words. ".repeat(10)[..200].trim_end().to_owned(),
        url: format!("/blog/post-{number:05}"),
    };
    content.blog_posts = (0..POSTS).map(post).collect();
    content.texts = content.blog_posts.iter().map(|post| (post.slug.clone(), "A text has words.\n\n".repeat(54))).collect();
    content
}

#[tokio::test]
async fn documents_of_ten_thousand_posts_take_few_calls_of_the_table() {
    let app = TestApp::start().await;
    // In a test, writing four megabytes takes longer than the timeout of a call to the table.
    tokio::time::pause();
    app.publish(&many()).await;
    tokio::time::resume();
    let mut table = HEAD.to_owned();
    let mut row = |name: &str, bytes: usize, max: u32| {
        let consumed = app.recorder.consumed();
        let _ = writeln!(table, "| {name} | {bytes} | {} | {} |", consumed.calls, consumed.read);
        assert!(bytes <= MAX_BYTES, "{name}: {bytes} bytes");
        assert!(consumed.calls <= max, "{name}: {} calls", consumed.calls);
        app.recorder.clear();
        app.recorder.measure();
    };
    app.recorder.measure();
    // A document takes at most one call for the publication, and a few more calls for its content.
    // The list of all posts takes two calls, a page of the blog or the texts take one call, and a
    // post takes three calls.
    for (path, max) in [
        ("/api/v1/blog-posts", 3),
        ("/feed.xml", 3),
        ("/feed.json", 3),
        ("/sitemap.xml", 3),
        ("/llms.txt", 3),
        ("/index.md", 3),
        ("/blog", 2),
        ("/blog?page=100", 2),
        ("/llms-full.txt", 2),
        ("/blog/post-05000", 4),
        ("/blog/post-05000.md", 4),
    ] {
        let answer = app.anonymous().get(path).await;
        assert_eq!(answer.status(), 200, "{path}");
        row(&format!("`{path}`"), answer.bytes().len(), max);
    }
    let full = app.anonymous().get("/llms-full.txt").await;
    let shown = full.text().matches("\n## Post ").count();
    assert_eq!(full.text().matches("A text has words.").count(), shown * 54);
    let rest = full.text().trim_end().rsplit(' ').nth(2).unwrap().to_owned();
    let rest = app.anonymous().get(rest.strip_prefix("https://site.example").unwrap()).await.json();
    assert!(shown > 3000 && rest["data"][0]["title"] == format!("Post {shown}"), "{shown}");
    app.recorder.clear();
    app.recorder.measure();
    let search = tool(&app, "search", json!({ "query": "9999" })).await;
    assert_eq!(search["result"]["structuredContent"]["data"][0]["title"], "Post 9999");
    row("the tool `search`, first after a publication", search.to_string().len(), 3);
    let search = tool(&app, "search", json!({ "query": "9999" })).await;
    row("the tool `search`", search.to_string().len(), 1);
    let read =
        modern(&app, "resources/read", Some("https://site.example/llms.txt"), json!({ "uri": "https://site.example/llms.txt" })).await;
    row("the resource `llms.txt`", read.bytes().len(), 1);
    let listed = tool(&app, "list_blog_posts", json!({})).await;
    row("the tool `list_blog_posts`", listed.to_string().len(), 2);
    let listed = tool(&app, "list_blog_posts", json!({ "offset": 9_900 })).await;
    assert_eq!(listed["result"]["structuredContent"]["data"][99]["title"], "Post 9999");
    row("the same with `offset: 9900`", listed.to_string().len(), 2);
    let resources = modern(&app, "resources/list", None, json!({})).await;
    row("`resources/list`", resources.bytes().len(), 2);
    expect_file!["../../../infra/content-costs.md"].assert_eq(&table);
}
