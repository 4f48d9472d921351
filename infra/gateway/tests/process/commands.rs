//! `gateway project …`, with and without a running gateway.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds, variable};

const ID: &str = "6a0c5a8e-58a1-4b0e-9a51-000000000002";

async fn display_name(gateway: &Gateway, project: &str) -> Value {
    gateway.client(project, Method::GET, "/api/v1/projects/current", None).await.1["display_name"].clone()
}

#[tokio::test]
async fn projects_are_managed_while_the_gateway_runs() {
    let folder = Folder::new("commands-running");
    let data = folder.data();
    let project = |arguments: &[&str]| run(&[&["project"], arguments, &["--data", &data]].concat());
    let gateway = Gateway::start(&data);

    let made = succeeds(&project(&["create", "Notes", "--id", ID]));
    assert_eq!(variable(&made, "GATELET_PROJECT_ID"), ID);
    assert_eq!(display_name(&gateway, ID).await, "Notes");
    let list = succeeds(&project(&["list"]));
    assert!(list.contains(&format!("{ID}  Notes")) && list.contains(&gateway.line("Project")), "{list}");

    // The command shows the settings that the API shows.
    let shown: Value =
        serde_json::from_str(&succeeds(&project(&["set", ID, "display_name=Papers", "config.sign_up_enabled=false", "--json"]))).unwrap();
    assert_eq!((&shown["display_name"], &shown["config"]["sign_up_enabled"]), (&json!("Papers"), &json!(false)));
    assert_eq!(display_name(&gateway, ID).await, "Papers");
    let account = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let refused = gateway.client(ID, Method::POST, "/api/v1/auth/password/sign-up", Some(account)).await;
    assert_eq!(refused.1["code"], "SIGN_UP_NOT_ENABLED");
    assert_eq!(serde_json::from_str::<Value>(&succeeds(&project(&["show", ID]))).unwrap(), shown);

    // Both the original keys and the new keys work.
    let more = succeeds(&project(&["keys", ID]));
    for keys in [&made, &more] {
        let key = variable(keys, "GATELET_SUPER_SECRET_ADMIN_KEY");
        let headers = [("x-stack-project-id", ID), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", key.as_str())];
        assert_eq!(gateway.send(Method::GET, "/api/v1/internal/projects/current", &headers, None).await.status(), 200);
    }
    assert_ne!(made, more);
}

#[tokio::test]
async fn projects_are_managed_while_the_gateway_is_stopped() {
    let folder = Folder::new("commands-stopped");
    let data = folder.data();
    let project = |arguments: &[&str]| run(&[&["project"], arguments, &["--data", &data]].concat());
    drop(Gateway::start(&data));

    let made = succeeds(&project(&["create", "Notes"]));
    let id = variable(&made, "GATELET_PROJECT_ID");
    let provider = r#"config.oauth_providers=[{"id":"github","client_id":"x","client_secret":"the-secret"}]"#;
    let set = succeeds(&project(&["set", &id, provider, r#"config.domains=[{"domain":"https://a.test"}]"#]));
    assert!(!set.contains("the-secret"), "{set}");
    assert!(succeeds(&project(&["list"])).contains(&id));

    let gateway = Gateway::start(&data);
    let config = gateway.client(&id, Method::GET, "/api/v1/projects/current", None).await.1["config"].clone();
    assert_eq!(config["enabled_oauth_providers"], json!([{ "id": "github" }]));
    assert_eq!(config["domains"][0]["domain"], "https://a.test");
}

#[tokio::test]
async fn a_project_can_be_owned_so_that_the_console_shows_it() {
    let folder = Folder::new("commands-owned");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let create = |arguments: &[&str]| {
        let made = run(&[&["project", "create"], arguments, &["--data", &data]].concat());
        (variable(&succeeds(&made), "GATELET_PROJECT_ID"), String::from_utf8(made.stderr).unwrap())
    };
    let user = |email: &str| {
        let printed = succeeds(&run(&["user", "create", email, "--data", &data]));
        printed.lines().find_map(|line| line.strip_prefix("password: ")).unwrap().to_owned()
    };
    let teams = || succeeds(&run(&["team", "list", "--data", &data]));

    // With an address filled in, the printed commands make the project visible.
    let (first, said) = create(&["First"]);
    let [user_create, transfer] = ["gateway user create YOUR-ADDRESS", &format!("gateway project transfer {first} YOUR-ADDRESS")];
    assert!([user_create, transfer].iter().all(|command| said.contains(&format!("  {command} --data {data}\n"))), "{said}");
    let password = user("ada@example.com");
    let given = succeeds(&run(&["project", "transfer", &first, "ada@example.com", "--data", &data]));
    assert!(given.contains(&format!("owns project {first}")), "{given}");
    let account = json!({ "email": "ada@example.com", "password": password });
    let ada = gateway.client("internal", Method::POST, "/api/v1/auth/password/sign-in", Some(account)).await.1;
    let seen = async || {
        let token = ada["access_token"].as_str().unwrap();
        let headers = [("x-stack-project-id", "internal"), ("x-stack-access-type", "client"), ("x-stack-access-token", token)];
        let answer: Value = gateway.send(Method::GET, "/api/v1/internal/projects", &headers, None).await.json().await.unwrap();
        let mut ids: Vec<String> = answer["items"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(seen().await, std::slice::from_ref(&first));

    // While there is only one team, new projects belong to it.
    let (second, said) = create(&["Second"]);
    assert!(said.contains("owns the project") && !said.contains("YOUR-ADDRESS"), "{said}");
    let mut both = [first.clone(), second];
    both.sort();
    assert_eq!(seen().await, both);
    user("bob@example.com");
    let (third, said) = create(&["Third"]);
    assert!(said.contains(&format!("  gateway project transfer {third} TEAM")) && said.contains("gateway team list --data"), "{said}");
    let teams = teams();
    let team = |owner: &str| teams.lines().find(|line| line.contains(owner)).unwrap().split(' ').next().unwrap().to_owned();
    create(&["Fourth", "--team", &team("bob@")]);
    assert_eq!(seen().await, both);

    // After a transfer, the previous team no longer sees the project.
    succeeds(&run(&["project", "transfer", &first, &team("bob@"), "--data", &data]));
    assert_eq!(seen().await, both.into_iter().filter(|id| *id != first).collect::<Vec<_>>());
    let refused = |arguments: &[&str]| fails(&run(&[&["project", "transfer"], arguments, &["--data", &data]].concat()));
    assert!(refused(&["internal", "ada@example.com"]).contains("no team can own"));
    assert!(refused(&[&first, "eve@example.com"]).contains("no user of project internal signs in with"));
    assert!(refused(&[&first, ID]).contains(&format!("has no team {ID}")));
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let folder = Folder::new("commands-wrong");
    let data = folder.data();
    let project = |arguments: &[&str]| fails(&run(&[&["project"], arguments, &["--data", &data]].concat()));
    assert!(project(&["list"]).contains(&data), "there is no data yet");
    drop(Gateway::start(&data));
    succeeds(&run(&["project", "create", "Notes", "--id", ID, "--data", &data]));

    assert!(project(&["create", "Again", "--id", ID]).contains(ID));
    assert!(project(&["create", " "]).contains("name"));
    assert!(project(&["create", "two\nlines"]).contains("name"));
    assert!(project(&["create", "x", "--id", "nonsense"]).contains("nonsense"));
    for command in [&["show"][..], &["keys"]] {
        assert!(project(&[command, &["00000000-0000-4000-8000-000000000000"]].concat()).contains("does not exist"));
    }
    let wrong = [
        ("display_name=", "display_name"),
        ("config.password_min_length=7", "config.password_min_length"),
        ("config.password_min_length=long", "config.password_min_length"),
        ("config.nothing=1", "config.nothing"),
        ("config.domains=[{\"domain\":\"a.test\"}]", "config.domains[0].domain"),
        ("config.email_config={\"type\":\"standard\"}", "config.email_config.sender_email"),
        ("config=false", "config"),
        ("nonsense", "nonsense"),
        ("logo_url=nowhere", "logo_url"),
    ];
    for (setting, path) in wrong {
        let line = project(&["set", ID, "is_production_mode=true", setting]);
        assert!(line.contains(path), "{setting}: {line}");
    }
    let shown: Value = serde_json::from_str(&succeeds(&run(&["project", "show", ID, "--data", &data]))).unwrap();
    assert_eq!(shown["is_production_mode"], false, "a wrong setting changes nothing");
}

#[tokio::test]
async fn the_engine_is_served_to_other_processes() {
    let folder = Folder::new("dynamodb");
    let first = Gateway::spawn(&mut gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]));
    let endpoint = first.line("DynamoDB");
    assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
    let table = |arguments: &[&str]| {
        let mut command = gateway(&[arguments, &["--table", "gatelet"]].concat());
        end_of(command.envs(first.table_variables()).env("GATELET_SECRET", "a secret of this test, long enough"))
    };
    assert!(succeeds(&table(&["project", "list"])).contains(&first.line("Project")));
    let made = succeeds(&table(&["project", "create", "From outside"]));
    let id = variable(&made, "GATELET_PROJECT_ID");
    assert_eq!(display_name(&first, &id).await, "From outside");
    succeeds(&table(&["project", "set", &id, "display_name=Changed"]));
    assert_eq!(display_name(&first, &id).await, "Changed");

    // Deleting a project requires its id, not its name.
    let nothing = fails(&table(&["project", "delete", &id, "--confirm", "Changed"]));
    assert!(nothing.contains("nothing was deleted"), "{nothing}");
    assert_eq!(display_name(&first, &id).await, "Changed");
    assert_eq!(succeeds(&table(&["project", "delete", &id, "--confirm", &id])), format!("deleted {id}\n"));
    assert!(!succeeds(&table(&["project", "list"])).contains(&id));
    // After a minute, the worker checks again that nothing is left.
    let early = fails(&table(&["project", "create", "Again", "--id", &id]));
    assert!(early.contains("is still being deleted"), "{early}");
    assert!(fails(&table(&["project", "delete", &id, "--confirm", &id])).contains("does not exist"));

    // The option is meant for AWS tables, which do not contain the project `internal` at first. A
    // gateway creates this project at its first start, so it already exists here.
    assert!(fails(&table(&["project", "create", "--internal"])).contains("internal"));
    assert!(fails(&table(&["project", "delete", "internal", "--confirm", "internal"])).contains("cannot be deleted"));

    assert!(fails(&run(&["project", "list", "--table", "gatelet"])).contains("GATELET_SECRET"));
}
