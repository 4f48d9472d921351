//! What keeps a gateway from starting is said in one line.

use std::net::TcpListener;

use crate::support::{Folder, Gateway, end_of, fails, gateway, run};

#[test]
fn a_port_in_use_is_named_and_nothing_is_created() {
    let folder = Folder::new("port");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert!(fails(&run(&["--data", &folder.data(), "--listen", &address])).contains(&format!("cannot listen on {address}")));
    let port = taken.local_addr().unwrap().port().to_string();
    let dynamodb = run(&["--data", &folder.data(), "--listen", "127.0.0.1:0", "--dynamodb-port", &port]);
    assert!(fails(&dynamodb).contains(&address));
    assert!(!std::fs::exists(folder.data()).unwrap());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = Folder::new("unwritable");
    folder.write("file", "");
    let below = folder.path("file/data");
    assert!(fails(&run(&["--data", &below, "--listen", "127.0.0.1:0"])).contains(&below));
    let file = folder.path("file");
    assert!(fails(&run(&["--data", &file, "--listen", "127.0.0.1:0"])).contains(&file));
}

#[test]
fn a_damaged_database_is_named() {
    let folder = Folder::new("damaged");
    drop(Gateway::start(&folder.data()));
    for name in ["gatelet.db-wal", "gatelet.db-shm"] {
        let _ = std::fs::remove_file(folder.path(&format!("data/{name}")));
    }
    folder.write("data/gatelet.db", &"this is not a database. ".repeat(1000));
    let line = fails(&run(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]));
    assert!(line.contains("gatelet.db"), "{line}");
    assert!(fails(&run(&["project", "list", "--data", &folder.data()])).contains("gatelet.db"));
}

#[test]
fn a_damaged_secret_is_named() {
    let folder = Folder::new("secret");
    folder.write("data/secret", "short");
    assert!(fails(&run(&["--data", &folder.data(), "--listen", "127.0.0.1:0"])).contains("secret is damaged"));
}

#[test]
fn wrong_variables_are_named() {
    let folder = Folder::new("variables");
    let wrong = [
        ("GATELET_PROJECT_ID", "not an id"),
        ("GATELET_SECRET", "short"),
        ("GATELET_API_URL", "nowhere"),
        ("GATELET_SITE_URL", "nowhere"),
        ("GATELET_ACCESS_TOKEN_SECONDS", "1"),
        ("GATELET_SENDER", "nobody\r\nBcc: all"),
    ];
    for (name, value) in wrong {
        let output = end_of(gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]).env(name, value));
        assert!(fails(&output).contains(name), "{name}");
    }
}

#[test]
fn wrong_arguments_are_explained() {
    for arguments in [&["--listen", "nowhere"][..], &["--nothing"], &["project"], &["project", "set", "internal"], &["nothing"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("--help") && !stderr.contains("panicked"), "{arguments:?} {stderr}");
    }
}
