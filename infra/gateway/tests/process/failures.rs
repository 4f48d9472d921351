//! A gateway that cannot start says why.

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
fn an_unwritable_folder_is_named() {
    let folder = Folder::new("unwritable");
    folder.write("file", "");
    let below = folder.path("file/data");
    assert!(fails(&run(&["--data", &below, "--listen", "127.0.0.1:0"])).contains(&below));
    let file = folder.path("file");
    assert!(fails(&run(&["--data", &file, "--listen", "127.0.0.1:0"])).contains(&file));
}

#[test]
fn a_damaged_secret_is_named() {
    let folder = Folder::new("secret");
    folder.write("data/secret", "short");
    assert!(fails(&run(&["--data", &folder.data(), "--listen", "127.0.0.1:0"])).contains("cannot use the deployment secret in "));
}

#[test]
fn invalid_variables_are_named() {
    let folder = Folder::new("variables");
    let wrong = [
        ("GATELET_PROJECT_ID", "not an id"),
        ("GATELET_SECRET", "short"),
        ("GATELET_API_URL", "nowhere"),
        ("GATELET_SITE_URL", "nowhere"),
        ("GATELET_ACCESS_TOKEN_SECONDS", "1"),
        ("GATELET_PASSWORD_HASH", "m=19456,t=1,p=1"),
        ("GATELET_SENDER", "nobody\r\nBcc: all"),
        ("GATELET_LOG", "bogus"),
        ("GATELET_LOG", "info,gateway=loud"),
    ];
    for (name, value) in wrong {
        let output = end_of(gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]).env(name, value));
        assert!(fails(&output).contains(name), "{name}");
    }
}

#[test]
fn a_misspelt_variable_is_named_with_the_one_that_is_meant() {
    let folder = Folder::new("misspelt");
    let served = Gateway::spawn(gateway(&["--data", &folder.data(), "--listen", "127.0.0.1:0"]).env("GATELET_LIMITSS", "off"));
    served.signal("INT");
    assert!(served.wait().1.contains("the variable GATELET_LIMITSS has no effect: did you mean GATELET_LIMITS?"));
    let listed = end_of(gateway(&["project", "list", "--data", &folder.data()]).env("GATELET_SECERT", "x"));
    assert!(listed.status.success());
    assert_eq!(
        String::from_utf8(listed.stderr).unwrap(),
        "warning: the variable GATELET_SECERT has no effect: did you mean GATELET_SECRET?\n"
    );
}

#[test]
fn an_address_can_be_written_in_many_ways() {
    for listen in [["--listen", "0"], ["--listen", "localhost:0"], ["--listen", ":0"], ["--listen", "127.0.0.1:0"], ["--port", "0"]] {
        let gateway = Gateway::spawn(&mut gateway(&["--memory", listen[0], listen[1]]));
        assert!(gateway.url.starts_with("http://localhost:"), "{listen:?} {}", gateway.url);
    }
    let wrong = run(&["--listen", "example.com:8787"]);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("localhost:8787") && said.contains("127.0.0.1:8787"), "{said}");
    assert_eq!(run(&["--listen", "0", "--port", "0"]).status.code(), Some(2));
}

#[test]
fn unknown_arguments_are_explained() {
    for arguments in [&["--listen", "nowhere"][..], &["--nothing"], &["project"], &["project", "set", "internal"], &["nothing"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("--help") && !stderr.contains("panicked"), "{arguments:?} {stderr}");
    }
}
