//! Templates, themes and drafts: `/api/v1/internal/email-templates`, `…-themes`, `…-drafts`.

use futures_util::StreamExt as _;
use model::document::{DocumentKind, MAX_DOCUMENTS};
use serde_json::{Value, json};
use support::TestApp;
use wire::id::DocumentId;

const KINDS: [(&str, &str); 3] =
    [("templates", "EMAIL_TEMPLATE_NOT_FOUND"), ("themes", "EMAIL_THEME_NOT_FOUND"), ("drafts", "EMAIL_DRAFT_NOT_FOUND")];
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
pub(crate) const DEFAULT_THEME: &str = "1df07ae6-abf3-4a40-83a5-a1a2cbe336ac";
pub(super) const SIGN_IN: &str = "822687fe-8d0a-4467-a0d1-416b6e639478";

fn base(kind: &str) -> String {
    format!("/api/v1/internal/email-{kind}")
}

/// Creates a document and returns its id.
pub(crate) async fn create(app: &TestApp, kind: &str, body: Value) -> String {
    let answer = app.admin().post(&base(kind), body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

pub(crate) async fn read(app: &TestApp, kind: &str, id: &str) -> Value {
    let answer = app.admin().get(&format!("{}/{id}", base(kind))).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

pub(crate) async fn update(app: &TestApp, kind: &str, id: &str, body: Value) -> Value {
    let answer = app.admin().patch(&format!("{}/{id}", base(kind)), body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// The source of a document of this kind. The element contains the body.
fn source(kind: &str, element: &str) -> String {
    let body = if kind == "themes" { "{{ content }}" } else { "{{ user.display_name }}" };
    format!("<{element}>{body}</{element}>")
}

/// Deletes a theme even if the project has selected it, as a push of the configuration can.
pub(super) async fn lose_theme(app: &TestApp, theme: &str) {
    let (store, id) = (&app.app.store, DocumentId::parse(theme).unwrap());
    assert!(store.delete_mail_document(app.project_id(), DocumentKind::Theme, id, true).await.unwrap());
}

async fn listed(app: &TestApp, kind: &str) -> Vec<Value> {
    app.admin().get(&base(kind)).await.json()[kind].as_array().unwrap().clone()
}

async fn names(app: &TestApp, kind: &str) -> Vec<String> {
    listed(app, kind).await.iter().map(|line| line["display_name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn documents_can_be_created_read_updated_listed_and_deleted() {
    let app = TestApp::start_unobserved().await;
    for (kind, missing) in KINDS {
        let [first, second] = [source(kind, "p"), source(kind, "i")];
        let id = create(&app, kind, json!({ "display_name": "Mine", "html_source": first })).await;
        assert_eq!(read(&app, kind, &id).await["html_source"], first);
        let answer = update(&app, kind, &id, json!({ "html_source": second })).await;
        match kind {
            "templates" => assert!(answer["rendered_html"].as_str().unwrap().contains("<i>Ada Lovelace</i>"), "{answer}"),
            "themes" => assert_eq!(answer, json!({ "display_name": "Mine" })),
            _ => assert_eq!(answer, json!({ "ok": "ok" })),
        }
        let changed = read(&app, kind, &id).await;
        assert_eq!((&changed["html_source"], &changed["display_name"]), (&json!(second), &json!("Mine")));
        assert!(names(&app, kind).await.contains(&"Mine".to_owned()));

        let path = format!("{}/{id}", base(kind));
        let deleted = if kind == "templates" { json!({}) } else { json!({ "ok": "ok" }) };
        assert_eq!(app.admin().delete(&path).await.json(), deleted);
        for gone in [app.admin().get(&path).await, app.admin().delete(&path).await, app.admin().patch(&path, json!({})).await] {
            assert_eq!((gone.status(), gone.code().as_str(), gone.header("x-stack-known-error")), (404, missing, None));
        }
        assert!(!names(&app, kind).await.contains(&"Mine".to_owned()));
    }
}

#[tokio::test]
async fn a_template_and_a_draft_keep_every_field() {
    let app = TestApp::start_unobserved().await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud" })).await;
    let body = json!({
        "display_name": "Hello", "subject_source": "Hi {{ user.display_name }}", "html_source": "<p>x</p>", "text_source": "x",
        "theme_id": theme, "notification_category_name": "Marketing",
    });
    for kind in ["templates", "drafts"] {
        let id = create(&app, kind, body.clone()).await;
        let mut wanted = body.clone();
        wanted["id"] = json!(id);
        wanted["tsx_source"] = wanted["html_source"].clone();
        if kind == "drafts" {
            wanted["sent_at_millis"] = Value::Null;
        }
        assert_eq!(read(&app, kind, &id).await, wanted);
        update(&app, kind, &id, json!({ "text_source": null, "theme_id": false, "notification_category_name": "Transactional" })).await;
        let changed = read(&app, kind, &id).await;
        assert_eq!((&changed["text_source"], &changed["theme_id"]), (&Value::Null, &json!(false)));
        assert_eq!(changed["notification_category_name"], "Transactional");
        update(&app, kind, &id, json!({ "theme_id": null })).await;
        assert_eq!(read(&app, kind, &id).await["theme_id"], Value::Null);
    }
}

/// Published SDKs accept a listed template or draft without `theme_id`, but not with `null`.
#[tokio::test]
async fn lists_leave_out_the_theme_of_the_project() {
    let app = TestApp::start_unobserved().await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud" })).await;
    for kind in ["templates", "drafts"] {
        for chosen in [None, Some(json!(false)), Some(json!(theme))] {
            let mut body = json!({ "display_name": "Hello", "html_source": "<p>x</p>" });
            if let Some(chosen) = &chosen {
                body["theme_id"] = chosen.clone();
            }
            let id = create(&app, kind, body).await;
            let listed = app.admin().get(&base(kind)).await.json();
            let listed = listed[kind].as_array().unwrap().iter().find(|line| line["id"] == *id).unwrap().clone();
            assert_eq!(listed.get("theme_id"), chosen.as_ref(), "{kind}");
        }
    }
}

#[tokio::test]
async fn default_documents_can_be_overridden_and_restored() {
    let app = TestApp::start_unobserved().await;
    let ours = names(&app, "templates").await;
    let names_of_ours = [
        "Account changed",
        "Account claimed",
        "Email verification",
        "New sign-in",
        "Password reset",
        "Sign-in code and link",
        "Sign-in invitation",
        "Team invitation",
        "Too many wrong passwords",
    ];
    assert_eq!(ours, names_of_ours);
    assert_eq!(names(&app, "themes").await, ["Plain"]);
    assert_eq!(names(&app, "drafts").await, Vec::<String>::new());
    for (kind, id) in [("templates", SIGN_IN), ("themes", DEFAULT_THEME)] {
        let original = read(&app, kind, id).await;
        update(&app, kind, id, json!({ "html_source": source(kind, "p"), "display_name": "Mine" })).await;
        assert_eq!(read(&app, kind, id).await["html_source"], source(kind, "p"));
        assert_eq!(names(&app, kind).await.iter().filter(|name| *name == "Mine").count(), 1);
        for _ in 0..2 {
            assert_eq!(app.admin().delete(&format!("{}/{id}", base(kind))).await.status(), 200);
            assert_eq!(read(&app, kind, id).await, original);
        }
    }
    assert_eq!(names(&app, "templates").await, ours);
}

#[tokio::test]
async fn the_sdk_alias_of_a_source_is_accepted_but_modules_are_not() {
    let app = TestApp::start_unobserved().await;
    for (kind, _) in KINDS {
        let [first, second] = [source(kind, "p"), source(kind, "b")];
        let id = create(&app, kind, json!({ "display_name": "Mine", "tsx_source": first })).await;
        for html in [first, second] {
            update(&app, kind, &id, json!({ "tsx_source": html })).await;
            let found = read(&app, kind, &id).await;
            assert_eq!([&found["html_source"], &found["tsx_source"]], [&json!(html), &json!(html)]);
            let line = listed(&app, kind).await.into_iter().find(|line| line["id"] == json!(id)).unwrap();
            assert_eq!(line.get("tsx_source"), (kind != "themes").then_some(&json!(html)), "{kind}");
        }
        let module = "import { Html } from \"@react-email/components\";\nexport function EmailTemplate() { return <Html/>; }\n";
        for (body, path) in [
            (json!({ "display_name": "x", "tsx_source": module }), "body.tsx_source looks like TSX"),
            (json!({ "display_name": "x", "tsx_source": format!(" {}", module.replace('\n', "\n  ")) }), "body.tsx_source looks like TSX"),
            (
                json!({ "display_name": "x", "html_source": format!("/* ours */{}", module.replace('\n', " ")) }),
                "body.html_source looks like TSX",
            ),
            (json!({ "display_name": "x", "tsx_source": "a", "html_source": "b" }), "body.tsx_source is an alias of html_source"),
            (json!({ "display_name": "" }), "body.display_name"),
            (json!({ "display_name": "x", "source": "y" }), "body.source"),
        ] {
            let answer = app.admin().post(&base(kind), body).await;
            assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
            assert!(answer.text().contains(path), "{path}: {}", answer.text());
        }
    }
    for kind in ["templates", "drafts"] {
        let answer = app.admin().post(&base(kind), json!({ "display_name": "x", "theme_id": NOBODY })).await;
        assert!(answer.code() == "SCHEMA_ERROR" && answer.text().contains("body.theme_id must be the id of a theme"));
    }
}

/// The names on each page of a list.
async fn pages(app: &TestApp, kind: &str, limit: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = app.admin().get(&format!("{}?{limit}{cursor}", base(kind))).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert!(answer.bytes().len() <= 1_001_000, "{kind}: {} bytes", answer.bytes().len());
        let page = answer.json();
        assert_eq!(page["is_paginated"], true);
        let lines = page[kind].as_array().unwrap();
        assert!(kind == "themes" || lines.iter().all(|line| line["tsx_source"].as_str().is_some_and(|html| html.contains('<'))));
        pages.push(lines.iter().map(|line| line["display_name"].as_str().unwrap().to_owned()).collect());
        let Some(next) = after(&page) else { return pages };
        cursor = next;
    }
}

/// The query for the next page.
fn after(page: &Value) -> Option<String> {
    let next = page["pagination"]["next_cursor"].as_str()?;
    Some(format!("&cursor={}", url::form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>()))
}

#[tokio::test]
async fn lists_of_documents_have_pages() {
    let app = TestApp::start_unobserved().await;
    for (kind, _) in KINDS {
        for name in ["b", "~", "A", "b"] {
            create(&app, kind, json!({ "display_name": name })).await;
        }
        let all = names(&app, kind).await;
        assert!(all.is_sorted() && all.len() >= 4, "{all:?}");
        for limit in [1, 2, 3, 1000] {
            let found = pages(&app, kind, &format!("limit={limit}")).await;
            assert_eq!(found.concat(), all, "{kind}, {limit}");
            assert!(found.iter().all(|page| page.len() <= limit), "{kind}, {limit}: {found:?}");
        }
        assert_eq!(app.admin().get(&format!("{}?limit=1001", base(kind))).await.code(), "SCHEMA_ERROR");
    }
    let drafts = app.admin().get(&format!("{}?limit=1", base("drafts"))).await.json();
    let elsewhere = app.admin().get(&format!("{}?{}", base("themes"), after(&drafts).unwrap())).await;
    assert_eq!((elsewhere.status(), elsewhere.code().as_str()), (400, "INVALID_CURSOR"));
}

#[tokio::test]
async fn a_list_of_large_documents_has_pages_of_a_megabyte() {
    let app = TestApp::start_unobserved().await;
    let html = format!("<p>{}</p>", "x".repeat(100_000));
    let expected: Vec<String> = (10..35).map(|number| format!("Mine {number}")).collect();
    for name in expected.iter().rev() {
        create(&app, "drafts", json!({ "display_name": name, "html_source": html })).await;
    }
    let found = pages(&app, "drafts", "").await;
    assert_eq!(found.concat(), expected);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [9, 9, 7]);
}

#[tokio::test]
async fn a_new_document_has_starter_sources() {
    let app = TestApp::start_unobserved().await;
    let theme = create(&app, "themes", json!({ "display_name": "Mine" })).await;
    let template = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    let answer = app.admin().post("/api/v1/emails/render-email", json!({ "template_id": template, "theme_id": theme })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert!(answer.json()["html"].as_str().unwrap().starts_with("<!doctype html>"));
}

#[tokio::test]
async fn documents_require_admin_access_to_their_project() {
    let app = TestApp::start_unobserved().await;
    let other = app.another_project().await;
    for (kind, missing) in KINDS {
        let id = create(&app, kind, json!({ "display_name": "Mine" })).await;
        let path = format!("{}/{id}", base(kind));
        for caller in [app.client(), app.server()] {
            for answer in [caller.get(&base(kind)).await, caller.get(&path).await, caller.delete(&path).await] {
                assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
            }
        }
        let stranger = app.admin_of(&other);
        for answer in [stranger.get(&path).await, stranger.delete(&path).await, stranger.patch(&path, json!({})).await] {
            assert_eq!(answer.code(), missing);
        }
        assert_eq!(read(&app, kind, &id).await["display_name"], "Mine");
    }
}

#[tokio::test]
async fn concurrent_changes_are_all_kept() {
    let app = TestApp::start_unobserved().await;
    let id = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    let bodies = [json!({ "subject_source": "S" }), json!({ "html_source": "H" }), json!({ "text_source": "T" })];
    futures_util::future::join_all(bodies.into_iter().map(|body| update(&app, "templates", &id, body))).await;
    let template = read(&app, "templates", &id).await;
    assert_eq!([&template["subject_source"], &template["html_source"], &template["text_source"]], ["S", "H", "T"]);
}

#[tokio::test]
async fn the_limit_of_documents_per_kind_holds_under_concurrency() {
    let app = TestApp::start_unobserved().await;
    for (kind, _) in KINDS {
        let admin = &app.admin();
        let new = move |number: usize| async move { admin.post(&base(kind), json!({ "display_name": format!("No. {number}") })).await };
        futures_util::stream::iter(0..MAX_DOCUMENTS - 2)
            .map(new)
            .buffer_unordered(8)
            .for_each(|answer| async move {
                assert_eq!(answer.status(), 200, "{}", answer.text());
            })
            .await;
        let last = futures_util::future::join_all((0..6).map(new)).await;
        let (made, refused): (Vec<_>, Vec<_>) = last.iter().partition(|answer| answer.status() == 200);
        assert_eq!((made.len(), refused.len()), (2, 4));
        for answer in refused {
            assert_eq!((answer.status(), answer.code().as_str()), (400, "TOO_MANY_EMAIL_DOCUMENTS"));
            assert_eq!(answer.json()["details"], json!({ "max": MAX_DOCUMENTS }));
        }
        let ours = match kind {
            "templates" => 9,
            "themes" => 1,
            _ => 0,
        };
        assert_eq!(names(&app, kind).await.len(), MAX_DOCUMENTS + ours);

        let id = made[0].json()["id"].as_str().unwrap().to_owned();
        let path = format!("{}/{id}", base(kind));
        assert_eq!([app.admin().delete(&path).await.status(), app.admin().delete(&path).await.status()], [200, 404]);
        assert_eq!([new(1).await.status(), new(2).await.status()], [200, 400], "a deleted document frees one place");
    }
    // Overrides of defaults do not count towards the limit.
    update(&app, "templates", SIGN_IN, json!({ "subject_source": "S" })).await;
    assert_eq!(app.admin().delete(&format!("{}/{SIGN_IN}", base("templates"))).await.status(), 200);
    let answer = app.admin().post(&base("templates"), json!({ "display_name": "One more" })).await;
    assert_eq!(answer.code(), "TOO_MANY_EMAIL_DOCUMENTS");
}
