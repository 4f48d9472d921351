//! A gateway with its data in memory, which is called over HTTP.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use ureq::Agent;

pub struct Gateway {
    process: Child,
    agent: Agent,
    url: String,
    keys: HashMap<String, String>,
}

impl Gateway {
    pub fn start(program: &str) -> Self {
        let mut command = Command::new(program);
        command.args(["serve", "--memory", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the gateway starts");
        let (mut url, mut keys) = (String::new(), HashMap::new());
        for line in BufReader::new(process.stdout.take().expect("its output")).lines() {
            let line = line.expect("text");
            if let Some(rest) = line.strip_prefix("Gatelet answers at ") {
                url = rest.split_whitespace().next().unwrap_or_default().replace("localhost", "127.0.0.1");
            }
            if let Some((label, key)) = line.trim().rsplit_once("  ") {
                keys.insert(label.trim().to_owned(), key.to_owned());
            }
            if keys.contains_key("Admin key") {
                break;
            }
        }
        assert!(!url.is_empty() && keys.contains_key("Admin key"), "the gateway prints its URL and keys");
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Self { process, agent, url, keys }
    }

    /// Sends a request as a client or an administrator of the first project, with the access token
    /// of a user if it is given. Returns the status and the body.
    pub fn send(&self, method: &str, path: &str, access: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        let (header, label) = match access {
            "admin" => ("x-service-super-secret-admin-key", "Admin key"),
            _ => ("x-service-publishable-client-key", "Client key"),
        };
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}/api/v1{path}", self.url))
            .header("content-type", "application/json")
            .header("x-service-access-type", access)
            .header("x-service-project-id", &self.keys["Project"])
            .header(header, &self.keys[label]);
        if let Some(token) = token {
            request = request.header("x-service-access-token", token);
        }
        let request = request.body(body.to_string()).expect("a request");
        let mut answer = self.agent.run(request).expect("an answer");
        let status = answer.status().as_u16();
        (status, answer.body_mut().read_json().expect("JSON"))
    }

    /// Like [`Self::send`], but for requests that must succeed.
    pub fn done(&self, method: &str, path: &str, access: &str, token: Option<&str>, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, access, token, body);
        assert!(status < 300, "{method} {path}: {status} {answer}");
        answer
    }

    pub fn configure(&self, config: &Value) {
        self.done("PATCH", "/internal/projects/current", "admin", None, &json!({ "config": config }));
    }

    /// Signs up a user; returns the user's access token and id.
    pub fn sign_up(&self, email: &str) -> (String, Value) {
        let body = json!({ "email": email, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000" });
        let user = self.done("POST", "/auth/password/sign-up", "client", None, &body);
        (user["access_token"].as_str().expect("a token").to_owned(), user["user_id"].clone())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
