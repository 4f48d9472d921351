//! `gateway audit` on the data of a gateway.

use std::path::Path;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use gateway::engine::{Engine, TABLE};
use serde_json::{Value, json};
use wire::entropy::Entropy;

use crate::support::{Folder, Gateway, fails, run, succeeds};

/// Creates the data of a gateway, with a user who changed their name; returns the project's id.
async fn prepare(data: &str) -> String {
    let gateway = Gateway::start(data);
    let project = gateway.line("Project");
    let ada = gateway.sign_up(&project, "ada@example.com").await;
    for name in ["Ada", "Countess"] {
        // Each entry must be written in a separate millisecond.
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        gateway.change_user(&project, &ada, json!({ "display_name": name })).await;
    }
    // Before the gateway exits, it links all entries.
    gateway.signal("INT");
    assert!(gateway.wait().0.success());
    project
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_trail_is_exported_and_verified() {
    let folder = Folder::new("audit");
    let data = folder.data();
    let project = prepare(&data).await;
    let audit = |arguments: &[&str]| run(&[&["audit"], arguments, &["--data", &data]].concat());

    let entries = lines(&succeeds(&audit(&["export", "--project", &project])));
    let operations: Vec<&Value> = entries.iter().map(|entry| &entry["operation"]).collect();
    assert_eq!(operations, ["users-me-update", "users-me-update", "auth-password-sign-up"]);
    let second = entries[1]["at"].as_str().unwrap();
    let until = lines(&succeeds(&audit(&["export", "--project", &project, "--until", second])));
    assert_eq!(until, entries[2..]);
    assert_eq!(lines(&succeeds(&audit(&["export", "--project", &project, "--from", second]))), entries[..2]);
    assert!(fails(&audit(&["export", "--project", "6a0c5a8e-58a1-4b0e-9a51-000000000002"])).contains("does not exist"));

    let verified = succeeds(&audit(&["verify"]));
    assert!(verified.contains(&format!("project {project}\n")) && verified.contains("  3 entries, "), "{verified}");
    assert!(verified.contains(": in order\n") && !verified.contains("not yet linked"), "{verified}");
    let last = verified.lines().find_map(|line| line.strip_prefix("  last link: ")).unwrap();
    succeeds(&audit(&["verify", "--project", &project, "--expect", last]));
    let other = format!("9{last}");
    let failed = audit(&["verify", "--project", &project, "--expect", &other]);
    assert!(fails(&failed).contains("found problems in the trails of"));
    assert!(fails(&audit(&["verify", "--project", &project, "--expect", "1"])).contains("is not a link"));
    succeeds(&audit(&["verify", "--project", &project, "--expect", last, "--accept-late", last]));
    assert!(fails(&audit(&["verify", "--project", &project, "--accept-late", &other])).contains("found problems in the trails of"));

    // An attacker who can write to the table but does not know the secret deletes an entry.
    let engine = Engine::open(Some(&Path::new(&data).join("gatelet.db")), &Entropy::system(), None).await.unwrap();
    let store = engine.store();
    let (items, _) = store.items(None).await.unwrap();
    let mut of_trail = items.iter().filter(|item| item["pk"].as_s().unwrap().contains("#TRAIL#"));
    let entry = of_trail.find(|item| item["d"].as_m().unwrap()["id"].as_s().unwrap() == entries[1]["id"].as_str().unwrap()).unwrap();
    let delete = DeleteItemInput::builder().table_name(TABLE).key("pk", entry["pk"].clone()).key("sk", entry["sk"].clone());
    store.client().call(delete).await.unwrap();
    drop((engine, store));
    let failed = audit(&["verify", "--project", &project]);
    let missing = format!(": entry {} is missing\n", entries[1]["id"].as_str().unwrap());
    assert!(String::from_utf8_lossy(&failed.stdout).contains(&missing), "{failed:?}");
    assert!(fails(&failed).contains("found problems in the trails of 1 of 1 projects"));
}

#[tokio::test]
async fn a_trail_is_verified_although_its_project_is_not_listed_or_is_gone() {
    let folder = Folder::new("audit-gone");
    let data = folder.data();
    let project = prepare(&data).await;
    let engine = Engine::open(Some(&Path::new(&data).join("gatelet.db")), &Entropy::system(), None).await.unwrap();
    let store = engine.store();
    let delete = async |pk: &str, sk: &str| {
        let delete = DeleteItemInput::builder().table_name(TABLE).key("pk", AttributeValue::S(pk.to_owned()));
        store.client().call(delete.key("sk", AttributeValue::S(sk.to_owned()))).await.unwrap();
    };
    let verify = || run(&["audit", "verify", "--data", &data]);
    delete("PROJECTS", &project).await;
    assert!(succeeds(&verify()).contains(&format!("project {project}\n")));
    delete(&format!("P#{project}"), "PROJECT").await;
    for failed in [verify(), run(&["audit", "verify", "--project", &project, "--data", &data])] {
        assert!(String::from_utf8_lossy(&failed.stdout).contains("\n  the project does not exist, but its trail does"), "{failed:?}");
        assert!(fails(&failed).contains("found problems in the trails of"));
    }
}

#[tokio::test]
async fn a_damaged_project_hides_no_other_trail() {
    let folder = Folder::new("audit-damaged");
    let data = folder.data();
    let project = prepare(&data).await;
    succeeds(&run(&["project", "create", "Papers", "--data", &data]));
    let engine = Engine::open(Some(&Path::new(&data).join("gatelet.db")), &Entropy::system(), None).await.unwrap();
    let store = engine.store();
    let (items, _) = store.items(None).await.unwrap();
    let is_of_project = |item: &&store::Item| item["sk"].as_s().unwrap() == "PROJECT" && item["pk"].as_s().unwrap().ends_with(&project);
    let mut damaged = items.iter().find(is_of_project).unwrap().clone();
    damaged.insert("d".to_owned(), AttributeValue::S("nothing".to_owned()));
    store.client().call(PutItemInput::builder().table_name(TABLE).set_item(Some(damaged))).await.unwrap();
    drop((engine, store));
    let failed = run(&["audit", "verify", "--data", &data]);
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(said.contains(&format!("project {project}\n  cannot be verified: ")), "{said}");
    assert!(said.contains(": in order, 1 not yet linked"), "{said}");
    assert!(fails(&failed).contains("1 of "), "{failed:?}");
}

#[tokio::test]
async fn entries_left_by_a_killed_gateway_are_linked_at_the_next_start() {
    let folder = Folder::new("audit-killed");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let project = gateway.line("Project");
    gateway.sign_up(&project, "ada@example.com").await;
    drop(gateway);
    let verify = || succeeds(&run(&["audit", "verify", "--project", &project, "--data", &data]));
    assert!(verify().contains("1 entry, 0 links: in order, 1 not yet linked\n"), "{}", verify());

    let _gateway = Gateway::start(&data);
    for _ in 0..1_200 {
        if verify().contains("1 entry, 1 link: in order\n") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{}", verify());
}
