//! `--dynamodb-port`: the table is available only to programs on this machine that have its
//! credentials.

use std::net::TcpStream;
use std::process::{Command, Output};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, succeeds, variable};

const SECRET: &str = "a secret of this test, long enough";

fn start(arguments: &[&str]) -> Gateway {
    Gateway::spawn(&mut gateway(&[arguments, &["--dynamodb-port", "0"]].concat()))
}

fn list(variables: &[(&str, String)]) -> Output {
    let mut command = gateway(&["project", "list", "--table", "gatelet"]);
    end_of(command.env("GATELET_SECRET", SECRET).envs(variables.iter().map(|(name, value)| (name, value))))
}

#[test]
fn the_table_requires_the_printed_credentials() {
    let gateway = start(&["--memory", "--port", "0"]);
    let right = gateway.table_variables();
    assert!(succeeds(&list(&right)).contains(&gateway.line("Project")));
    for (name, hint) in [("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID"), ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY")] {
        let wrong = right.clone().map(|(other, value)| (other, if other == name { "local".to_owned() } else { value }));
        let said = fails(&list(&wrong));
        assert!(said.contains(hint) && said.contains("printed at startup"), "{said}");
    }
}

/// The status of the response to an unsigned request, and whether the response has CORS headers.
async fn asked(gateway: &Gateway, method: Method, headers: &[(&str, &str)]) -> (u16, bool) {
    let mut request = gateway.http.request(method, gateway.line("DynamoDB")).body("{}");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.headers().keys().any(|name| name.as_str().starts_with("access-control")))
}

#[tokio::test]
async fn web_pages_other_hosts_and_unsigned_requests_are_rejected() {
    let gateway = start(&["--memory", "--port", "0"]);
    let target = ("x-amz-target", "DynamoDB_20120810.ListTables");
    let json = ("content-type", "application/x-amz-json-1.0");
    assert_eq!(asked(&gateway, Method::POST, &[target, json]).await, (400, false));
    for origin in ["http://evil.test", "null", "http://localhost:3000", &gateway.line("DynamoDB")] {
        for method in [Method::POST, Method::GET, Method::OPTIONS] {
            let preflight = ("access-control-request-method", "POST");
            assert_eq!(
                asked(&gateway, method.clone(), &[target, json, preflight, ("origin", origin)]).await,
                (403, false),
                "{method} {origin}"
            );
        }
    }
    // The rejected hosts include names that may resolve to this machine (DNS rebinding), and
    // 0.0.0.0, which stands for all addresses of the machine.
    for host in ["evil.test", "localhost.evil.test:8000", "0.0.0.0:8000", "10.0.0.1", "[::ffff:10.0.0.1]"] {
        assert_eq!(asked(&gateway, Method::POST, &[target, json, ("host", host)]).await, (403, false), "{host}");
    }
    // The correct access key with a wrong signature.
    let scope = "20260101/local/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00";
    let forged = format!("AWS4-HMAC-SHA256 Credential={}/{scope}", gateway.line("AWS key ID"));
    let answer = gateway.http.post(gateway.line("DynamoDB")).header("authorization", forged).header("x-amz-date", "20260101T000000Z");
    let answer = answer.header(target.0, target.1).body("{}").send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["__type"], json!("com.amazon.coral.service#InvalidSignatureException"));
}

#[test]
fn the_table_is_local_whatever_address_the_gateway_listens_on() {
    let everywhere = start(&["--memory", "--listen", "0.0.0.0:0"]);
    let endpoint = everywhere.line("DynamoDB");
    let port: u16 = endpoint.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
    // At other addresses of this machine, only the API is served, not the table.
    assert!(TcpStream::connect(("127.0.0.2", everywhere.port())).is_ok());
    assert!(TcpStream::connect(("127.0.0.2", port)).is_err());
    drop(everywhere);
    // Skipped on machines without IPv6.
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        let gateway = start(&["--memory", "--listen", "[::1]:0"]);
        assert!(gateway.line("DynamoDB").starts_with("http://[::1]:"), "{}", gateway.printed);
        assert!(succeeds(&list(&gateway.table_variables())).contains(&gateway.line("Project")));
    }
}

#[test]
fn credentials_are_saved_for_shells_until_the_environment_changes_them() {
    let folder = Folder::new("dynamodb-credentials");
    let data = folder.data();
    let first = start(&["--data", &data, "--port", "0"]);
    let file = folder.path("data/dynamodb.env");
    let saved = std::fs::read_to_string(&file).unwrap();
    assert_eq!(variable(&saved, "AWS_ACCESS_KEY_ID"), first.line("AWS key ID"));
    let mut shell = Command::new("sh");
    let script = format!(". \"$0\"; exec {} project list --table \"$GATELET_TABLE\"", env!("CARGO_BIN_EXE_gateway"));
    shell.args(["-c", &script, &file]).env_clear().env("GATELET_SECRET", SECRET);
    assert!(succeeds(&end_of(&mut shell)).contains(&first.line("Project")));
    let credentials = (first.line("AWS key ID"), first.line("AWS secret key"));
    drop(first);

    let again = start(&["--data", &data, "--port", "0"]);
    assert_eq!((again.line("AWS key ID"), again.line("AWS secret key")), credentials);
    drop(again);
    let fixed = [("GATELET_DYNAMODB_ACCESS_KEY_ID", "mine"), ("GATELET_DYNAMODB_SECRET_ACCESS_KEY", "$my/secret+key=")];
    let start = || gateway(&["--data", &data, "--port", "0", "--dynamodb-port", "0"]);
    let gateway = Gateway::spawn(start().envs(fixed));
    assert_eq!((gateway.line("AWS key ID"), gateway.line("AWS secret key")), ("mine".to_owned(), "$my/secret+key=".to_owned()));
    assert!(succeeds(&list(&gateway.table_variables())).contains(&gateway.line("Project")));
    drop(gateway);
    assert!(fails(&end_of(start().env(fixed[0].0, fixed[0].1))).contains("or neither"));
    assert!(fails(&end_of(start().envs([(fixed[0].0, "a/b"), fixed[1]]))).contains(fixed[0].0));
}
