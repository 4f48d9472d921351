//! The processes and folders that a test uses. When the test ends, the processes are killed and the
//! folders are removed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};

/// The folder of a test, which is empty at first and removed afterwards.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The path of the gateway's data folder.
    pub(crate) fn data(&self) -> String {
        self.path("data")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The gateway's program with an empty environment.
pub(crate) fn gateway(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// How long a command may run. Commands are quick, but the machine can be busy.
const END: Duration = Duration::from_secs(120);

/// Runs a command until it exits.
pub(crate) fn run(arguments: &[&str]) -> Output {
    end_of(&mut gateway(arguments))
}

pub(crate) fn end_of(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (process, (ends, ended)) = (child.id().to_string(), channel());
    std::thread::spawn(move || ends.send(child.wait_with_output()));
    match ended.recv_timeout(END) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            let _ = Command::new("kill").args(["-KILL", &process]).status();
            panic!("{command:?} does not exit: {:?}", ended.recv());
        }
    }
}

/// The output of a command, which must succeed.
pub(crate) fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The single error line of a command, which must fail. Before the error, there can be a line that
/// names the data or deployment that the command uses by default.
pub(crate) fn fails(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    let stderr = match stderr.split_once('\n') {
        Some((first, rest)) if first.starts_with("using ") => rest.to_owned(),
        _ => stderr,
    };
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.ends_with('\n') && stderr.lines().count() == 1, "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// The value of a line `NAME=value` or `export NAME=value`.
pub(crate) fn variable(text: &str, name: &str) -> String {
    let mut lines = text.lines().map(|line| line.strip_prefix("export ").unwrap_or(line));
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

/// A client for plain HTTP, although reqwest still requires a TLS provider.
fn http_client() -> Client {
    // The installation fails if another test has already installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

pub(crate) struct Gateway {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// The output at startup.
    pub(crate) printed: String,
    pub(crate) url: String,
    pub(crate) http: Client,
}

impl Gateway {
    /// Starts a gateway on a free port with the data folder `data`. Waits until it has printed its
    /// URL, and its keys or the place where they are.
    pub(crate) fn start(data: &str) -> Self {
        Self::spawn(&mut gateway(&["--data", data, "--listen", "127.0.0.1:0"]))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        let last = if command.get_args().any(|argument| argument == "--dynamodb-port") { "DynamoDB " } else { "K" };
        while !printed.lines().any(|line| line.trim().starts_with(last) || (last == "K" && line.contains("Internal admin"))) {
            if stdout.read_line(&mut printed).unwrap() == 0 {
                let mut stderr = String::new();
                child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
                panic!("the gateway exited: {stderr}");
            }
        }
        let url = printed.lines().find_map(|line| line.strip_prefix("Gatelet answers at ")).unwrap().to_owned();
        Self { child, stdout, printed, url, http: http_client() }
    }

    /// The value of a line that the gateway printed when it started, without the label of the line.
    pub(crate) fn line(&self, name: &str) -> String {
        let line = self.printed.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.printed)).trim().to_owned()
    }

    /// The variables that a process needs to reach the table, if it is served on a port.
    pub(crate) fn table_variables(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", self.line("DynamoDB")),
            ("AWS_REGION", "local".to_owned()),
            ("AWS_ACCESS_KEY_ID", self.line("AWS key ID")),
            ("AWS_SECRET_ACCESS_KEY", self.line("AWS secret key")),
        ]
    }

    /// Opens sign-up for the project `internal`, as an operator of the gateway would.
    pub(crate) async fn open_internal(&self) {
        let key = self.line("Internal admin");
        let headers = [("x-stack-project-id", "internal"), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", &*key)];
        let body = json!({ "config": { "sign_up_enabled": true } });
        assert_eq!(self.send(Method::PATCH, "/api/v1/internal/projects/current", &headers, Some(body)).await.status(), 200);
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    /// The page key in the link that the gateway printed when it started.
    pub(crate) fn page_key(&self) -> String {
        let link = self.line("Start page");
        link.split_once("/?key=").unwrap_or_else(|| panic!("no key in {link}")).1.to_owned()
    }

    /// Sends a request. Requests for protected pages contain the page key in the form that programs
    /// use.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Response {
        let is_private = path == "/" || path.starts_with("/console") || path.starts_with("/inbox") || path.starts_with("/outbox");
        if !is_private || !self.printed.contains("/?key=") {
            return self.send_without_key(method, path, headers, body).await;
        }
        let key = format!("Bearer {}", self.page_key());
        self.send_without_key(method, path, &[headers, &[("authorization", &key)]].concat(), body).await
    }

    pub(crate) async fn send_without_key(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Response {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, &[], None).await
    }

    /// Sends a request as a client of a project.
    pub(crate) async fn client(&self, project: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let headers = [("x-stack-project-id", project), ("x-stack-access-type", "client")];
        let answer = self.send(method, path, &headers, body).await;
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Signs up a user with the password `correct horse battery`; returns the user's access token.
    pub(crate) async fn sign_up(&self, project: &str, email: &str) -> String {
        let body = json!({ "email": email, "password": "correct horse battery" });
        let (status, user) = self.client(project, Method::POST, "/api/v1/auth/password/sign-up", Some(body)).await;
        assert_eq!(status, 200, "{user}");
        user["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn change_user(&self, project: &str, token: &str, change: Value) {
        let headers = [("x-stack-project-id", project), ("x-stack-access-type", "client"), ("x-stack-access-token", token)];
        let answer = self.send(Method::PATCH, "/api/v1/users/me", &headers, Some(change)).await;
        assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
    }

    /// The id of the gateway's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The next line of the gateway's output.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Closes the pipe for the gateway's output, as `| head` does.
    pub(crate) fn close_output(&mut self) {
        let mut nobody = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        self.stdout = BufReader::new(nobody.stdout.take().unwrap());
        nobody.wait().unwrap();
    }

    /// Waits until a worker stops at the place named by `GATELET_STOP_AT`, and then kills the
    /// gateway with SIGKILL.
    pub(crate) async fn killed_where_it_stops(mut self, place: &str) {
        let mut stderr = BufReader::new(self.child.stderr.take().unwrap());
        let wanted = format!("stopped at {place}");
        let stopped = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            while stderr.read_line(&mut line).unwrap() > 0 {
                if line.trim() == wanted {
                    return;
                }
                line.clear();
            }
            panic!("the gateway exited before it {wanted}");
        });
        tokio::time::timeout(Duration::from_secs(180), stopped).await.unwrap().unwrap();
        self.signal("KILL");
        assert!(!self.child.wait().unwrap().success());
    }

    /// Waits until the gateway exits; returns its exit status and its standard error.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap(), stderr)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
