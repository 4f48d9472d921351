//! `gateway export` and `gateway import`.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds, variable};

const ADA: &str = "ada@example.com";

fn account() -> Value {
    json!({ "email": ADA, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify" })
}

/// Starts a gateway with one account; returns the gateway's project and the refresh token of the
/// account.
async fn with_an_account(data: &str) -> (String, String) {
    let gateway = Gateway::start(data);
    let project = gateway.line("Project");
    let signed_up = gateway.client(&project, Method::POST, "/api/v1/auth/password/sign-up", Some(account())).await;
    assert_eq!(signed_up.0, 200, "{}", signed_up.1);
    (project, signed_up.1["refresh_token"].as_str().unwrap().to_owned())
}

/// Asserts that the session can be refreshed, and that the password works.
async fn works(gateway: &Gateway, project: &str, refresh_token: &str) {
    let headers = [("x-stack-project-id", project), ("x-stack-access-type", "client"), ("x-stack-refresh-token", refresh_token)];
    let refreshed = gateway.send(Method::POST, "/api/v1/auth/sessions/current/refresh", &headers, None).await;
    assert_eq!(refreshed.status(), 200, "{}", refreshed.text().await.unwrap());
    let body = json!({ "email": ADA, "password": "correct horse battery" });
    let signed_in = gateway.client(project, Method::POST, "/api/v1/auth/password/sign-in", Some(body)).await;
    assert_eq!(signed_in.0, 200, "{}", signed_in.1);
}

#[tokio::test]
async fn accounts_and_sessions_work_after_a_transfer_to_another_table() {
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
    // The other gateway already has content, and a different project `internal`. Without
    // `--overwrite`, the import keeps both.
    let refused = fails(&import(&[]));
    assert!(refused.contains("exist and differ") && refused.contains("they were kept"), "{refused}");
    works(&other, &project, &refresh_token).await;
    let imported = succeeds(&import(&["--overwrite"]));
    assert!(imported.starts_with("Imported ") && imported.contains(" 0 already existed"), "{imported}");
    works(&other, &project, &refresh_token).await;
}

#[tokio::test]
async fn an_export_that_was_stopped_before_its_first_page_can_be_continued() {
    let folder = Folder::new("transfer-first");
    let (data, export) = (folder.data(), folder.path("export"));
    with_an_account(&data).await;
    // Nothing listens at the address of the table, so the export ends before the first page.
    let mut unreachable = gateway(&["export", "--to", &export, "--table", "gatelet"]);
    unreachable.env("AWS_ENDPOINT_URL", "http://127.0.0.1:9").env("AWS_REGION", "local");
    fails(&end_of(unreachable.env("AWS_ACCESS_KEY_ID", "none").env("AWS_SECRET_ACCESS_KEY", "none")));
    assert!(fails(&run(&["import", "--from", &export, "--data", &data])).contains("is incomplete"));
    std::fs::remove_file(Path::new(&export).join("export.json")).unwrap();
    folder.write("export/items.jsonl", "");
    succeeds(&run(&["export", "--to", &export, "--data", &data]));
}

#[tokio::test]
async fn an_interrupted_transfer_resumes_and_existing_items_are_kept() {
    let folder = Folder::new("transfer-again");
    let (data, copy, export) = (folder.data(), folder.path("copy"), folder.path("export"));
    let (project, refresh_token) = with_an_account(&data).await;
    // Leaves the export in the state after a power failure in the middle of a page.
    folder.write("export/items.jsonl", "{\"Item\": {\"pk");
    folder.write("export/export.json", r#"{ "items": 0, "bytes": 0, "next": null, "sha256": null }"#);
    assert!(fails(&run(&["import", "--from", &export, "--data", &copy])).contains("is incomplete"));
    succeeds(&run(&["export", "--to", &export, "--data", &data]));
    assert!(fails(&run(&["export", "--to", &export, "--data", &data])).contains("already contains a complete export"));

    let first = succeeds(&run(&["import", "--from", &export, "--data", &copy]));
    assert!(first.contains(" 0 already existed"), "{first}");
    let second = succeeds(&run(&["import", "--from", &export, "--data", &copy]));
    assert!(second.contains(": 0 written"), "{second}");
    std::fs::copy(Path::new(&data).join("secret"), Path::new(&copy).join("secret")).unwrap();
    works(&Gateway::start(&copy), &project, &refresh_token).await;

    let items = std::fs::read_to_string(Path::new(&export).join("items.jsonl")).unwrap();
    folder.write("export/items.jsonl", &items.replace(ADA, "eve@example.com"));
    assert!(fails(&run(&["import", "--from", &export, "--data", &copy])).contains("was modified or is damaged"));
}

#[tokio::test]
async fn data_is_served_only_with_its_own_deployment_secret() {
    let folder = Folder::new("transfer-secret");
    let (data, export, copy) = (folder.data(), folder.path("export"), folder.path("copy"));
    let first = Gateway::start(&data);
    let project = first.line("Project");
    let signed_up = first.client(&project, Method::POST, "/api/v1/auth/password/sign-up", Some(account())).await.1;
    // Before the gateway exits, it links the audit trail.
    first.signal("INT");
    assert!(first.wait().0.success());
    succeeds(&run(&["export", "--to", &export, "--data", &data]));
    let imported = succeeds(&run(&["import", "--from", &export, "--data", &copy]));
    assert!(imported.contains("copy the files `secret` and `keys.env`") && imported.contains(&copy), "{imported}");

    let start = ["--data", &copy, "--port", "0"];
    let file = Path::new(&copy).join("secret");
    for command in [&start[..], &["project", "list", "--data", &copy]] {
        let refused = fails(&run(command));
        assert!(
            refused.contains("the deployment secret for this data is missing") && refused.contains(file.to_str().unwrap()),
            "{refused}"
        );
        assert!(!file.exists(), "{command:?} must not make another secret");
    }
    let wrong = "the deployment secret of another folder";
    std::fs::write(&file, wrong).unwrap();
    let refused = fails(&run(&start));
    assert!(refused.contains(&format!("the deployment secret in {} does not belong to this data", file.display())), "{refused}");
    let refused = fails(&end_of(gateway(&start).env("GATELET_SECRET", wrong)));
    assert!(refused.contains("the deployment secret in GATELET_SECRET does not belong to this data"), "{refused}");
    let (lost, token) = (folder.path("lost"), signed_up["refresh_token"].as_str().unwrap());
    succeeds(&run(&["import", "--from", &export, "--data", &lost]));
    for _ in 0..2 {
        // At the second start, the folder and the data have different secrets.
        works(&Gateway::spawn(gateway(&["--data", &lost, "--port", "0"]).arg("--secret-lost")), &project, token).await;
    }
    std::fs::copy(Path::new(&data).join("secret"), &file).unwrap();
    works(&Gateway::start(&copy), &project, token).await;
    assert!(!succeeds(&run(&["import", "--from", &export, "--data", &copy, "--overwrite"])).contains("secret"));
}

#[tokio::test]
async fn a_project_is_not_imported_while_one_with_its_id_is_being_deleted() {
    let folder = Folder::new("transfer-deleted");
    let (data, export, copy) = (folder.data(), folder.path("export"), folder.path("copy"));
    with_an_account(&data).await;
    let id = variable(&succeeds(&run(&["project", "create", "Shop", "--data", &data])), "GATELET_PROJECT_ID");
    succeeds(&run(&["export", "--to", &export, "--data", &data]));
    succeeds(&run(&["project", "delete", &id, "--confirm", &id, "--data", &data]));
    let refused = fails(&run(&["import", "--from", &export, "--data", &data]));
    assert!(refused.contains(&format!("project {id} is still being deleted")), "{refused}");
    // Nothing was written.
    assert!(fails(&run(&["project", "show", &id, "--data", &data])).contains("does not exist"));
    // An export in which the project is being deleted can be imported, even twice.
    let deleted = folder.path("deleted");
    succeeds(&run(&["export", "--to", &deleted, "--data", &data]));
    succeeds(&run(&["import", "--from", &deleted, "--data", &copy]));
    let again = succeeds(&run(&["import", "--from", &deleted, "--data", &copy]));
    assert!(again.contains(": 0 written"), "{again}");
}
