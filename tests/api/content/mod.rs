//! How the public content is published, and how visitors, caches and agents read it over HTTP.

mod a2a;
mod bucket;
mod catalogue;
mod compression;
mod documents;
mod earlier;
mod full_text;
mod images;
mod many_posts;
mod mcp;
mod mcp_resources;
mod pages;
mod previews;
mod publications;
mod rust_client;
mod security_text;

use gateway::content::sample;
use model::content::{BlogPost, Content};
use registry::routes;
use serde_json::{Value, json};
use support::TestApp;

const PATHS: [&str; 4] = ["/api/v1/apps", "/api/v1/apps/notes", "/api/v1/blog-posts", "/api/v1/site"];

fn content() -> Content {
    sample(Some("https://example.com"))
}

/// Whether a document's route declares its media type. Routes of objects do not declare a media
/// type.
fn is_declared(path: &str, media_type: &str) -> bool {
    let bare = media_type.split(';').next().unwrap();
    let matching = routes().iter().filter(|route| route.matches(path));
    let media = matching.min_by_key(|route| route.path.matches('{').count()).unwrap().answer.media;
    media.iter().any(|declared| *declared == bare || declared.strip_suffix('*').is_some_and(|start| bare.starts_with(start)))
        || path.starts_with("/api/")
}

fn ids(list: &Value, name: &str) -> Vec<String> {
    list["data"].as_array().unwrap().iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

fn fields(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

async fn published() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&content()).await;
    app
}

#[tokio::test]
async fn visible_apps_are_listed_in_directory_order() {
    let app = published().await;
    let list = app.anonymous().get("/api/v1/apps").await;
    assert_eq!(list.status(), 200);
    assert_eq!(fields(&list.json()), ["data"]);
    assert_eq!(ids(&list.json(), "id"), ["notes", "board", "digest", "cli"]);
    assert_eq!(fields(&list.json()["data"][0]), ["displayName", "id", "subtitle", "url"]);
}

#[tokio::test]
async fn a_single_app_equals_its_list_entry() {
    let app = published().await;
    let list = app.anonymous().get("/api/v1/apps").await.json();
    for listed in list["data"].as_array().unwrap() {
        let one = app.anonymous().get(&format!("/api/v1/apps/{}", listed["id"].as_str().unwrap())).await;
        assert_eq!(one.status(), 200);
        assert_eq!(one.json(), json!({ "data": listed }));
    }
}

#[tokio::test]
async fn hidden_unknown_and_malformed_app_ids_are_not_found() {
    let app = published().await;
    for id in ["lantern-labs", "nothing", "Notes", "notes%2F", "a%2Fb", "..notes", "%ff%fe", "notes%00", "%F0%9F%92%A1"] {
        let answer = app.anonymous().get(&format!("/api/v1/apps/{id}")).await;
        assert_eq!(answer.status(), 404, "{id}");
        let error = &answer.json()["error"];
        assert_eq!(fields(&answer.json()), ["error"], "{id}");
        assert_eq!(fields(error), ["code", "documentation_url", "hint", "message"], "{id}");
        assert_eq!(error["code"], "app_not_found", "{id}");
        assert!(error["documentation_url"].as_str().unwrap().starts_with("http"), "{id}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{id}");
    }
}

#[tokio::test]
async fn posts_are_listed_newest_first_with_short_plain_excerpts() {
    let app = published().await;
    let list = app.anonymous().get("/api/v1/blog-posts").await;
    assert_eq!(list.status(), 200);
    let list = list.json();
    assert_eq!(ids(&list, "slug"), ["one-table-is-enough", "codes-that-survive-a-mail-scanner", "hello"]);
    assert_eq!(list["data"][1]["publishedAt"], "2025-02-03T08:30:00Z");
    for post in list["data"].as_array().unwrap() {
        assert_eq!(fields(post), ["excerpt", "publishedAt", "slug", "title", "url"]);
        let excerpt = post["excerpt"].as_str().unwrap();
        assert!(!excerpt.is_empty() && excerpt.chars().count() <= 200, "{excerpt}");
    }
}

#[tokio::test]
async fn a_long_blog_is_listed_and_replaced_completely() {
    let app = TestApp::start().await;
    let mut long = content();
    let post = long.blog_posts[0].clone();
    long.blog_posts = (0..3000).map(|number| BlogPost { slug: format!("post-{number}"), ..post.clone() }).collect();
    app.publish(&long).await;
    let slugs = ids(&app.anonymous().get("/api/v1/blog-posts").await.json(), "slug");
    assert_eq!(slugs, long.blog_posts.iter().map(|post| post.slug.clone()).collect::<Vec<_>>());

    app.publish(&content()).await;
    assert_eq!(ids(&app.anonymous().get("/api/v1/blog-posts").await.json(), "slug").len(), 3);
}

#[tokio::test]
async fn the_site_names_its_eleven_resources() {
    let app = published().await;
    let site = app.anonymous().get("/api/v1/site").await;
    assert_eq!(site.status(), 200);
    let site = site.json();
    assert_eq!(fields(&site["data"]), ["description", "name", "resources", "url"]);
    let names = [
        "agentCard",
        "cliPackage",
        "docs",
        "docsApiReference",
        "feedXml",
        "indexMd",
        "llmsFullTxt",
        "llmsTxt",
        "mcp",
        "mcpDiscovery",
        "openapi",
    ];
    assert_eq!(fields(&site["data"]["resources"]), names);
    assert!(site["data"]["resources"].as_object().unwrap().values().all(|url| url.as_str().unwrap().starts_with("https://example.com/")));
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let app = published().await;
    for path in PATHS {
        let (get, head) = (app.anonymous().get(path).await, app.anonymous().request("HEAD", path).send().await);
        assert_eq!(head.status(), 200, "{path}");
        for name in ["etag", "cache-control", "content-type", "content-length", "access-control-allow-origin"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
    }
    let missing = app.anonymous().request("HEAD", "/api/v1/apps/nothing").send().await;
    assert_eq!(missing.status(), 404);
}

#[tokio::test]
async fn cached_content_is_revalidated_until_the_next_publication() {
    let app = published().await;
    for path in PATHS {
        let first = app.anonymous().get(path).await;
        let etag = first.header("etag").unwrap().to_owned();
        assert!(etag.starts_with('"'), "{etag} is strong");
        assert_eq!(first.header("cache-control"), Some("public, max-age=60, stale-while-revalidate=600"));
        assert_eq!(first.header("access-control-allow-origin"), Some("*"));
        for wanted in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            for method in ["GET", "HEAD"] {
                let again = app.anonymous().request(method, path).header("if-none-match", &wanted).send().await;
                assert_eq!(again.status(), 304, "{method} {path} {wanted}");
                assert_eq!(again.header("etag"), Some(etag.as_str()));
            }
        }
        let other = app.anonymous().request("GET", path).header("if-none-match", "\"other\"").send().await;
        assert_eq!(other.status(), 200);
    }

    let etag = app.anonymous().get("/api/v1/site").await.header("etag").unwrap().to_owned();
    let mut changed = content();
    "Another name".clone_into(&mut changed.site.name);
    app.publish(&changed).await;
    let answer = app.anonymous().request("GET", "/api/v1/site").header("if-none-match", &etag).send().await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.json()["data"]["name"], "Another name");
}

#[tokio::test]
async fn other_methods_are_rejected_with_the_allowed_ones() {
    let app = published().await;
    for path in PATHS {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let answer = app.anonymous().request(method, path).send().await;
            assert_eq!(answer.status(), 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {path}");
            assert_eq!(answer.json()["error"]["code"], "method_not_allowed", "{method} {path}");
        }
    }
}

#[tokio::test]
async fn queries_and_credentials_are_ignored() {
    let app = published().await;
    let plain = app.anonymous().get("/api/v1/apps").await.json();
    assert_eq!(app.anonymous().get("/api/v1/apps?page=7&id=%ff&x").await.json(), plain);
    let with_key = app.anonymous().request("GET", "/api/v1/apps").header("x-service-secret-server-key", "nonsense").send().await;
    assert_eq!(with_key.json(), plain);
}

#[tokio::test]
async fn readers_never_see_a_mixed_publication() {
    let app = published().await;
    let (small, mut large) = (content(), content());
    let post = large.blog_posts[0].clone();
    large.blog_posts = (0..1500).map(|number| BlogPost { slug: format!("post-{number}"), ..post.clone() }).collect();
    let publish = async {
        for turn in 0..6 {
            app.publish(if turn % 2 == 0 { &large } else { &small }).await;
        }
    };
    let read = async {
        for _ in 0..20 {
            let list = app.anonymous().get("/api/v1/blog-posts").await;
            assert_eq!(list.status(), 200);
            let length = ids(&list.json(), "slug").len();
            assert!(length == 3 || length == 1500, "{length} posts do not match any publication");
        }
    };
    tokio::join!(publish, read);
}
