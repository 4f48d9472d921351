//! Starting, stopping and restarting a gateway.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, variable};

const PROJECT: &str = "6a0c5a8e-58a1-4b0e-9a51-000000000001";

fn ada() -> Value {
    json!({ "email": "ada@example.com", "password": "correct horse battery" })
}

#[tokio::test]
async fn the_first_start_prints_the_keys_and_later_starts_their_location() {
    let folder = Folder::new("first-start");
    let gateway = Gateway::start(&folder.data());
    assert!(gateway.url.starts_with("http://localhost:") && gateway.port() != 0, "{}", gateway.url);
    for (name, path) in [("API ", "/api/v1"), ("Docs", "/docs"), ("API reference", "/docs/api")] {
        assert_eq!(gateway.line(name), format!("{}{path}", gateway.url));
    }
    assert!(gateway.line("Client key").starts_with("pck_") && gateway.line("Server key").starts_with("ssk_"));
    assert!(gateway.line("Admin key").starts_with("sak_"));

    let file = folder.path("data/keys.env");
    let saved = std::fs::read_to_string(&file).unwrap();
    assert_eq!(variable(&saved, "GATELET_PROJECT_ID"), gateway.line("Project"));
    assert_eq!(variable(&saved, "GATELET_PUBLISHABLE_CLIENT_KEY"), gateway.line("Client key"));
    assert_eq!(variable(&saved, "GATELET_SECRET_SERVER_KEY"), gateway.line("Server key"));
    assert_eq!(variable(&saved, "GATELET_SUPER_SECRET_ADMIN_KEY"), gateway.line("Admin key"));
    let link = format!("{}/?key={}", gateway.url, variable(&saved, "GATELET_PAGE_KEY"));
    assert_eq!(gateway.line("Start page"), link);
    for kind in ["client", "server", "admin"] {
        let name = format!("GATELET_INTERNAL_{}_KEY", kind.to_uppercase());
        assert_eq!(variable(&saved, &name), gateway.line(&format!("Internal {kind}")));
    }
    for (path, mode) in [("data", 0o700), ("data/keys.env", 0o600), ("data/secret", 0o600)] {
        assert_eq!(std::fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777, mode, "{path}");
    }
    let (project, page_key) = (gateway.line("Project"), gateway.page_key());
    drop(gateway);

    let again = Gateway::start(&folder.data());
    assert_eq!((again.line("Keys"), again.line("Project")), (format!("in {file}"), project));
    assert_eq!(again.page_key(), page_key, "the link of the first start also opens the pages after later starts");
    assert!(!again.printed.contains("ssk_") && !again.printed.contains("sak_"), "{}", again.printed);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), saved);
}

#[tokio::test]
async fn the_gateway_answers_after_its_start() {
    let folder = Folder::new("soon");
    let gateway = Gateway::start(&folder.data());
    let health = gateway.get("/health").await;
    assert_eq!((health.status().as_u16(), health.json::<Value>().await.unwrap()), (200, json!({ "status": "ok" })));
}

#[tokio::test]
async fn the_site_is_at_the_api_s_url_unless_it_has_its_own() {
    let (api, site) = ("https://auth.example.com", "https://www.example.com");
    for (own, expected) in [(None, api), (Some(site), site)] {
        let folder = Folder::new("site-url");
        let mut command = gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]);
        let command = own.iter().fold(command.env("GATELET_API_URL", api), |command, url| command.env("GATELET_SITE_URL", url));
        let mut gateway = Gateway::spawn(command);
        let local = gateway.line("Start page").split_once("/?key=").unwrap().0.to_owned();
        gateway.url.clone_from(&local);
        let index = gateway.get("/llms.txt").await.text().await.unwrap();
        assert!(index.contains(&format!("{expected}/")) && !index.contains(&local), "{index}");
    }
}

#[tokio::test]
async fn the_environment_sets_the_project_and_its_keys() {
    let folder = Folder::new("fixed");
    for project in [PROJECT, "internal"] {
        let mut command = gateway(&["--data", &folder.path(project), "--listen", "127.0.0.1:0"]);
        command.env("GATELET_PROJECT_ID", project).env("GATELET_PUBLISHABLE_CLIENT_KEY", "a-client-key");
        command.env("GATELET_SECRET_SERVER_KEY", "a-server-key").env("GATELET_SUPER_SECRET_ADMIN_KEY", "an-admin-key");
        let gateway = Gateway::spawn(&mut command);
        assert_eq!((gateway.line("Project"), gateway.line("Server key")), (project.to_owned(), "a-server-key".to_owned()));
        let keys = [
            ("client", "x-stack-publishable-client-key", "a-client-key"),
            ("server", "x-stack-secret-server-key", "a-server-key"),
            ("admin", "x-stack-super-secret-admin-key", "an-admin-key"),
        ];
        for (access, header, key) in keys {
            let headers = [("x-stack-project-id", project), ("x-stack-access-type", access), (header, key)];
            assert_eq!(gateway.send(Method::GET, "/api/v1/projects/current", &headers, None).await.status(), 200, "{access}");
            let headers = [("x-stack-project-id", project), ("x-stack-access-type", access), (header, "another-key")];
            assert_eq!(gateway.send(Method::GET, "/api/v1/projects/current", &headers, None).await.status(), 401, "{access}");
        }
    }
}

/// A shell that has sourced the `keys.env` of another folder must not replace this folder's
/// project.
#[tokio::test]
async fn the_project_of_a_folder_is_not_exchanged() {
    let folder = Folder::new("exchanged");
    drop(Gateway::start(&folder.data()));
    let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
    let refused = |name: &str, value: &str| {
        let mut command = gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]);
        let output = command.env(name, value).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused("GATELET_PROJECT_ID", PROJECT);
    assert!(error.contains("the shell has probably loaded the keys.env of another folder"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path("data/keys.env")).unwrap(), saved);
    std::fs::remove_file(folder.path("data/secret")).unwrap();
    let error = refused("RUST_LOG", "");
    assert!(error.contains("is missing: restore the file, or set GATELET_SECRET to its content"), "{error}");
}

/// Whether the project `internal` accepts a server key.
async fn opens_internal(gateway: &Gateway, key: &str) -> bool {
    let headers = [("x-stack-project-id", "internal"), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", key)];
    gateway.send(Method::GET, "/api/v1/users", &headers, None).await.status() == 200
}

#[tokio::test]
async fn the_first_start_creates_internal_and_the_environment_replaces_its_keys() {
    let folder = Folder::new("internal");
    let made = Gateway::start(&folder.data());
    let first_key = made.line("Internal server");
    assert!(opens_internal(&made, &first_key).await);
    drop(made);
    let start = |key: &str| {
        let mut command = gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]);
        Gateway::spawn(command.env("GATELET_INTERNAL_SERVER_KEY", key))
    };
    for (key, old) in [("my own 'key'".replace(' ', "$"), first_key.as_str()), ("another-key".to_owned(), "my$own$'key'")] {
        let gateway = start(&key);
        assert!(opens_internal(&gateway, &key).await && !opens_internal(&gateway, old).await, "{key} and {old}");
    }
    // Keys stay valid when the environment no longer contains them.
    let again = Gateway::start(&folder.data());
    assert!(opens_internal(&again, "another-key").await);
    drop(again);
    let mut command = gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]);
    let same = command.env("GATELET_INTERNAL_SERVER_KEY", "one").env("GATELET_INTERNAL_CLIENT_KEY", "one");
    assert!(fails(&end_of(same)).contains("must differ"));
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let folder = Folder::new("kill");
    let gateway = Gateway::start(&folder.data());
    let project = gateway.line("Project");
    let (status, body) = gateway.client(&project, Method::POST, "/api/v1/auth/password/sign-up", Some(ada())).await;
    assert_eq!(status, 200, "{body}");
    gateway.signal("KILL");
    gateway.wait();

    let gateway = Gateway::start(&folder.data());
    let (status, again) = gateway.client(&project, Method::POST, "/api/v1/auth/password/sign-in", Some(ada())).await;
    assert_eq!((status, &again["user_id"]), (200, &body["user_id"]), "{again}");
    // The session survives the restart, because the secret is the same.
    let refresh = [
        ("x-stack-project-id", project.as_str()),
        ("x-stack-access-type", "client"),
        ("x-stack-refresh-token", body["refresh_token"].as_str().unwrap()),
    ];
    assert_eq!(gateway.send(Method::POST, "/api/v1/auth/sessions/current/refresh", &refresh, None).await.status(), 200);
}

#[tokio::test]
async fn in_memory_nothing_is_written_to_disk() {
    let folder = Folder::new("memory");
    let mut command = gateway(&["serve", "--memory", "--listen", "127.0.0.1:0"]);
    let gateway = Gateway::spawn(command.current_dir(folder.path(".")));
    let (status, _) = gateway.client(&gateway.line("Project"), Method::POST, "/api/v1/auth/password/sign-up", Some(ada())).await;
    assert_eq!(status, 200);
    drop(gateway);
    assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_signal_stops_the_gateway_cleanly() {
    for signal in ["TERM", "INT"] {
        let folder = Folder::new(&format!("signal-{signal}"));
        let gateway = Gateway::start(&folder.data());
        gateway.signal(signal);
        let (status, stderr) = gateway.wait();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{signal}");
    }
}

#[tokio::test]
async fn a_running_request_finishes_before_shutdown() {
    let folder = Folder::new("running");
    let mut gateway = Gateway::start(&folder.data());
    let body = ada().to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.port())).unwrap();
    let head = format!(
        "POST /api/v1/auth/password/sign-up HTTP/1.1\r\nhost: localhost\r\nx-stack-project-id: {}\r\nx-stack-access-type: client\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        gateway.line("Project"),
        body.len()
    );
    let (first, rest) = body.split_at(10);
    stream.write_all(format!("{head}{first}").as_bytes()).unwrap();
    // Once this second connection has got a response, the gateway has also read the first one.
    assert_eq!(gateway.get("/health").await.status(), 200);
    gateway.signal("TERM");
    assert!(gateway.next_line().starts_with("Stopping"));
    stream.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("access_token"), "{answer}");
    assert_eq!(gateway.wait().0.code(), Some(0));
}

#[tokio::test]
async fn a_queued_email_is_sent_after_a_kill() {
    let folder = Folder::new("mail-kill");
    let first = Gateway::start(&folder.data());
    let project = first.line("Project");
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    for _ in 0..5 {
        assert_eq!(first.client(&project, Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body.clone())).await.0, 200);
    }
    first.signal("KILL");
    first.wait();
    let again = Gateway::start(&folder.data());
    let key = variable(&std::fs::read_to_string(folder.path("data/keys.env")).unwrap(), "GATELET_SECRET_SERVER_KEY");
    let server = [("x-stack-project-id", project.as_str()), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", key.as_str())];
    for _ in 0..1_200 {
        let entries = again.send(Method::GET, "/api/v1/emails/outbox", &server, None).await;
        let entries: Value = entries.json().await.unwrap();
        let inbox: Value = again.get("/inbox/api/messages?to=ada@example.com").await.json().await.unwrap();
        let delivered: Vec<&str> = inbox["items"].as_array().unwrap().iter().map(|mail| mail["outbox_id"].as_str().unwrap()).collect();
        let entries = entries["items"].as_array().unwrap();
        assert_eq!(entries.len(), 5, "each acknowledged code has its email");
        let is_there = |entry: &Value| delivered.iter().filter(|id| **id == entry["id"]).count() == 1;
        let done = entries.iter().all(|entry| entry["status"] == "sent" && is_there(entry));
        if done {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("emails were lost");
}

#[tokio::test]
async fn closing_its_standard_output_does_not_stop_the_gateway() {
    let folder = Folder::new("closed-output");
    let mut gateway = Gateway::start(&folder.data());
    gateway.close_output();
    assert_eq!(gateway.get("/health").await.status(), 200);
    // When the gateway stops, it prints a line, which must not fail.
    gateway.signal("TERM");
    let (status, stderr) = gateway.wait();
    assert!(status.success() && !stderr.contains("panicked"), "{status}: {stderr}");
}
