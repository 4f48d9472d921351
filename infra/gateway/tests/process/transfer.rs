//! `gateway export` and `gateway import`.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds};

const ADA: &str = "ada@example.com";

fn account() -> Value {
    json!({ "email": ADA, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify" })
}

/// A gateway whose data has an account: the project, and the account's refresh token.
async fn with_an_account(data: &str) -> (String, String) {
    let gateway = Gateway::start(data);
    let project = gateway.line("Project");
    let signed_up = gateway.client(&project, Method::POST, "/api/v1/auth/password/sign-up", Some(account())).await;
    assert_eq!(signed_up.0, 200, "{}", signed_up.1);
    (project, signed_up.1["refresh_token"].as_str().unwrap().to_owned())
}

/// Refreshes the session and signs in with the password.
async fn works(gateway: &Gateway, project: &str, refresh_token: &str) {
    let headers = [("x-stack-project-id", project), ("x-stack-access-type", "client"), ("x-stack-refresh-token", refresh_token)];
    let refreshed = gateway.send(Method::POST, "/api/v1/auth/sessions/current/refresh", &headers, None).await;
    assert_eq!(refreshed.status(), 200, "{}", refreshed.text().await.unwrap());
    let body = json!({ "email": ADA, "password": "correct horse battery" });
    let signed_in = gateway.client(project, Method::POST, "/api/v1/auth/password/sign-in", Some(body)).await;
    assert_eq!(signed_in.0, 200, "{}", signed_in.1);
}

#[tokio::test]
async fn accounts_and_sessions_work_on_the_table_that_a_gateways_data_moved_to() {
    let folder = Folder::new("transfer-table");
    let (data, export) = (folder.data(), folder.path("export"));
    let (project, refresh_token) = with_an_account(&data).await;
    let exported = succeeds(&run(&["export", "--to", &export, "--data", &data]));
    assert!(exported.starts_with("Exported "), "{exported}");

    let secret = std::fs::read_to_string(Path::new(&data).join("secret")).unwrap();
    let mut other = gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]);
    let other = Gateway::spawn(other.env("GATELET_SECRET", secret.trim()));
    let import = |more: &[&str]| {
        let mut command = gateway(&[&["import", "--from", &export, "--table", "gatelet"], more].concat());
        end_of(command.envs(other.table_variables()))
    };
    // The other gateway has content with links to itself, and a project of its own for owners: that is not overwritten without a word.
    let refused = fails(&import(&[]));
    assert!(refused.contains("are there already and differ") && refused.contains("they were kept"), "{refused}");
    works(&other, &project, &refresh_token).await;
    let imported = succeeds(&import(&["--overwrite"]));
    assert!(imported.starts_with("Imported ") && imported.contains(" 0 were there already"), "{imported}");
    works(&other, &project, &refresh_token).await;
}

#[tokio::test]
async fn what_was_stopped_goes_on_and_what_is_there_stays() {
    let folder = Folder::new("transfer-again");
    let (data, copy, export) = (folder.data(), folder.path("copy"), folder.path("export"));
    let (project, refresh_token) = with_an_account(&data).await;
    // As a page that was being written when the power went.
    folder.write("export/items.jsonl", "{\"Item\": {\"pk");
    folder.write("export/export.json", r#"{ "items": 0, "bytes": 0, "next": null, "sha256": null }"#);
    assert!(fails(&run(&["import", "--from", &export, "--data", &copy])).contains("not whole"));
    succeeds(&run(&["export", "--to", &export, "--data", &data]));
    assert!(fails(&run(&["export", "--to", &export, "--data", &data])).contains("whole export already"));

    let first = succeeds(&run(&["import", "--from", &export, "--data", &copy]));
    assert!(first.contains(" 0 were there already"), "{first}");
    let second = succeeds(&run(&["import", "--from", &export, "--data", &copy]));
    assert!(second.contains(": 0 written"), "{second}");
    std::fs::copy(Path::new(&data).join("secret"), Path::new(&copy).join("secret")).unwrap();
    works(&Gateway::start(&copy), &project, &refresh_token).await;

    let items = std::fs::read_to_string(Path::new(&export).join("items.jsonl")).unwrap();
    folder.write("export/items.jsonl", &items.replace(ADA, "eve@example.com"));
    assert!(fails(&run(&["import", "--from", &export, "--data", &copy])).contains("changed or damaged"));
}
