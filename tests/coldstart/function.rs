//! A process of a function, from spawn to exit.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gateway::engine::TABLE;
use serde_json::Value;
use support::TestApp;
use tokio::time::timeout;

use crate::runtime_api::{FunctionStep, RuntimeApi};
use crate::table::Endpoint;

/// The base URL of the public content.
const SITE_URL: &str = "https://docs.example.com";
/// A function that takes longer than this counts as hung.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The results of a run. CPU time is the user and kernel time of all threads.
pub(crate) struct Measurement {
    pub(crate) init: Duration,
    pub(crate) first: Duration,
    pub(crate) init_cpu: Duration,
    pub(crate) first_cpu: Duration,
    pub(crate) warm: Vec<Duration>,
    /// The time that the table took for each warm response.
    pub(crate) table: Vec<Duration>,
    /// The total CPU time of all warm responses.
    pub(crate) warm_cpu: Duration,
    /// Peak resident memory, in bytes.
    pub(crate) memory: u64,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a function, sends it events one after another, and stops it. The first event must
/// succeed. Later events may be rejected, because their change has already been made.
pub(crate) async fn measure(binary: &Path, endpoint: &Endpoint, app: &TestApp, events: Vec<String>) -> Result<Measurement, String> {
    let mut api = RuntimeApi::start().await;
    let mut command = Command::new(binary);
    command.env_clear().envs(environment(endpoint, app, &api.address)).stdout(Stdio::null());
    let spawned = Instant::now();
    let mut process = Process(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", binary.display())));
    let init = asked(&mut api, &mut process).await - spawned;
    let init_cpu = cpu(&process);
    let (mut answers, mut table) = (Vec::new(), Vec::new());
    let mut first_cpu = Duration::ZERO;
    for event in events {
        let is_first = answers.is_empty();
        let table_before = endpoint.time();
        api.give(event);
        let (took, body) = answered(&mut api).await;
        asked(&mut api, &mut process).await;
        if is_first {
            if !succeeded(&body) {
                return Err(String::from_utf8_lossy(&body).into_owned());
            }
            first_cpu = cpu(&process).saturating_sub(init_cpu);
        }
        answers.push(took);
        table.push(endpoint.time().saturating_sub(table_before));
    }
    let warm_cpu = cpu(&process).saturating_sub(init_cpu + first_cpu);
    Ok(Measurement {
        init,
        first: answers[0],
        init_cpu,
        first_cpu,
        warm: answers.split_off(1),
        table: table.split_off(1),
        warm_cpu,
        memory: memory(&process),
    })
}

fn environment(endpoint: &Endpoint, app: &TestApp, runtime_api: &str) -> Vec<(&'static str, String)> {
    use secrecy::ExposeSecret as _;
    let settings = &app.app.settings;
    let mut environment = vec![
        ("AWS_LAMBDA_RUNTIME_API", runtime_api.to_owned()),
        ("AWS_LAMBDA_FUNCTION_NAME", "measured".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256".to_owned()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "measured".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "measured".to_owned()),
        ("AWS_SESSION_TOKEN", "measured".to_owned()),
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoint.url.clone()),
        ("GATELET_TABLE", TABLE.to_owned()),
        ("GATELET_API_URL", settings.api_url.clone()),
        // On a local site, the endpoints for agents would reject requests for all other hosts.
        ("GATELET_SITE_URL", SITE_URL.to_owned()),
        ("GATELET_STAGE", "measured".to_owned()),
    ];
    environment.extend(settings.secret.current().map(|secret| ("GATELET_SECRET", secret.expose_secret().to_owned())));
    environment.extend(endpoint.roots.iter().map(|roots| ("SSL_CERT_FILE", roots.display().to_string())));
    environment
}

async fn asked(api: &mut RuntimeApi, process: &mut Process) -> Instant {
    let asked = match timeout(TIMEOUT, api.done.recv()).await {
        Ok(Some(FunctionStep::Asks(asked))) => asked,
        Ok(Some(FunctionStep::Fails(error))) => panic!("the function fails: {}", String::from_utf8_lossy(&error)),
        other => panic!("the function does not ask for an event: {other:?}, {:?}", process.0.try_wait()),
    };
    // The kernel updates the CPU time of a thread when the thread leaves the processor, so wait a
    // little before reading it.
    tokio::time::sleep(Duration::from_millis(2)).await;
    asked
}

async fn answered(api: &mut RuntimeApi) -> (Duration, axum::body::Bytes) {
    match timeout(TIMEOUT, api.done.recv()).await {
        Ok(Some(FunctionStep::Answers { given, answered, body })) => (answered - given, body),
        Ok(Some(FunctionStep::Fails(error))) => panic!("the function fails: {}", String::from_utf8_lossy(&error)),
        other => panic!("the function does not answer: {other:?}"),
    }
}

/// Whether the event succeeded or got a 405, which is the response of `edge-fallback` to its event.
fn succeeded(body: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(body).unwrap();
    answer["statusCode"].as_u64().is_some_and(|status| status < 400) || answer["statusCode"] == 405
}

/// The CPU time of the process so far, from the scheduler's statistics of each thread ("Scheduler
/// Statistics" in Linux's documentation).
fn cpu(process: &Process) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.0.id())).unwrap();
    let nanoseconds = threads.map(|thread| {
        let text = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn memory(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.0.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
