//! The inbox's interface for programs: `/inbox/api/messages`.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, gateway, run, succeeds, variable};

const MESSAGES: &str = "/inbox/api/messages";
const VERIFY: &str = "/handler/email-verification";

async fn json_of(answer: Response) -> Value {
    assert_eq!(answer.headers()["cache-control"], "no-store");
    answer.json().await.unwrap()
}

async fn list(gateway: &Gateway, query: &str) -> Value {
    json_of(gateway.get(&format!("{MESSAGES}?{query}")).await).await
}

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect()
}

/// Requests sign-in emails for the addresses in `to` one by one, and waits for each email.
async fn emails(gateway: &Gateway, project: &str, to: &[&str]) {
    for email in to {
        let before = list(gateway, "limit=0").await["total"].as_u64().unwrap();
        let body = json!({ "email": email, "callback_url": "http://localhost:3000/magic" });
        let (status, answer) = gateway.client(project, Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body)).await;
        assert_eq!(status, 200, "{answer}");
        arrives_after(gateway, before, email).await;
    }
}

/// Waits until the inbox contains more than `before` emails.
async fn arrives_after(gateway: &Gateway, before: u64, email: &str) {
    let mut tries = 0;
    while list(gateway, "limit=0").await["total"].as_u64().unwrap() <= before {
        tries += 1;
        assert!(tries < 3_000, "no email to {email}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn emails_of_all_projects_can_be_searched_filtered_and_paged() {
    let folder = Folder::new("inbox-search");
    let gateway = Gateway::start(&folder.data());
    let first = gateway.line("Project");
    let made = succeeds(&run(&["project", "create", "Größe", "--data", &folder.data()]));
    let other = variable(&made, "GATELET_PROJECT_ID");
    succeeds(&run(&["project", "set", &other, "config.magic_link_enabled=true", "--data", &folder.data()]));
    emails(&gateway, &first, &["ada@example.com", "bob@example.com", "carl@example.com"]).await;
    emails(&gateway, &other, &["ada@example.com"]).await;

    let all = list(&gateway, "").await;
    assert_eq!((&all["total"], &all["unread"], &all["has_more"]), (&json!(4), &json!(4), &json!(false)));
    assert_eq!((&all["items"][0]["project_id"], &all["items"][3]["project_id"]), (&json!(other), &json!(first)));
    assert!(all["items"][0]["at"].as_str().unwrap().ends_with('Z') && all["items"][0]["read"] == false, "{all}");

    assert_eq!(list(&gateway, &format!("project={first}")).await["total"], 3);
    assert_eq!(list(&gateway, &format!("project={other}&to=bob@example.com")).await["total"], 0);
    assert_eq!(list(&gateway, "q=GR%C3%96%C3%9FE").await["total"], 1, "a part of the text, in another case");
    assert_eq!(list(&gateway, "q=b%25b").await["total"], 0, "a search has no patterns");
    assert_eq!(list(&gateway, "q=bob@&to=&project=").await["total"], 1, "an empty filter filters nothing");

    let page = list(&gateway, "limit=3&bodies=false").await;
    assert_eq!((page["items"].as_array().unwrap().len(), &page["has_more"]), (3, &json!(true)));
    assert!(page["items"][0].get("text").is_none() && page["items"][0].get("html").is_none(), "{page}");
    let rest = list(&gateway, &format!("limit=3&before={}", ids(&page)[2])).await;
    assert_eq!((ids(&rest), &rest["has_more"]), (vec![ids(&all)[3].clone()], &json!(false)));
    assert_eq!(gateway.get(&format!("{MESSAGES}?before=nothing")).await.status(), 404);
    assert_eq!(gateway.get(&format!("{MESSAGES}?limit=many")).await.status(), 400);
}

#[tokio::test]
async fn a_verification_link_without_a_project_leads_to_the_page_of_its_project() {
    let folder = Folder::new("inbox-verify");
    let gateway = Gateway::start(&folder.data());
    let made = succeeds(&run(&["project", "create", "Other", "--data", &folder.data()]));
    let page = format!("{}{VERIFY}", gateway.url);
    for (project, before) in [gateway.line("Project"), variable(&made, "GATELET_PROJECT_ID")].iter().zip(0..) {
        let account = json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": page });
        let (status, user) = gateway.client(project, Method::POST, "/api/v1/auth/password/sign-up", Some(account)).await;
        assert_eq!(status, 200, "{user}");
        arrives_after(&gateway, before, "ada@example.com").await;
        let email = list(&gateway, &format!("project={project}")).await["items"][0]["text"].as_str().unwrap().to_owned();
        let link = email.split_whitespace().find(|word| word.starts_with(&page)).unwrap().to_owned();
        let path = link.strip_prefix(&gateway.url).unwrap();
        let opened = gateway.get(path).await;
        assert!(opened.url().query().unwrap().contains(&format!("project_id={project}")), "{}", opened.url());
        assert!(opened.text().await.unwrap().contains("Verify my address"));
    }
    let incomplete = gateway.get(VERIFY).await;
    assert_eq!((incomplete.status().as_u16(), incomplete.text().await.unwrap().contains("This link is incomplete")), (400, true));
}

#[tokio::test]
async fn searching_a_project_for_an_address_to_verify_is_limited_by_ip_address() {
    let gateway = Gateway::spawn(gateway(&["--memory", "--listen", "127.0.0.1:0"]).env("GATELET_LIMIT_UNPROVED", "3/86400"));
    let open = async |query: String| gateway.get(&format!("{VERIFY}?code={}{query}", "a".repeat(45))).await;
    for expected in [200, 200, 200, 429] {
        assert_eq!(open(String::new()).await.status(), expected);
    }
    let named = open(format!("&project={}", gateway.line("Project"))).await;
    assert_eq!(named.status(), 200, "a link that names its project needs no search");
}

#[tokio::test]
async fn an_email_can_be_read_marked_and_deleted_by_id() {
    let folder = Folder::new("inbox-one");
    let gateway = Gateway::start(&folder.data());
    emails(&gateway, &gateway.line("Project"), &["ada@example.com", "bob@example.com"]).await;
    let all = list(&gateway, "").await;
    let path = format!("{MESSAGES}/{}", ids(&all)[0]);

    let message = json_of(gateway.get(&path).await).await;
    let mut listed = message.clone();
    let headers = listed.as_object_mut().unwrap().remove("headers").unwrap();
    assert_eq!(listed, all["items"][0], "reading marks nothing");
    let header =
        |name: &str| headers.as_array().unwrap().iter().find(|header| header["name"] == name).map(|header| header["value"].clone());
    assert_eq!(header("To"), Some(json!("bob@example.com")));
    assert_eq!(header("Subject").as_ref(), Some(&message["subject"]));
    assert!(header("Content-Type").unwrap().as_str().unwrap().starts_with("multipart/alternative;"), "{headers}");

    let raw = gateway.get(&format!("{path}/raw")).await;
    assert_eq!(
        (&raw.headers()["content-type"], &raw.headers()["x-content-type-options"]),
        (&"text/plain; charset=utf-8".parse().unwrap(), &"nosniff".parse().unwrap())
    );
    let raw = raw.text().await.unwrap();
    assert!(raw.contains("To: bob@example.com\r\n") && raw.contains("\r\n\r\n"), "{raw}");

    let mark = async |read: Value| gateway.send(Method::PATCH, &path, &[], Some(json!({ "read": read }))).await;
    assert_eq!(json_of(mark(json!(true)).await).await["read"], true);
    assert_eq!((&list(&gateway, "").await["unread"], &list(&gateway, "").await["items"][0]["read"]), (&json!(1), &json!(true)));
    assert_eq!(json_of(mark(json!(false)).await).await["read"], false);
    assert_eq!(mark(json!("yes")).await.status(), 400);

    assert_eq!(gateway.send(Method::DELETE, &path, &[], None).await.status(), 204);
    assert_eq!(ids(&list(&gateway, "").await), [ids(&all)[1].clone()]);
    for (method, path) in [(Method::GET, path.clone()), (Method::GET, format!("{path}/raw")), (Method::DELETE, path.clone())] {
        let answer = gateway.send(method, &path, &[], None).await;
        assert_eq!(answer.status(), 404);
        assert!(json_of(answer).await["error"].as_str().unwrap().contains("no email"));
    }
    assert_eq!(mark(json!(true)).await.status(), 404);
}

#[tokio::test]
async fn foreign_hosts_can_neither_read_nor_change_an_email() {
    let folder = Folder::new("inbox-host");
    let gateway = Gateway::start(&folder.data());
    emails(&gateway, &gateway.line("Project"), &["ada@example.com"]).await;
    let path = format!("{MESSAGES}/{}", ids(&list(&gateway, "").await)[0]);
    let evil = [("host", "evil.test")];
    for (method, path) in [(Method::GET, path.clone()), (Method::GET, format!("{path}/raw")), (Method::DELETE, path.clone())] {
        assert_eq!(gateway.send(method, &path, &evil, None).await.status(), 403);
    }
    assert_eq!(gateway.send(Method::PATCH, &path, &evil, Some(json!({ "read": true }))).await.status(), 403);
    assert_eq!(list(&gateway, "").await["unread"], 1);
}

#[tokio::test]
async fn the_emails_of_an_older_version_are_kept() {
    let folder = Folder::new("inbox-older");
    drop(Gateway::start(&folder.data()));
    let line = r#"{"id":"a-1","to":["ada@example.com"],"from":"\"Notes\" <notes@example.com>","subject":"From before","text":"x","html":"","sent_at_millis":1700000000000,"outbox_id":"6a0c5a8e-58a1-4b0e-9a51-000000000003"}"#;
    folder.write("data/mails/newest.jsonl", &format!("{line}\n"));
    for _ in 0..2 {
        let gateway = Gateway::start(&folder.data());
        let all = list(&gateway, "to=ADA@example.com").await;
        assert_eq!(
            (&all["items"][0]["subject"], &all["items"][0]["sent_at_millis"]),
            (&json!("From before"), &json!(1_700_000_000_000_u64))
        );
        assert!(gateway.get(&format!("{MESSAGES}/a-1/raw")).await.text().await.unwrap().contains("Subject: From before"));
    }
    assert!(!std::fs::exists(folder.path("data/mails")).unwrap());
}
