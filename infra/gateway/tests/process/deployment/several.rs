//! Which deployment, folder or table a command works on.

use super::{json_of, run, signs_in, user_of_internal};
use crate::support::{Folder, Gateway, fails, succeeds};

#[tokio::test]
async fn commands_use_the_last_deployment_unless_they_name_another_one() {
    let folder = Folder::new("deployment-several");
    let (first, second) = (Gateway::start(&folder.data()), Gateway::start(&folder.path("second")));
    let (ada, bob) = (user_of_internal(&first, "ada@example.com").await, user_of_internal(&second, "bob@example.com").await);
    signs_in(&first, &folder, &ada).await;
    signs_in(&second, &folder, &bob).await;
    let me = |arguments: &[&str]| json_of(&folder, &[&["call", "GET", "/users/me"], arguments].concat())["primary_email"].clone();
    assert_eq!(me(&[]), "bob@example.com");
    assert_eq!(me(&["--api", &first.url]), "ada@example.com");
    assert_eq!(me(&["--api", &format!("{}/api/v1/", first.url)]), "ada@example.com");
    let other = fails(&run(&folder, &["user", "list", "--api", "https://auth.example.com"]));
    assert!(other.contains("not signed in to https://auth.example.com"), "{other}");

    let ended = succeeds(&run(&folder, &["logout"]));
    assert_eq!(ended, format!("signed out of {}; commands now use {}\n", second.url, first.url));
    assert_eq!(me(&[]), "ada@example.com");
}

#[tokio::test]
async fn a_named_data_folder_is_used_in_spite_of_a_sign_in() {
    let folder = Folder::new("deployment-folder");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    let own = gateway.line("Project");
    signs_in(&gateway, &folder, &ada).await;
    assert_eq!(succeeds(&run(&folder, &["project", "list"])), "", "no team of Ada's owns a project");
    assert!(succeeds(&run(&folder, &["project", "list", "--data", &data])).contains(&own));
    let by_variable = super::command(&folder, &["project", "list"]).env("GATELET_DATA", &data).output().unwrap();
    assert!(succeeds(&by_variable).contains(&own));
    succeeds(&run(&folder, &["user", "create", "bob@example.com", "--data", &data]));
    assert_eq!(succeeds(&run(&folder, &["team", "list", "--data", &data])).lines().count(), 3, "the teams of Ada and Bob");

    let said = fails(&run(&folder, &["project", "create", "Notes", "--id", &own]));
    assert!(said.contains("--internal and --id work on a data folder or table"), "{said}");
}

#[tokio::test]
async fn without_a_sign_in_commands_ask_the_gateway_that_serves_the_folder() {
    let folder = Folder::new("deployment-of-folder");
    let data = folder.path(".gatelet");
    let said = fails(&run(&folder, &["user", "list"]));
    assert!(said.contains("not signed in, and .gatelet is not a gateway's data folder"), "{said}");
    let gateway = Gateway::start(&data);
    let project = gateway.line("Project");
    succeeds(&run(&folder, &["user", "create", "bob@example.com", "--project", &project]));
    for arguments in [&["user", "list"][..], &["user", "list", "--data", &data], &["user", "list", "--project", &project]] {
        assert!(succeeds(&run(&folder, arguments)).contains("bob@example.com"), "{arguments:?}");
    }
    for command in [["key", "list"], ["email", "list"], ["audit", "list"]] {
        succeeds(&run(&folder, &command));
    }
    let renamed = succeeds(&run(&folder, &["user", "set", "bob@example.com", "display_name=Bob", "--json"]));
    assert!(renamed.contains("\"display_name\": \"Bob\""), "{renamed}");
    let other = fails(&run(&folder, &["user", "list", "--project", "internal"]));
    assert!(other.contains(&format!("contains only the admin key of project {project}")) && other.contains("gateway login"), "{other}");
    assert!(succeeds(&run(&folder, &["call", "GET", "/users"])).contains("bob@example.com"));
    let other = fails(&run(&folder, &["call", "GET", "/users", "--project", "internal"]));
    assert!(other.contains("gateway login"), "{other}");
    drop(gateway);
    let stopped = fails(&run(&folder, &["user", "list"]));
    assert!(stopped.contains("none serves the data in .gatelet: start one"), "{stopped}");
}

#[tokio::test]
async fn commands_say_what_they_work_on_unless_they_name_it() {
    let folder = Folder::new("deployment-said");
    let data = folder.path(".gatelet");
    let gateway = Gateway::start(&data);
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    let list = |arguments: &[&str]| {
        let output = run(&folder, &[&["project", "list"], arguments].concat());
        succeeds(&output);
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!((list(&[]).as_str(), list(&["--data", &data]).as_str()), ("using the data in .gatelet\n", ""));
    signs_in(&gateway, &folder, &ada).await;
    let here = format!("using {}\n", gateway.url);
    assert_eq!((list(&[]), list(&["--api", &gateway.url]), list(&["--data", &data])), (here, String::new(), String::new()));
    succeeds(&run(&folder, &["logout"]));
    assert_eq!(list(&[]), "using the data in .gatelet\n");
}
