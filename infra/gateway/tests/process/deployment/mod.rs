//! The commands that work on a deployment over its API, after `gateway login`.

mod administer;
mod login;
mod renewal;
mod several;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, gateway, succeeds};

const PAGE: &str = "http://localhost:3000/device";

/// A command whose user has their settings in `folder`.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = gateway(arguments);
    command.env("XDG_CONFIG_HOME", folder.path("config")).current_dir(folder.path(""));
    command
}

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    end_of(&mut command(folder, arguments))
}

/// The output of a command, parsed as JSON.
fn json_of(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(&run(folder, arguments))).unwrap()
}

fn file(folder: &Folder) -> String {
    folder.path("config/gatelet/logins.json")
}

/// How long `gateway login` waits before each poll, in milliseconds. In these tests, users decide
/// immediately, so the wait can be shorter than the deployment's interval.
const SOON: &str = "500";

/// Runs `gateway login` until it exits. Meanwhile, the user decides on the sign-in: `mode` is
/// `complete` or `deny`. The command waits `millis` before each poll, or the deployment's interval
/// if `millis` is empty. Returns the command's standard output, and its exit status together with
/// its standard error.
async fn login(gateway: &Gateway, folder: &Folder, mode: &str, user: &Value, millis: &str) -> (String, Output) {
    let mut command = command(folder, &["login", &gateway.url, "--page", PAGE]);
    let mut child = command.env("GATELET_LOGIN_MILLIS", millis).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("The code is ") {
        assert!(stdout.read_line(&mut printed).unwrap() > 0, "{:?}", child.wait_with_output());
    }
    assert!(printed.starts_with(&format!("Open {PAGE}?login_code=")), "{printed}");
    let code = printed.trim_end().strip_suffix('.').and_then(|line| line.rsplit(' ').next()).unwrap();
    let body = json!({ "login_code": code, "mode": mode, "refresh_token": user["refresh_token"] });
    let (status, answer) = gateway.client("internal", Method::POST, "/api/v1/auth/cli/complete", Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    let end = move || {
        while stdout.read_line(&mut printed).unwrap() > 0 {}
        (printed, child.wait_with_output().unwrap())
    };
    tokio::task::spawn_blocking(end).await.unwrap()
}

async fn signs_in(gateway: &Gateway, folder: &Folder, user: &Value) -> String {
    let (printed, end) = login(gateway, folder, "complete", user, SOON).await;
    assert!(end.status.success(), "{printed} {end:?}");
    printed
}

/// A user of the project `internal` who has a session in a browser.
async fn user_of_internal(gateway: &Gateway, email: &str) -> Value {
    gateway.open_internal().await;
    let body = json!({ "email": email, "password": "correct horse battery" });
    let (status, user) = gateway.client("internal", Method::POST, "/api/v1/auth/password/sign-up", Some(body)).await;
    assert_eq!(status, 200, "{user}");
    user
}

/// Calls an operation as this user of `internal`.
async fn as_user(gateway: &Gateway, user: &Value, method: Method, path: &str) -> Value {
    let headers = [
        ("x-service-project-id", "internal"),
        ("x-service-access-type", "client"),
        ("x-service-access-token", user["access_token"].as_str().unwrap()),
    ];
    gateway.send(method, path, &headers, None).await.json().await.unwrap()
}

async fn sessions(gateway: &Gateway, user: &Value) -> usize {
    as_user(gateway, user, Method::GET, "/api/v1/auth/sessions").await["items"].as_array().unwrap().len()
}

/// Starts a server that is not a gateway: `answer` gets a request and returns the bytes of the
/// response. Returns the URL.
fn serve(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut request = [0; 4096];
            let length = connection.read(&mut request).unwrap_or_default();
            let _ = connection.write_all(answer(&String::from_utf8_lossy(&request[..length])).as_bytes());
        }
    });
    url
}
