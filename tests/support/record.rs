//! A run of the tests that leaves behind what is judged as a whole: what operations do to the table, what is logged, and the secrets that
//! went in and out of them.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, Once};

use axum::Router;
use axum::body::{Body, Bytes};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use infra::operations;
use shared::App;
use shared::http::log::{self, Asked};
use shared::http::{Route, Verb};
use tower::ServiceExt as _;

use crate::roles;
use crate::secrets::{self, Secret};

/// The folder that a run writes to.
pub const FOLDER: &str = "GATELET_TEST_RECORD";

static RUN: LazyLock<Option<Run>> = LazyLock::new(|| {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    Some(Run {
        actions: Mutex::new(Lines::open(&folder, "actions")),
        secrets: Mutex::new(Lines::open(&folder, "secrets")),
        log: Mutex::new(Lines::open(&folder, "log")),
    })
});
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| operations::all().into_iter().map(|operation| operation.route).collect());

struct Run {
    actions: Mutex<Lines>,
    secrets: Mutex<Lines>,
    log: Mutex<Lines>,
}

/// A file of lines, each there once.
struct Lines {
    file: File,
    known: HashSet<String>,
}

impl Lines {
    fn open(folder: &Path, name: &str) -> Self {
        Self { file: OpenOptions::new().append(true).create(true).open(folder.join(name)).unwrap(), known: HashSet::new() }
    }

    fn add(&mut self, line: String) {
        if !self.known.contains(&line) {
            self.file.write_all(format!("{line}\n").as_bytes()).unwrap();
            self.known.insert(line);
        }
    }
}

/// Where the log of this process goes, as functions write it and as much as they can be told to.
struct Log;

impl std::io::Write for Log {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Some(run) = RUN.as_ref() {
            run.log.lock().unwrap().add(String::from_utf8_lossy(line).trim_end().to_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes the log of this process, if this is such a run.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    if RUN.is_some() {
        STARTED.call_once(|| tracing::subscriber::set_global_default(log::lines(log::MOST, || Log)).unwrap());
    }
}

/// Notes an IAM action of an operation.
pub(crate) fn action(operation: &str, action: &str) {
    if let Some(run) = RUN.as_ref() {
        run.actions.lock().unwrap().add(format!("{operation} {action}"));
    }
}

/// Notes secrets.
pub(crate) fn secrets(found: impl IntoIterator<Item = Secret>) {
    if let Some(run) = RUN.as_ref() {
        let mut lines = run.secrets.lock().unwrap();
        for secret in found {
            lines.add(secret.line());
        }
    }
}

pub(crate) fn is_on() -> bool {
    RUN.is_some()
}

/// Answers a request as the operation that it is for.
pub(crate) async fn answer(app: &App, router: Router, request: Request<Body>) -> Response<Body> {
    if RUN.is_none() {
        return router.oneshot(request).await.unwrap();
    }
    let path = request.uri().path().replacen("/api/latest/", "/api/v1/", 1);
    let verb = if request.method() == "HEAD" { "GET" } else { request.method().as_str() };
    let operation = ROUTES.iter().find(|route| Verb::name(route.verb) == verb && route.matches(&path)).map(|route| route.name);
    let asked = operation.map(|name| Asked::new(name, request.method(), request.headers(), None, None));

    let (parts, body) = request.into_parts();
    let body = whole(body).await;
    secrets(secrets::of_request(&parts, &body));
    let answer = roles::within(operation, router.oneshot(Request::from_parts(parts, Body::from(body)))).await.unwrap();
    if let (Some(asked), Some(run)) = (asked, RUN.as_ref()) {
        run.log.lock().unwrap().add(asked.line(app, &answer).to_string());
    }
    let (parts, body) = answer.into_parts();
    let body = whole(body).await;
    secrets(secrets::of_answer(&parts, &body));
    Response::from_parts(parts, Body::from(body))
}

async fn whole(body: Body) -> Bytes {
    body.collect().await.unwrap().to_bytes()
}
