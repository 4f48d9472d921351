//! Tests of the inbox and the other pages.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway};

const MESSAGES: &str = "/inbox/api/messages";

async fn messages(gateway: &Gateway, query: &str) -> Vec<Value> {
    let answer = gateway.get(&format!("{MESSAGES}{query}")).await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    answer.json::<Value>().await.unwrap()["items"].as_array().unwrap().clone()
}

/// Requests a sign-in email and waits until it is in the inbox.
async fn mail(gateway: &Gateway, email: &str) {
    let before = messages(gateway, "").await.len();
    let body = json!({ "email": email, "callback_url": "http://localhost:3000/magic" });
    let (status, answer) = gateway.client(&gateway.line("Project"), Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    for _ in 0..6_000 {
        if messages(gateway, "").await.len() > before {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no email to {email}");
}

fn recipients(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["to"][0].as_str().unwrap()).collect()
}

#[tokio::test]
async fn emails_are_listed_newest_first_and_can_be_deleted() {
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

    // Emails survive a restart. Deleted emails do not reappear.
    gateway.signal("KILL");
    gateway.wait();
    let gateway = Gateway::start(&folder.data());
    assert_eq!(messages(&gateway, "").await, all);
    assert_eq!(gateway.send(Method::DELETE, MESSAGES, &[], None).await.status(), 204);
    assert_eq!(messages(&gateway, "").await.len(), 0);
    drop(gateway);
    assert_eq!(messages(&Gateway::start(&folder.data()), "").await.len(), 0);
}

/// Headers that a browser sends when it opens a page.
const PERSON: [(&str, &str); 3] = [("accept", "text/html,*/*;q=0.8"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "none")];
const PRIVATE: [&str; 4] = ["/", "/console", "/inbox", "/outbox"];
const PUBLIC: [&str; 6] =
    ["/docs", "/docs/getting-started", "/docs/api", "/docs/api/auth-password-sign-up", "/docs/api/differences", "/docs/errors"];

async fn page(gateway: &Gateway, path: &str) -> reqwest::Response {
    gateway.send(Method::GET, path, &PERSON, None).await
}

#[tokio::test]
async fn pages_run_no_inline_scripts_and_load_only_local_assets() {
    let folder = Folder::new("page");
    let gateway = Gateway::start(&folder.data());
    for path in PRIVATE.iter().chain(&PUBLIC) {
        let page = page(&gateway, path).await;
        let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(
            (page.status().as_u16(), header("cache-control").as_str(), header("x-content-type-options").as_str()),
            (200, "no-store", "nosniff")
        );
        let etag = header("etag");
        let text = page.text().await.unwrap().replace("&#x2f;", "/");
        let loaded: Vec<&str> = text.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(loaded.len() >= 4 && !text.contains("<style") && !text.contains(" style="), "{path}: {loaded:?}");
        for asset in loaded {
            let asset = gateway.get(&format!("/assets/{asset}")).await;
            assert_eq!(
                (asset.status().as_u16(), asset.headers()["cache-control"].to_str().unwrap()),
                (200, "public, max-age=31536000, immutable")
            );
        }
        // A page that has not changed is not sent again.
        let again = gateway.send(Method::GET, path, &[PERSON[0], PERSON[1], PERSON[2], ("if-none-match", &etag)], None).await;
        assert_eq!(again.status(), 304, "{path}");
    }
    assert!(gateway.get("/openapi.json").await.json::<Value>().await.is_ok());
}

#[tokio::test]
async fn documents_have_their_pictures() {
    let folder = Folder::new("picture");
    let gateway = Gateway::spawn(&mut crate::support::gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0", "--no-pages"]));
    let text = page(&gateway, "/docs/architecture").await.text().await.unwrap().replace("&#x2f;", "/");
    let pictures: Vec<&str> = text.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(pictures.len(), 4, "{pictures:?}");
    for path in pictures {
        let picture = gateway.get(path).await;
        let header = |name: &str| picture.headers()[name].to_str().unwrap();
        assert_eq!((picture.status().as_u16(), header("content-type")), (200, "image/svg+xml"), "{path}");
        assert!(header("content-security-policy").contains("sandbox"), "{path}");
    }
    assert_eq!(gateway.get("/docs/pictures/nothing.svg").await.status(), 404);
}

/// Checks that a page is the public start page of the site.
fn assert_site(text: &str) {
    assert!(text.contains("/llms.txt") && !text.contains(">Inbox</a>") && !text.contains("key="), "{text}");
}

#[tokio::test]
async fn unknown_paths_answer_people_with_a_page_and_programs_with_the_api_error() {
    let folder = Folder::new("nothing");
    let gateway = Gateway::start(&folder.data());
    for path in ["/nothing", "/docs/nothing", "/docs/api/nothing", "/inbox/nothing", "/outbox/nothing/nothing", "/assets/nothing"] {
        let page = page(&gateway, path).await;
        assert_eq!((page.status().as_u16(), page.headers()["content-type"].to_str().unwrap()), (404, "text/html; charset=utf-8"), "{path}");
    }
    let error = gateway.get("/nothing").await;
    assert_eq!(error.status(), 404);
    assert_eq!(error.json::<Value>().await.unwrap()["error"]["code"], "route_not_found");
    // Programs get the public start page of the site at the URLs where people get the console.
    assert_site(&gateway.get("/").await.text().await.unwrap());
    // API paths respond with the API's error, even to browsers.
    assert_eq!(page(&gateway, "/api/v1/nothing").await.headers()["content-type"], "application/json; charset=utf-8");
}

#[tokio::test]
async fn without_private_pages_only_the_documentation_is_served() {
    let folder = Folder::new("public");
    let gateway = Gateway::spawn(&mut crate::support::gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0", "--no-pages"]));
    assert!(!gateway.printed.contains("Start page"), "{}", gateway.printed);
    assert_site(&page(&gateway, "/").await.text().await.unwrap());
    for path in PRIVATE.iter().filter(|path| **path != "/").chain(&[MESSAGES]) {
        assert_eq!(page(&gateway, path).await.status(), 404, "{path}");
        assert_eq!(gateway.get(path).await.status(), 404, "{path}");
    }
    for path in PUBLIC {
        let text = page(&gateway, path).await.text().await.unwrap();
        assert!(!text.contains(">Inbox</a>") && text.contains(">API</a>"), "{path}");
    }
}

#[tokio::test]
async fn the_inbox_answers_only_to_loopback_names() {
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
    // Pages of other origins cannot read the response either.
    let foreign = gateway.send(Method::GET, MESSAGES, &[("origin", "https://evil.test")], None).await;
    assert!(foreign.headers().get("access-control-allow-origin").is_none());
    // The API accepts requests for any host.
    assert_eq!(gateway.send(Method::GET, "/health", &[("host", "evil.test")], None).await.status(), 200);
}

#[tokio::test]
async fn the_outbox_page_works_only_on_this_machine() {
    let folder = Folder::new("outbox");
    let gateway = Gateway::start(&folder.data());
    mail(&gateway, "ada@example.com").await;
    let message = messages(&gateway, "").await.remove(0);
    let path = format!("/outbox/{}/{}", message["project_id"].as_str().unwrap(), message["outbox_id"].as_str().unwrap());
    let list = page(&gateway, "/outbox").await.text().await.unwrap().replace("&#x2f;", "/");
    assert!(list.contains("ada@example.com") && list.contains(&path), "{list}");
    assert!(page(&gateway, &path).await.text().await.unwrap().contains("ada@example.com"));
    // The inbox shows the email as it arrived, whereas the outbox hides the code.
    let text = message["text"].as_str().unwrap();
    let code = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| word.len() == 45).unwrap();
    for path in ["/outbox", &path, &format!("{path}/html")] {
        let shown = page(&gateway, path).await.text().await.unwrap();
        assert!(shown.contains("••••••") && !shown.contains(&code[6..]) && !shown.contains(&code[..6].to_uppercase()), "{path}: {shown}");
    }
    let send = async |headers: &[(&str, &str)]| {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let key = format!("Bearer {}", gateway.page_key());
        let headers = [&form, headers, &[("authorization", &*key)]].concat();
        let request = headers
            .iter()
            .fold(gateway.http.post(format!("{}{path}", gateway.url)), |request, (name, value)| request.header(*name, *value));
        request.body("action=cancel").send().await.unwrap()
    };
    for header in [("host", "evil.test"), ("sec-fetch-site", "cross-site"), ("origin", "http://evil.test"), ("x-forwarded-for", "1.2.3.4")]
    {
        assert_eq!(send(&[header]).await.status(), 403, "{header:?}");
    }
    // An email that has been sent cannot be cancelled, as the page says.
    let refused = send(&[("sec-fetch-site", "same-origin"), ("origin", &gateway.url)]).await;
    assert_eq!(refused.status(), 409);
    assert!(refused.text().await.unwrap().contains("role=\"alert\""));
}

#[tokio::test]
async fn no_request_from_outside_gains_operator_rights() {
    let folder = Folder::new("operator");
    let gateway = Gateway::start(&folder.data());
    let project = gateway.line("Project");
    let headers = [("x-service-access-type", "admin"), ("x-service-project-id", &*project), ("operator", "true")];
    assert_eq!(gateway.send(Method::GET, "/api/v1/users", &headers, None).await.status(), 401);
}
