//! The data folder: only one gateway can use it at a time, it is private to its owner, and it is
//! never overwritten when it is damaged.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds, variable};

#[tokio::test]
async fn a_second_gateway_names_the_holder_of_the_folder_and_exits() {
    let folder = Folder::new("two");
    let gateway = Gateway::start(&folder.data());
    let second = fails(&run(&["--data", &folder.data(), "--port", "0"]));
    for part in [&folder.data(), &format!("process {}", gateway.process()), &gateway.url, "--data"] {
        assert!(second.contains(part), "{part} is missing in {second}");
    }
    gateway.sign_up(&gateway.line("Project"), "ada@example.com").await;
    // Commands can run next to the gateway, and a gateway that is killed leaves nothing that must
    // be cleaned up.
    assert!(succeeds(&run(&["project", "list", "--data", &folder.data()])).contains(&gateway.line("Project")));
    gateway.signal("KILL");
    gateway.wait();
    drop(Gateway::start(&folder.data()));
}

#[test]
fn the_gateway_that_uses_the_port_is_named() {
    let folder = Folder::new("same-port");
    let gateway = Gateway::start(&folder.data());
    let port = gateway.port().to_string();
    let own = fails(&run(&["--data", &folder.data(), "--port", &port]));
    assert!(own.contains(&format!("process {}", gateway.process())) && own.contains("--port"), "{own}");
    let other = fails(&run(&["--data", &folder.path("other"), "--port", &port]));
    assert!(other.contains("another program") && other.contains("--port"), "{other}");
}

#[test]
fn the_folder_is_private_whatever_the_umask() {
    for umask in ["000", "277"] {
        let folder = Folder::new(&format!("umask-{umask}"));
        let script = format!("umask {umask}; exec \"$0\" --data \"$1\" --port 0 --dynamodb-port 0");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_gateway"), &folder.data()]).env_clear();
        let gateway = Gateway::spawn(&mut command);
        assert_eq!(std::fs::read_to_string(folder.path("data/.gitignore")).unwrap(), "*\n");
        assert_closed(&folder);
        drop(gateway);
    }
}

#[test]
fn exports_and_imports_are_private_whatever_the_umask() {
    let folder = Folder::new("umask-export");
    drop(Gateway::start(&folder.data()));
    for umask in ["000", "277"] {
        let (export, copy) = (folder.path(&format!("export-{umask}")), folder.path(&format!("copy-{umask}")));
        for arguments in [["export", "--to", &export, "--data", &folder.data()], ["import", "--from", &export, "--data", &copy]] {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_gateway")]).args(arguments).env_clear();
            succeeds(&end_of(&mut command));
        }
        assert!(files_closed(&export) >= 2 && files_closed(&copy) >= 3);
    }
}

/// Asserts that the folder and every file in it are private.
fn assert_closed(folder: &Folder) {
    let count = files_closed(&folder.data());
    assert!(count >= 7, "{count} files");
}

/// The number of files in a folder. Asserts that all files are private.
fn files_closed(folder: &str) -> usize {
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.as_ref()), 0o700, "{folder}");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.inspect(|path| assert_eq!(mode(path), 0o600, "{}", path.display())).count()
}

#[test]
fn an_old_folder_becomes_private_and_foreign_files_keep_their_permissions() {
    let folder = Folder::new("open");
    drop(Gateway::start(&folder.data()));
    let open = |path: &str, mode| std::fs::set_permissions(folder.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    for (path, mode) in [("data", 0o755), ("data/keys.env", 0o644), ("data/gatelet.db", 0o644)] {
        open(path, mode);
    }
    std::fs::remove_file(folder.path("data/.gitignore")).unwrap();
    let gateway = Gateway::start(&folder.data());
    assert_closed(&folder);
    drop(gateway);

    std::fs::remove_file(folder.path("data/.gitignore")).unwrap();
    folder.write("data/notes.txt", "mine");
    for (path, mode) in [("data", 0o755), ("data/notes.txt", 0o644)] {
        open(path, mode);
    }
    drop(Gateway::start(&folder.data()));
    let mode = |path: &str| std::fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data"), mode("data/notes.txt"), mode("data/gatelet.db")), (0o755, 0o644, 0o600));
    assert!(!std::fs::exists(folder.path("data/.gitignore")).unwrap());
}

#[test]
fn child_processes_of_a_shell_that_sourced_the_file_have_the_keys() {
    let folder = Folder::new("keys");
    let gateway = Gateway::start(&folder.data());
    let file = folder.path("data/keys.env");
    let mut shell = Command::new("sh");
    shell.args(["-c", ". \"$0\"; exec env", &file]).env_clear().env("PATH", "/usr/bin:/bin");
    let environment = succeeds(&end_of(&mut shell));
    assert_eq!(variable(&environment, "GATELET_PROJECT_ID"), gateway.line("Project"));
    assert_eq!(variable(&environment, "GATELET_SECRET_SERVER_KEY"), gateway.line("Server key"));
    drop(gateway);

    // Older versions wrote this file without `export`.
    let saved = std::fs::read_to_string(&file).unwrap();
    folder.write("data/keys.env", &saved.replace("export ", ""));
    drop(Gateway::start(&folder.data()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), saved);
}

#[tokio::test]
async fn revoked_saved_keys_are_replaced_at_the_next_start() {
    let folder = Folder::new("revoked");
    let names = ["GATELET_SECRET_SERVER_KEY", "GATELET_SUPER_SECRET_ADMIN_KEY"];
    let saved = || std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
    let ask = async |gateway: &Gateway, method: Method, path: &str, body: Option<Value>| {
        let (project, key) = (variable(&saved(), "GATELET_PROJECT_ID"), variable(&saved(), names[1]));
        let headers = [("x-stack-project-id", &*project), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", &*key)];
        let answer = gateway.send(method, &format!("/api/v1/internal/{path}"), &headers, body).await;
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let end = |gateway: Gateway| {
        gateway.signal("INT");
        gateway.wait().1
    };
    let first = Gateway::start(&folder.data());
    let sets = ask(&first, Method::GET, "api-keys", None).await.1;
    let path = format!("api-keys/{}", sets["items"][0]["id"].as_str().unwrap());
    assert_eq!(ask(&first, Method::PATCH, &path, Some(json!({ "revoked": true }))).await.0, 200);
    assert_eq!(ask(&first, Method::GET, "projects/current", None).await.0, 401);
    let made = saved();
    end(first);

    // The shell still has one of the revoked keys in its environment.
    let shell = |names: &[&str]| {
        let mut command = gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]);
        Gateway::spawn(command.envs(names.iter().map(|name| (*name, variable(&made, name)))))
    };
    let again = shell(&names[1..]);
    assert_eq!(ask(&again, Method::GET, "projects/current", None).await.0, 200);
    let said = end(again);
    assert!(said.contains(&format!("the saved {} of project", names[0])), "{said}");
    assert!(said.contains(&format!("{} in the environment is revoked", names[1])), "{said}");
    let renewed = saved();
    assert!(names.iter().all(|name| variable(&renewed, name) != variable(&made, name)), "{renewed}");

    // A shell that has sourced the older file does not bring the revoked keys back.
    let sourced = shell(&["GATELET_PROJECT_ID", names[0], names[1]]);
    assert_eq!(ask(&sourced, Method::GET, "projects/current", None).await.0, 200);
    assert_eq!(ask(&sourced, Method::GET, "api-keys", None).await.1["items"].as_array().unwrap().len(), 2);
    let said = end(sourced);
    assert!(said.contains("the gateway uses the one in keys.env") && saved() == renewed, "{said}");

    let said = end(Gateway::start(&folder.data()));
    assert!(!said.contains("revoked") && saved() == renewed, "{said}");
}

/// Replaces the content of a file in the data folder. Returns the error of a gateway's start, which
/// must leave the file unchanged.
fn said_of(folder: &Folder, name: &str, bytes: &[u8]) -> String {
    for beside in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path(&format!("data/{name}{beside}")));
    }
    let path = folder.path(&format!("data/{name}"));
    std::fs::write(&path, bytes).unwrap();
    let said = fails(&run(&["--data", &folder.data(), "--port", "0"]));
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name} was changed");
    said
}

#[test]
fn a_damaged_database_is_reported_with_advice_and_left_unchanged() {
    let folder = Folder::new("damaged");
    let gateway = Gateway::start(&folder.data());
    gateway.signal("TERM");
    gateway.wait();
    for name in ["gatelet.db", "inbox.db"] {
        let path = folder.path(&format!("data/{name}"));
        // By the time this command ends, all data is in the file itself, rather than in the log.
        succeeds(&run(&["project", "list", "--data", &folder.data()]));
        let whole = std::fs::read(&path).unwrap();
        let (page, middle) = (4096, whole.len() / 2 / 4096 * 4096);
        let mut scribbled = whole.clone();
        scribbled[middle..middle + page].fill(b'x');
        let garbage = "this is not a database. ".repeat(1000).into_bytes();
        for (what, bytes) in [("garbage", &garbage[..]), ("cut off", &whole[..whole.len() / 2]), ("scribbled over", &scribbled)] {
            let said = said_of(&folder, name, bytes);
            for part in [path.as_str(), "is damaged", "left unchanged", "copy", &format!("{name}-wal")] {
                assert!(said.contains(part), "{what}: {part} is missing in {said}");
            }
        }
        std::fs::write(&path, whole).unwrap();
    }
    assert!(said_of(&folder, "gatelet.db", b"").contains("it is empty"));
}

#[test]
fn commands_report_a_damaged_database_too() {
    let folder = Folder::new("damaged-command");
    drop(Gateway::start(&folder.data()));
    for beside in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path(&format!("data/gatelet.db{beside}")));
    }
    folder.write("data/gatelet.db", &"this is not a database. ".repeat(1000));
    assert!(fails(&run(&["project", "list", "--data", &folder.data()])).contains("gatelet.db is damaged"));
}
