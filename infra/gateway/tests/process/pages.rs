//! The inbox and the other pages.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway};

const MESSAGES: &str = "/inbox/api/messages";

async fn messages(gateway: &Gateway, query: &str) -> Vec<Value> {
    let answer = gateway.get(&format!("{MESSAGES}{query}")).await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    answer.json::<Value>().await.unwrap()["items"].as_array().unwrap().clone()
}

/// Asks for a sign-in mail and waits until it is in the inbox.
async fn mail(gateway: &Gateway, email: &str) {
    let before = messages(gateway, "").await.len();
    let body = json!({ "email": email, "callback_url": "http://localhost:3000/magic" });
    let (status, answer) = gateway.client(&gateway.line("Project"), Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    for _ in 0..100 {
        if messages(gateway, "").await.len() > before {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no mail to {email}");
}

fn recipients(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["to"][0].as_str().unwrap()).collect()
}

#[tokio::test]
async fn mails_are_listed_newest_first_and_thrown_away() {
    let folder = Folder::new("inbox");
    let gateway = Gateway::start(&folder.data());
    for email in ["ada@example.com", "bob@example.com", "ada@example.com"] {
        mail(&gateway, email).await;
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let all = messages(&gateway, "").await;
    assert_eq!(recipients(&all), ["ada@example.com", "bob@example.com", "ada@example.com"]);
    assert!(all.windows(2).all(|pair| pair[0]["sent_at_millis"].as_i64() > pair[1]["sent_at_millis"].as_i64()));
    let mut fields: Vec<&str> = all[0].as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["at", "from", "html", "id", "outbox_id", "project_id", "read", "sent_at_millis", "subject", "text", "to"]);
    let code = all[0]["subject"].as_str().unwrap().rsplit(' ').next().unwrap();
    assert!(all[0]["html"].as_str().unwrap().contains(&format!("{code}</p>")));
    assert_eq!(recipients(&messages(&gateway, "?to=Ada%40example.com").await).len(), 2);
    assert_eq!(messages(&gateway, "?to=nobody@example.com").await.len(), 0);

    // The inbox is there after a restart, and after its emptying it is not.
    gateway.signal("KILL");
    gateway.wait();
    let gateway = Gateway::start(&folder.data());
    assert_eq!(messages(&gateway, "").await, all);
    assert_eq!(gateway.send(Method::DELETE, MESSAGES, &[], None).await.status(), 204);
    assert_eq!(messages(&gateway, "").await.len(), 0);
    drop(gateway);
    assert_eq!(messages(&Gateway::start(&folder.data()), "").await.len(), 0);
}

#[tokio::test]
async fn the_page_runs_nothing_from_elsewhere() {
    let folder = Folder::new("page");
    let gateway = Gateway::start(&folder.data());
    let page = gateway.get("/inbox").await;
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(page.text().await.unwrap().contains("Inbox"));
    assert!(gateway.get("/openapi.json").await.json::<Value>().await.is_ok());
    for page in ["/docs", "/docs/api"] {
        let page = gateway.get(page).await;
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(page.status() == 200 && policy.contains("default-src 'none'"), "{policy}");
        // They name this service, and load nothing from another one.
        let text = page.text().await.unwrap().replace("&#x2f;", "/");
        assert!(text.contains(&gateway.url), "{text}");
        assert!(!text.contains("src=") && !text.contains("<link"), "{text}");
    }
}

#[tokio::test]
async fn the_inbox_answers_to_a_loopback_name_alone() {
    let folder = Folder::new("host");
    let gateway = Gateway::start(&folder.data());
    for path in ["/inbox", MESSAGES] {
        for (host, status) in
            [("evil.test", 403), ("localhost.evil.test:8787", 403), ("10.0.0.1", 403), ("localhost", 200), ("127.0.0.1:1", 200)]
        {
            assert_eq!(gateway.send(Method::GET, path, &[("host", host)], None).await.status(), status, "{path} of {host}");
        }
    }
    assert_eq!(gateway.send(Method::DELETE, MESSAGES, &[("host", "evil.test")], None).await.status(), 403);
    // No page of another origin reads it either.
    let foreign = gateway.send(Method::GET, MESSAGES, &[("origin", "https://evil.test")], None).await;
    assert!(foreign.headers().get("access-control-allow-origin").is_none());
    // The API is for everybody.
    assert_eq!(gateway.send(Method::GET, "/health", &[("host", "evil.test")], None).await.status(), 200);
}

#[tokio::test]
async fn the_outbox_is_passed_on_without_a_key_to_its_own_page_on_this_machine_alone() {
    let folder = Folder::new("outbox");
    let gateway = Gateway::start(&folder.data());
    mail(&gateway, "ada@example.com").await;
    let get = async |path: &str, headers: &[(&str, &str)]| gateway.send(Method::GET, path, headers, None).await;
    let listed: Value = get("/outbox/api?limit=1", &[("sec-fetch-site", "same-origin")]).await.json().await.unwrap();
    let path = format!("/outbox/api/{}", listed["items"][0]["id"].as_str().unwrap());
    assert_eq!(get(&path, &[]).await.json::<Value>().await.unwrap()["to"]["emails"], json!(["ada@example.com"]));
    for (name, value) in [("host", "evil.test"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site")] {
        assert_eq!(get("/outbox/api", &[(name, value)]).await.status(), 403, "{name}: {value}");
    }
    let cancelled = gateway.send(Method::PATCH, &path, &[("host", "evil.test")], Some(json!({ "cancel": true }))).await;
    assert_eq!(cancelled.status(), 403);
    assert_eq!(gateway.send(Method::DELETE, &path, &[], None).await.status(), 405);
    let page = get("/outbox", &[]).await;
    assert_eq!((page.status().as_u16(), page.headers()["cache-control"].to_str().unwrap()), (200, "no-store"));
}
