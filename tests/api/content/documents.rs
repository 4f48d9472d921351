//! The site's documents, as fetched by feed readers, crawlers and language models.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use api::http::Operations;
use axum::Router;
use axum::body::Body;
use http::Request;
use model::content::Content;
use support::{API_URL, Answer, TestApp};
use tower::ServiceExt as _;

use super::{content, is_declared};

const SITE: &str = "https://site.example";

/// Documents with their media types.
pub(super) const DOCUMENTS: [(&str, &str); 22] = [
    ("/", "text/html; charset=utf-8"),
    ("/.well-known/agent-card.json", "application/json"),
    ("/.well-known/ai-catalog.json", "application/ai-catalog+json"),
    ("/.well-known/api-catalog", "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\""),
    ("/apps", "text/html; charset=utf-8"),
    ("/apps/notes", "text/html; charset=utf-8"),
    ("/blog", "text/html; charset=utf-8"),
    ("/blog/hello", "text/html; charset=utf-8"),
    ("/blog/hello.md", "text/markdown; charset=utf-8"),
    ("/cli/site.tgz", "application/gzip"),
    ("/feed.json", "application/feed+json"),
    ("/feed.xml", "application/atom+xml; charset=utf-8"),
    ("/icon.svg", "image/svg+xml"),
    ("/index.md", "text/markdown; charset=utf-8"),
    ("/llms-full.txt", "text/plain; charset=utf-8"),
    ("/llms.txt", "text/plain; charset=utf-8"),
    ("/mcp/server-card", "application/mcp-server-card+json"),
    ("/openapi.json", "application/json"),
    ("/robots.txt", "text/plain; charset=utf-8"),
    ("/sitemap.xml", "application/xml; charset=utf-8"),
    ("/style.css", "text/css; charset=utf-8"),
    ("/api/v1/site", "application/json; charset=utf-8"),
];

/// A service with the sample content. The content does not contain a URL, so the documents use the
/// URL of the service's site.
pub(super) async fn published() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&gateway::content::sample(None)).await;
    app
}

async fn text(app: &TestApp, path: &str) -> String {
    let answer = app.anonymous().get(path).await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    answer.text().to_owned()
}

#[tokio::test]
async fn every_document_has_a_media_type_a_validator_and_cache_rules() {
    let app = published().await;
    for (path, media_type) in DOCUMENTS {
        let get = app.anonymous().get(path).await;
        assert_eq!((get.status(), get.header("content-type")), (200, Some(media_type)), "{path}");
        assert!(!get.bytes().is_empty(), "{path}");
        assert!(is_declared(path, media_type), "{path}: its route does not have {media_type}");
        assert_eq!(get.header("content-length"), Some(get.bytes().len().to_string().as_str()), "{path}");
        assert!(get.header("cache-control").unwrap().starts_with("public, max-age="), "{path}");
        assert_eq!((get.header("access-control-allow-origin"), get.header("x-content-type-options")), (Some("*"), Some("nosniff")));
        assert_eq!(get.header("vary"), Some("accept-encoding"), "{path}");

        let head = app.anonymous().request("HEAD", path).send().await;
        assert_eq!((head.status(), head.text()), (200, ""), "{path}");
        for name in ["content-type", "content-length", "cache-control", "etag", "link", "content-security-policy"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
        let etag = get.header("etag").unwrap();
        for method in ["GET", "HEAD"] {
            let again = app.anonymous().request(method, path).header("if-none-match", &format!("\"x\", W/{etag}")).send().await;
            assert_eq!((again.status(), again.text()), (304, ""), "{method} {path}");
            assert_eq!((again.header("etag"), again.header("cache-control")), (Some(etag), get.header("cache-control")), "{path}");
        }
    }
}

#[tokio::test]
async fn documents_are_read_only_and_unknown_ones_are_not_found() {
    let app = published().await;
    for (path, _) in DOCUMENTS {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let answer = app.anonymous().request(method, path).send().await;
            assert_eq!((answer.status(), answer.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
            assert_eq!(answer.json()["error"]["code"], "method_not_allowed", "{method} {path}");
        }
    }
    let unknown = [
        ("route_not_found", &["/llms", "/LLMS.txt", "/%ff", "/a%2Fb", "/.well-known/x"][..]),
        ("post_not_found", &["/blog/nothing", "/blog/nothing.md", "/blog/hello.md.md", "/blog/%ff"]),
        ("app_not_found", &["/apps/nothing", "/apps/lantern-labs", "/apps/%ff"]),
    ];
    for (code, paths) in unknown {
        for path in paths {
            let answer = app.anonymous().get(path).await;
            assert_eq!((answer.status(), answer.json()["error"]["code"].as_str()), (404, Some(code)), "{path}");
        }
    }
}

/// The paths of this site that a response links to. The links are absolute URLs in its text, paths
/// in attributes, and the header `link`.
fn links(answer: &Answer) -> BTreeSet<String> {
    let text = answer.text().replace("&amp;", "&");
    let end = |rest: &str| rest.find(|c: char| c.is_whitespace() || "\"'<>)]\\`,".contains(c)).unwrap_or(rest.len());
    let absolute = text.match_indices(SITE).map(|(at, _)| &text[at + SITE.len()..]).map(|rest| &rest[..end(rest)]);
    let paths = text.match_indices("=\"/").map(|(at, _)| &text[at + 2..]).map(|rest| &rest[..end(rest)]);
    let headers = answer.header("link").unwrap_or_default().to_owned();
    let found =
        absolute.chain(paths).filter(|path| path.starts_with('/')).map(|path| path.split('#').next().unwrap_or_default().to_owned());
    let linked = headers.match_indices(SITE).map(|(at, _)| headers[at + SITE.len()..].split('>').next().unwrap_or_default().to_owned());
    found.chain(linked).filter(|path| !path.is_empty()).collect()
}

/// The operations and documents of a deployment, without the pages that only a gateway has.
fn deployed(app: &TestApp) -> Router {
    let mut operations = Operations::new(app.app.clone());
    registry::all_operations(&mut operations);
    let fallback: Router = registry::fallback::router(&app.app).with_state(app.app.clone());
    operations.into_router().fallback_service(fallback).with_state(app.app.clone())
}

async fn fetch(router: &Router, path: &str) -> Answer {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let request = router.clone().oneshot(request);
    Answer::read(request.await.unwrap()).await
}

/// Follows every link to this site, and returns the status of each path.
async fn crawl(app: &TestApp, start: &[&str]) -> BTreeMap<String, u16> {
    let router = deployed(app);
    let mut found: BTreeMap<String, u16> = BTreeMap::new();
    let mut waiting: Vec<String> = start.iter().map(|path| (*path).to_owned()).collect();
    while let Some(path) = waiting.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let answer = fetch(&router, &path).await;
        if answer.header("content-type") != Some("application/gzip") {
            waiting.extend(links(&answer));
        }
        found.insert(path, answer.status());
    }
    found
}

#[tokio::test]
async fn every_link_within_the_documents_leads_somewhere() {
    let app = published().await;
    let found =
        crawl(&app, &["/docs", "/llms.txt", "/index.md", "/sitemap.xml", "/feed.xml", "/.well-known/api-catalog", "/robots.txt"]).await;
    // `/mcp` and `/a2a` accept only POST.
    let expected = |path: &str| if ["/mcp", "/a2a"].contains(&path) { 405 } else { 200 };
    let broken: Vec<_> = found.iter().filter(|(path, status)| **status != expected(path)).collect();
    assert!(broken.is_empty(), "{broken:?}");
    for (path, _) in DOCUMENTS {
        assert!(found.contains_key(path) || ["/", "/style.css"].contains(&path), "no link leads to {path}");
    }
}

#[tokio::test]
async fn each_of_the_eleven_resources_of_the_site_exists() {
    let app = published().await;
    let router = deployed(&app);
    let site = app.anonymous().get("/api/v1/site").await.json();
    let resources = site["data"]["resources"].as_object().unwrap();
    assert_eq!(resources.len(), 11);
    for (name, url) in resources {
        let path = url.as_str().unwrap().strip_prefix(SITE).unwrap();
        let expected = if name == "mcp" { 405 } else { 200 };
        assert_eq!(fetch(&router, path).await.status(), expected, "{name}: {path}");
        assert_eq!(app.anonymous().get(path).await.status(), expected, "{name}: {path} of a gateway");
    }
}

#[tokio::test]
async fn the_description_of_the_api_is_at_the_deployments_own_urls() {
    let app = published().await;
    let described = app.anonymous().get("/openapi.json").await;
    assert!(described.text().len() < 4 * 1024 * 1024 && !described.text().contains(".invalid"));
    let described = described.json();
    assert_eq!((&described["servers"][0]["url"], &described["paths"]["/llms.txt"]), (&API_URL.into(), &serde_json::Value::Null));
    assert_eq!(described["paths"]["/api/v1/site"]["get"]["servers"][0]["url"], SITE);
    let listed = fetch(&deployed(&app), "/docs/api").await;
    for path in described["paths"].as_object().unwrap().keys() {
        assert!(listed.text().contains(&format!(" {path}<")), "{path}");
    }
}

#[tokio::test]
async fn the_tool_is_a_package_for_npm_that_asks_its_own_site() {
    let app = published().await;
    let answer = app.anonymous().get("/cli/site.tgz").await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("application/gzip")));
    assert_eq!(answer.bytes(), app.anonymous().get("/cli/site.tgz").await.bytes());
    assert!(answer.bytes().len() < 100 * 1024);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(answer.bytes()));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let (path, mode) = (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap());
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        files.insert(path, (mode, text));
    }
    let manifest: serde_json::Value = serde_json::from_str(&files["package/package.json"].1).unwrap();
    let (mode, program) = &files[&format!("package/{}", manifest["bin"]["gatelet-site"].as_str().unwrap())];
    assert_eq!(*mode, 0o755);
    assert!(program.starts_with("#!/usr/bin/env node\n") && program.contains("const SITE = \"https://site.example\";"), "{program}");
    assert!(!program.contains("{site_url}") && !program.contains("{name}"));
    assert_eq!(app.anonymous().get("/cli/other.tgz").await.status(), 404);
}

#[tokio::test]
async fn a_page_runs_no_scripts_and_loads_only_its_own_files() {
    let app = published().await;
    let mut evil = gateway::content::sample(None);
    evil.blog_posts[0].title = "<script>alert(1)</script>".to_owned();
    evil.texts.insert(evil.blog_posts[0].slug.clone(), "<script src=//e.example></script>\n\n![x](https://e.example/t.gif)".to_owned());
    app.publish(&evil).await;
    let router = deployed(&app);
    for path in ["/apps", "/apps/notes", "/blog", "/docs", &format!("/blog/{}", evil.blog_posts[0].slug)] {
        let page = fetch(&router, path).await;
        let (html, policy) = (page.text(), page.header("content-security-policy").unwrap());
        assert!(page.status() == 200 && html.starts_with("<!DOCTYPE html>"), "{path}");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("script-src") && !policy.contains("unsafe"), "{policy}");
        assert!(!html.contains("<script") && !html.contains("<img"), "{path}: {html}");
    }
}

#[tokio::test]
async fn a_post_is_shown_with_its_text_and_served_as_markdown() {
    let app = published().await;
    let page = text(&app, "/blog/hello").await;
    assert_eq!(page.matches("<h1>").count(), 1, "the heading that repeats the title is left out: {page}");
    assert!(page.contains("<em>Notes</em>") && page.contains("2025-01-12 00:00:00 UTC"), "{page}");
    let markdown = text(&app, "/blog/hello.md").await;
    assert!(markdown.starts_with("# Hello, Lantern\n\nhttps://site.example/blog/hello, 2025-01-12T00:00:00Z\n\nWe started"), "{markdown}");
    let full = text(&app, "/llms-full.txt").await;
    assert!(full.contains("\n## Hello, Lantern\n") && full.contains("Today *Notes*"), "{full}");
    let places: Vec<_> = content().blog_posts.iter().map(|post| full.find(&format!("## {}", post.title)).unwrap()).collect();
    assert!(places.is_sorted(), "newest first");
}

#[tokio::test]
async fn a_new_text_is_shown_and_an_old_post_is_gone_at_once() {
    let app = published().await;
    let etag = app.anonymous().get("/blog/hello").await.header("etag").unwrap().to_owned();
    let mut changed = gateway::content::sample(None);
    changed.texts.insert("hello".to_owned(), "Another *text*.".to_owned());
    let gone = changed.blog_posts.iter().position(|post| post.slug == "one-table-is-enough").unwrap();
    changed.blog_posts.remove(gone);
    app.publish(&changed).await;
    let answer = app.anonymous().request("GET", "/blog/hello").header("if-none-match", &etag).send().await;
    assert!(answer.status() == 200 && answer.text().contains("Another <em>text</em>."), "{}", answer.text());
    for path in ["/blog/one-table-is-enough", "/blog/one-table-is-enough.md"] {
        assert_eq!(app.anonymous().get(path).await.status(), 404, "{path}");
    }
    for path in ["/llms-full.txt", "/llms.txt", "/feed.xml", "/feed.json", "/sitemap.xml", "/blog"] {
        let shown = text(&app, path).await;
        assert!(shown.contains("hello") || shown.contains("Hello"), "{path}");
        assert!(!shown.contains("one-table-is-enough"), "{path}");
    }
}

#[tokio::test]
async fn readers_of_a_post_never_miss_its_text_during_publications() {
    let app = published().await;
    let versions: Vec<Content> = (0..2)
        .map(|number| {
            let mut content = gateway::content::sample(None);
            content.texts.insert("hello".to_owned(), format!("Version {number}."));
            content
        })
        .collect();
    app.publish(&versions[0]).await;
    let publish = async |parity: usize| {
        for turn in 0..12 {
            app.publish(&versions[(turn + parity) % 2]).await;
        }
    };
    let read = async {
        for _ in 0..60 {
            let page = text(&app, "/blog/hello.md").await;
            assert!(page.ends_with("Version 0.\n") || page.ends_with("Version 1.\n"), "{page}");
            let full = text(&app, "/llms-full.txt").await;
            assert_eq!(full.matches("Version ").count(), 1, "{full}");
        }
    };
    tokio::join!(publish(0), publish(1), read);
}

/// An item of public content in the form of versions that did not store the texts of posts.
fn earlier(sk: &str, entity: &str) -> String {
    format!(r#"{{"Item":{{"pk":{{"S":"CONTENT"}},"sk":{{"S":"{sk}"}},"version":{{"S":"v"}},"post_items":{{"N":"1"}},"d":{entity}}}}}"#)
}

#[tokio::test]
async fn content_of_an_earlier_version_has_pages_without_texts_and_is_replaced() {
    let app = TestApp::start().await;
    let field = |name: &str, value: &str| format!(r#""{name}":{{"S":"{value}"}}"#);
    let post =
        [("slug", "old"), ("title", "Old post"), ("publishedAt", "2025-01-02T03:04:05Z"), ("excerpt", "Short"), ("url", "/blog/old")];
    let post = post.map(|(name, value)| field(name, value)).join(",");
    let mut site = serde_json::to_value(gateway::content::sample(None).site).unwrap();
    site["resources"]["mcpDiscovery"] = "/.well-known/mcp.json".into();
    site["resources"]["cliPackage"] = "/cli".into();
    let texts = |object: &serde_json::Value| {
        let fields = object.as_object().unwrap().iter().filter_map(|(name, value)| Some(field(name, value.as_str()?)));
        fields.collect::<Vec<_>>().join(",")
    };
    let resources = texts(&site["resources"]);
    let site = format!(r#"{{"M":{{{},"resources":{{"M":{{{resources}}}}}}}}}"#, texts(&site));
    for (sk, entity) in [("SITE", site), ("APPS", r#"{"L":[]}"#.to_owned()), ("POSTS#0000", format!(r#"{{"L":[{{"M":{{{post}}}}}]}}"#))] {
        app.app.store.put_line(&earlier(sk, &entity), true).await.unwrap();
    }
    assert!(text(&app, "/blog/old").await.contains("<h1>Old post</h1>"));
    assert!(text(&app, "/llms.txt").await.contains("[Old post](https://site.example/blog/old.md)"));
    assert_eq!(app.anonymous().get("/blog/hello").await.status(), 404);
    let resources = app.anonymous().get("/api/v1/site").await.json()["data"]["resources"].clone();
    assert_eq!(resources["mcpDiscovery"], "https://site.example/.well-known/ai-catalog.json");
    assert_eq!(resources["cliPackage"], "https://site.example/cli/site.tgz");

    app.publish(&gateway::content::sample(None)).await;
    assert_eq!(app.anonymous().get("/blog/old").await.status(), 404);
    assert!(text(&app, "/blog/hello").await.contains("<em>Notes</em>"));
}

#[tokio::test]
async fn a_site_without_a_publication_has_its_documents_too() {
    let app = TestApp::start().await;
    for path in ["/apps", "/blog", "/feed.json", "/feed.xml", "/index.md", "/llms-full.txt", "/llms.txt", "/robots.txt", "/sitemap.xml"] {
        let answer = app.anonymous().get(path).await;
        assert_eq!(answer.status(), 200, "{path}");
    }
    assert!(text(&app, "/feed.xml").await.contains("<updated>1970-01-01T00:00:00Z</updated>"));
}
