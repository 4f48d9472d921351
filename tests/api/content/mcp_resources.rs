//! The resources of the MCP endpoint, and lists longer than a page.

use model::content::BlogPost;
use serde_json::{Value, json};
use support::TestApp;

use super::documents::published;
use super::mcp::{modern, request, send, tool};

async fn listed(app: &TestApp, params: Value) -> Value {
    modern(app, "resources/list", None, params).await.json()["result"].clone()
}

async fn read(app: &TestApp, uri: &str) -> Value {
    modern(app, "resources/read", Some(uri), json!({ "uri": uri })).await.json()
}

#[tokio::test]
async fn a_resource_is_the_document_at_its_url() {
    let app = published().await;
    let list = listed(&app, json!({})).await;
    let resources = list["resources"].as_array().unwrap();
    let uris: Vec<_> = resources.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let paths = ["index.md", "llms.txt", "blog/one-table-is-enough.md", "blog/codes-that-survive-a-mail-scanner.md", "blog/hello.md"];
    assert_eq!(uris, paths.map(|path| format!("https://site.example/{path}")));
    assert_eq!((&list["cacheScope"], &list["nextCursor"]), (&json!("public"), &Value::Null));
    for one in resources {
        let uri = one["uri"].as_str().unwrap();
        let result = read(&app, uri).await["result"].clone();
        let document = app.anonymous().get(uri.strip_prefix("https://site.example").unwrap()).await;
        let contents = json!([{ "uri": uri, "mimeType": document.header("content-type").unwrap(), "text": document.text() }]);
        assert_eq!((&result["contents"], &one["mimeType"]), (&contents, &contents[0]["mimeType"]), "{uri}");
        assert!(result["ttlMs"].is_u64(), "{uri}");
    }
    let templates = modern(&app, "resources/templates/list", None, json!({})).await.json()["result"].clone();
    let template = templates["resourceTemplates"][0]["uriTemplate"].as_str().unwrap();
    assert!(uris.contains(&template.replace("{slug}", "hello").as_str()), "{template}");
}

#[tokio::test]
async fn an_unknown_resource_is_named_in_the_error() {
    let app = published().await;
    let unknown = [
        "https://site.example/blog/none.md",
        "https://site.example/blog/hello",
        "https://site.example/blog/../index.md",
        "https://site.example//index.md",
        "https://site.example/api/v1/site",
        "https://site.example",
        "https://site.example.evil.example/index.md",
        "http://site.example/index.md",
        "index.md",
        "file:///etc/passwd",
        "",
    ];
    for uri in unknown {
        let error = read(&app, uri).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{uri}");
    }
    for params in [json!({}), json!({ "uri": 7 })] {
        let error = modern(&app, "resources/read", None, params).await.json()["error"].clone();
        assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &Value::Null));
    }
    let elsewhere =
        modern(&app, "resources/read", Some("https://site.example/llms.txt"), json!({ "uri": "https://site.example/index.md" }));
    assert_eq!(elsewhere.await.json()["error"]["code"], -32020, "the header names another resource");
}

#[tokio::test]
async fn exactly_what_is_declared_is_answered() {
    let app = published().await;
    let declared = modern(&app, "server/discover", None, json!({})).await.json()["result"]["capabilities"].clone();
    assert_eq!(declared, json!({ "tools": {}, "resources": {}, "prompts": {} }));
    let body = request("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    assert_eq!(send(&app, &[], &body).await.json()["result"]["capabilities"], declared);
    for name in declared.as_object().unwrap().keys() {
        let list = modern(&app, &format!("{name}/list"), None, json!({})).await.json()["result"].clone();
        assert!(list[name].is_array() && list["ttlMs"].is_u64() && list["resultType"] == "complete", "{name}: {list}");
    }
    assert_eq!(modern(&app, "prompts/get", Some("x"), json!({ "name": "x" })).await.json()["error"]["code"], -32602);
    for method in ["resources/subscribe", "subscriptions/listen", "logging/setLevel", "completion/complete", "tasks/list", "ping"] {
        let answer = modern(&app, method, None, json!({})).await;
        assert_eq!((answer.status(), &answer.json()["error"]["code"]), (404, &json!(-32601)), "{method}");
    }
}

#[tokio::test]
async fn many_posts_are_listed_in_parts_without_a_gap() {
    let app = TestApp::start().await;
    let mut content = gateway::content::sample(None);
    let post = |number: usize| BlogPost { slug: format!("post-{number:03}"), ..content.blog_posts[0].clone() };
    content.blog_posts = (0..450).map(post).collect();
    content.texts.clear();
    app.publish(&content).await;
    let expected: Vec<_> = content.blog_posts.iter().map(|post| post.slug.clone()).collect();

    let (mut slugs, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = listed(&app, cursor).await;
        slugs.extend(page["resources"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = json!({ "cursor": next });
    }
    assert_eq!(slugs[..2], ["index.md", "llms.txt"]);
    assert_eq!(slugs[2..], expected);
    for cursor in [json!(7), json!("x"), json!("-1")] {
        let refused = modern(&app, "resources/list", None, json!({ "cursor": cursor })).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{cursor}");
    }

    let mut slugs = Vec::new();
    for offset in [0, 200, 400, 600] {
        let result = tool(&app, "list_blog_posts", json!({ "offset": offset })).await["result"]["structuredContent"].clone();
        assert_eq!(result["total"], if offset < 450 { json!(450) } else { Value::Null }, "{offset}");
        slugs.extend(result["data"].as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap().to_owned()));
    }
    assert_eq!(slugs, expected);
}
