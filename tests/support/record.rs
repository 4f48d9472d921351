//! The record of a complete run of the API tests. The record contains the IAM actions that
//! operations used on the table, the log, and the secrets that were sent and received. The test
//! program `whole` checks the record.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, Once};

use api::http::Route;
use api::http::log::{self, RequestFacts};
use axum::Router;
use axum::body::{Body, Bytes};
use flows::App;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use infra::{Operation, operations};
use tower::ServiceExt as _;

use crate::roles;
use crate::secrets::{self, Secret};

/// The test program whose run is recorded.
const RECORDED: &str = "api";

static RUN: LazyLock<Option<Run>> = LazyLock::new(|| {
    let program = std::env::current_exe().unwrap();
    let is_recorded =
        program.file_name().unwrap().to_string_lossy().starts_with(&format!("{RECORDED}-")) && is_whole(std::env::args().skip(1));
    is_recorded.then(|| {
        let folder = folder();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("of"), identity(&program)).unwrap();
        Run {
            actions: Mutex::new(Lines::open(&folder, "actions")),
            secrets: Mutex::new(Lines::open(&folder, "secrets")),
            log: Mutex::new(Lines::open(&folder, "log")),
        }
    })
});

/// The folder for files that tests leave for other tests, inside the target folder.
pub(crate) fn scratch() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("tmp")
}

pub fn folder() -> PathBuf {
    scratch().join("record")
}

/// Identifies the build of the test program that made a record.
fn identity(program: &Path) -> String {
    let compiled = program.metadata().and_then(|it| it.modified()).unwrap();
    format!("{}\n{}", program.display(), jiff::Timestamp::try_from(compiled).unwrap())
}

/// Whether a record of the current build of the tests exists.
pub fn is_current() -> bool {
    let of = std::fs::read_to_string(folder().join("of")).unwrap_or_default();
    let program = Path::new(of.lines().next().unwrap_or_default());
    program.exists() && of == identity(program)
}

/// Whether a test program with these arguments runs all of its tests.
fn is_whole(mut arguments: impl Iterator<Item = String>) -> bool {
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--test-threads" | "--format" | "--color" | "--logfile" | "-Z" => _ = arguments.next(),
            "--list" | "--ignored" | "--exact" => return false,
            other if other.starts_with("--skip") || !other.starts_with('-') => return false,
            _ => {}
        }
    }
    true
}

/// Whether this test sends many absurd requests, which show nothing about the normal use of an
/// operation and are therefore not recorded.
fn is_left_out() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("bad_input::sweep::"))
}

/// The routes by method and by number of path segments, because searching all routes takes longer
/// than most requests. Routes with fewer parameters come first, as in a router.
static ROUTES: LazyLock<HashMap<(&str, usize), Vec<Route>>> = LazyLock::new(|| {
    let mut routes = HashMap::<_, Vec<Route>>::new();
    for Operation { route, .. } in operations::all() {
        routes.entry((route.verb.name(), segments(route.path))).or_default().push(route);
    }
    for alike in routes.values_mut() {
        alike.sort_by_key(|route| route.path.matches('{').count());
    }
    routes
});

fn segments(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

/// The name of the operation that a request calls. `None` if the request calls no operation.
fn operation_of(request: &Request<Body>) -> Option<&'static str> {
    let path = request.uri().path().replacen("/api/latest/", "/api/v1/", 1);
    let verb = if request.method() == "HEAD" { "GET" } else { request.method().as_str() };
    ROUTES.get(&(verb, segments(&path)))?.iter().find(|route| route.matches(&path)).map(|route| route.name)
}

struct Run {
    actions: Mutex<Lines>,
    secrets: Mutex<Lines>,
    log: Mutex<Lines>,
}

/// A file where no line occurs twice.
struct Lines {
    file: File,
    known: HashSet<String>,
}

impl Lines {
    fn open(folder: &Path, name: &str) -> Self {
        Self { file: File::create(folder.join(name)).unwrap(), known: HashSet::new() }
    }

    fn add(&mut self, line: String) {
        if !self.known.contains(&line) {
            self.file.write_all(format!("{line}\n").as_bytes()).unwrap();
            self.known.insert(line);
        }
    }
}

/// Writes the log of this process to a file, in the format of the Lambdas and at the most verbose
/// level.
struct Log;

impl std::io::Write for Log {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Some(run) = RUN.as_ref().filter(|_| !is_left_out()) {
            run.log.lock().unwrap().add(String::from_utf8_lossy(line).trim_end().to_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Redirects the log of this process to the record, if the run is recorded.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    if RUN.is_some() {
        STARTED.call_once(|| tracing::subscriber::set_global_default(log::lines(log::MAX_LEVEL, || Log)).unwrap());
    }
}

/// Records an IAM action that an operation used.
pub(crate) fn action(operation: &str, action: &str) {
    if let Some(run) = RUN.as_ref() {
        run.actions.lock().unwrap().add(format!("{operation} {action}"));
    }
}

/// Records the secrets in a request or response.
pub(crate) fn secrets(found: impl IntoIterator<Item = Secret>) {
    if let Some(run) = RUN.as_ref() {
        let mut lines = run.secrets.lock().unwrap();
        for secret in found {
            lines.add(secret.line());
        }
    }
}

/// Whether this test is recorded.
pub(crate) fn is_on() -> bool {
    RUN.is_some() && !is_left_out()
}

/// Answers a request. In a recorded test, also records the request under the operation that it
/// calls.
pub(crate) async fn answer(app: &App, router: Router, request: Request<Body>) -> Response<Body> {
    if !is_on() {
        return router.oneshot(request).await.unwrap();
    }
    let operation = operation_of(&request);
    let asked = operation.map(|name| RequestFacts::new(name, request.method(), request.headers(), None, None));

    let (parts, body) = request.into_parts();
    let body = whole(body).await;
    secrets(secrets::from_request(&parts, &body));
    let answer = roles::within(operation, router.oneshot(Request::from_parts(parts, Body::from(body)))).await.unwrap();
    if let (Some(asked), Some(run)) = (asked, RUN.as_ref()) {
        run.log.lock().unwrap().add(asked.line(app, &answer).to_string());
    }
    let (parts, body) = answer.into_parts();
    let body = whole(body).await;
    secrets(secrets::from_answer(&parts, &body));
    Response::from_parts(parts, Body::from(body))
}

async fn whole(body: Body) -> Bytes {
    body.collect().await.unwrap().to_bytes()
}
