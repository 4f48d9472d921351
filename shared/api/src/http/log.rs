//! The log of a function: lines of JSON, indexed by `CloudWatch`. Each response has one line,
//! including its metrics.
//!
//! The line of a response is in Embedded Metric Format (`CloudWatch`'s specification, version 0),
//! so metrics need neither an API call nor an agent. The line contains the operation's name instead
//! of the path. The request's method and the project's id are in the line, but no other data of the
//! request: no IP address, header, body or query. A deployment without `GATELET_STAGE` writes the
//! same line without metrics.
//!
//! | metric | unit | dimensions |
//! |---|---|---|
//! | `Requests` | count | `Stage`, `Operation` |
//! | `Duration` | milliseconds | `Stage`, `Operation` |
//! | `ClientErrors`, `ServerErrors` | count; left out if zero, because AWS charges for each hour with a value of a metric | `Stage`, `Operation` |
//! | `OldestDueMailAge` | seconds | `Stage` |
//! | `SuspectTrails` | count; left out if zero | `Stage` |

use std::io::Write as _;
use std::panic;
use std::time::{Duration, Instant};

use axum::response::Response;
use errors::AnsweredCode;
use flows::App;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use wire::environment::variable;
use wire::id::ProjectId;

use crate::http::request_id::RequestId;
use crate::product::header_family;

/// The namespace of all metrics.
const NAMESPACE: &str = "Gatelet";

/// The most verbose level that is ever logged: at more verbose levels, libraries log the data they
/// send.
pub const MAX_LEVEL: LevelFilter = LevelFilter::INFO;

/// A subscriber that writes events as lines of JSON. Lambda adds the time to each line.
pub fn lines<W>(level: LevelFilter, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false).with_target(false).without_time();
    lines.with_max_level(level).with_writer(writer).finish()
}

/// Starts logging to standard output, at the level in Lambda's setting `AWS_LAMBDA_LOG_LEVEL`:
/// `error`, `warn` or `info` (the default).
pub fn init() {
    let level = variable("AWS_LAMBDA_LOG_LEVEL").and_then(|level| level.parse().ok()).unwrap_or(MAX_LEVEL).min(MAX_LEVEL);
    // Setting the subscriber fails only if there already is one, which is never the case in a
    // function.
    let _ = tracing::subscriber::set_global_default(lines(level, std::io::stdout));
    // Only the location of a panic is logged, because the panic's message may contain data of the
    // request.
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a function panicked");
    }));
}

/// What is known about a request before the response.
pub struct RequestFacts {
    operation: &'static str,
    since: Instant,
    method: http::Method,
    project: Option<ProjectId>,
    /// The id from API Gateway, unless the response contains another id.
    request_id: Option<RequestId>,
    /// The id of the invocation, as in the lines that Lambda itself logs.
    invocation: Option<String>,
}

impl RequestFacts {
    /// Starts measuring the duration of a request. `invocation` is the id that Lambda itself logs.
    pub fn new(
        operation: &'static str,
        method: &http::Method,
        headers: &HeaderMap,
        request_id: Option<RequestId>,
        invocation: Option<String>,
    ) -> Self {
        Self { operation, since: Instant::now(), method: method.clone(), project: project(headers), request_id, invocation }
    }

    /// Writes the log line of the response.
    pub(crate) fn answered(self, app: &App, response: &Response) {
        write(&self.line(app, response));
    }

    /// The log line of the response.
    pub fn line(mut self, app: &App, response: &Response) -> Value {
        self.request_id = response.extensions().get().cloned().or(self.request_id);
        self.line_of(app, response.status(), response.extensions().get::<AnsweredCode>().map(|code| code.0.name()))
    }

    fn line_of(self, app: &App, status: StatusCode, code: Option<&'static str>) -> Value {
        let millis = (self.since.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let mut metrics = vec![("Requests", "Count", json!(1)), ("Duration", "Milliseconds", json!(millis))];
        if status.is_client_error() {
            metrics.push(("ClientErrors", "Count", json!(1)));
        } else if status.is_server_error() {
            metrics.push(("ServerErrors", "Count", json!(1)));
        }
        let mut line = metrics_of(app, Some(self.operation), &metrics);
        let more = json!({
            "level": if status.is_server_error() { "ERROR" } else { "INFO" },
            "message": "answered",
            "operation": self.operation,
            "method": self.method.as_str(),
            "status": status.as_u16(),
            "duration_ms": millis,
        });
        line.extend(more.as_object().cloned().unwrap_or_default());
        let optional = [
            ("project", self.project.map(|id| id.to_string())),
            ("request_id", self.request_id.map(|id| id.as_str().to_owned())),
            ("invocation", self.invocation),
            ("code", code.map(str::to_owned)),
        ];
        line.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        Value::Object(line)
    }
}

/// The id of the project named in a request, even if access to the project was not proved; a
/// malformed id is not logged.
fn project(headers: &HeaderMap) -> Option<ProjectId> {
    header_family::header(headers, "project-id").ok().flatten().and_then(|id| ProjectId::parse(id).ok())
}

/// Writes the metric for the age of the oldest due email; the age is zero if no email is due.
/// Writes nothing if the deployment does not have a stage.
pub fn oldest_due_mail(app: &App, age: Duration) {
    if app.settings.stage.is_some() {
        write(&Value::Object(metrics_of(app, None, &[("OldestDueMailAge", "Seconds", json!(age.as_secs()))])));
    }
}

/// Writes the metric for a sign that someone changed an audit trail. Writes nothing if the
/// deployment does not have a stage.
pub fn suspect_trail(app: &App) {
    if app.settings.stage.is_some() {
        write(&Value::Object(suspect_trail_line(app)));
    }
}

fn suspect_trail_line(app: &App) -> Map<String, Value> {
    metrics_of(app, None, &[("SuspectTrails", "Count", json!(1))])
}

/// The definitions and values of a line's metrics; empty if the deployment does not have a stage.
fn metrics_of(app: &App, operation: Option<&'static str>, metrics: &[(&str, &str, Value)]) -> Map<String, Value> {
    let mut line = Map::new();
    let Some(stage) = &app.settings.stage else { return line };
    let mut dimensions = vec!["Stage"];
    line.insert("Stage".to_owned(), stage.as_str().into());
    if let Some(operation) = operation {
        dimensions.push("Operation");
        line.insert("Operation".to_owned(), operation.into());
    }
    let definitions: Vec<Value> = metrics.iter().map(|(name, unit, _)| json!({ "Name": name, "Unit": unit })).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": definitions });
    line.insert("_aws".to_owned(), json!({ "Timestamp": app.clock.now().as_millisecond(), "CloudWatchMetrics": [directive] }));
    line.extend(metrics.iter().map(|(name, _, value)| ((*name).to_owned(), value.clone())));
    line
}

/// Writes a line in one piece, so that lines do not mix. Errors are ignored: a function without a
/// log still works.
fn write(line: &Value) {
    let _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use aws::Endpoint;
    use aws::connector::AwsHttp;
    use crypto::password::hash::Hasher;
    use model::limit::Limits;
    use settings::Settings;
    use store::Store;
    use wire::clock::Clock;
    use wire::entropy::Entropy;

    pub(crate) fn app(stage: Option<&str>) -> App {
        app_at("https://api.test", stage)
    }

    pub(crate) fn app_at(api_url: &str, stage: Option<&str>) -> App {
        with_settings(settings(api_url, stage))
    }

    /// The app of a deployment whose distribution sends `secret`.
    pub(crate) fn app_behind(secret: &str, allows_direct: bool) -> App {
        let origin_secret = Some(secret.to_owned().into());
        with_settings(Settings { origin_secret, allows_direct, ..settings("https://api.test", None) })
    }

    fn settings(api_url: &str, stage: Option<&str>) -> Settings {
        Settings {
            api_url: api_url.to_owned(),
            own_pages: model::project::own_pages::OwnPages::new(api_url, None).expect("pages"),
            site_url: "https://site.test".to_owned(),
            secret: "a deployment secret of some length".to_owned().into(),
            origin_secret: None,
            allows_direct: false,
            access_token_life: Duration::from_secs(600),
            project_cache_seconds: 0,
            limits: Limits::off(),
            stage: stage.map(str::to_owned),
            senders: model::setting::senders::Senders::new("noreply@api.test".to_owned(), "").expect("a list"),
            trust_viewer_headers: false,
            development: false,
            allow_private_issuers: false,
            mail_relays: settings::mail_relays::MailRelays::default(),
            provider_stand_in: None,
            shared_clients: model::provider::shared::SharedClients::default(),
            security_contact: None,
            images_bucket: None,
            mails_per_hour: None,
        }
    }

    fn with_settings(settings: Settings) -> App {
        let store = Store::at(Endpoint::embedded(), AwsHttp::from_env().expect("a client"), "table", Entropy::system());
        App::new(settings, store, Clock::new(|| jiff::Timestamp::UNIX_EPOCH), Entropy::system(), Hasher::new(64, 1))
    }

    fn line(stage: Option<&str>, status: u16, code: Option<&'static str>) -> Value {
        let mut headers = HeaderMap::new();
        headers.insert("x-stack-project-id", http::HeaderValue::from_static("6fbbf22e-f4b2-4c6e-95a1-beab6fa41063"));
        headers.insert("x-stack-access-token", http::HeaderValue::from_static("a-token"));
        let request_id = Some(RequestId::new("JKJaXmPLvHcESHA=".to_owned()));
        let asked = RequestFacts::new("users-me-read", &http::Method::GET, &headers, request_id, Some("8476a536".to_owned()));
        asked.line_of(&app(stage), StatusCode::from_u16(status).expect("a status"), code)
    }

    #[test]
    fn a_line_has_the_request_and_the_outcome_but_no_secret() {
        let line = line(None, 401, Some("ACCESS_TOKEN_EXPIRED"));
        let expected = json!({
            "level": "INFO", "message": "answered", "operation": "users-me-read", "method": "GET", "status": 401,
            "code": "ACCESS_TOKEN_EXPIRED", "request_id": "JKJaXmPLvHcESHA=", "invocation": "8476a536", "project": "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063",
            "duration_ms": line["duration_ms"],
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn a_line_with_a_stage_has_the_metrics_that_it_defines() {
        for (status, more) in [(200, None), (404, Some("ClientErrors")), (503, Some("ServerErrors"))] {
            let line = line(Some("prod"), status, None);
            let directive = &line["_aws"]["CloudWatchMetrics"][0];
            assert_eq!((&directive["Namespace"], &directive["Dimensions"]), (&json!("Gatelet"), &json!([["Stage", "Operation"]])));
            let names: Vec<&str> =
                directive["Metrics"].as_array().into_iter().flatten().filter_map(|metric| metric["Name"].as_str()).collect();
            assert_eq!(names, ["Requests", "Duration"].into_iter().chain(more).collect::<Vec<_>>());
            assert!(names.iter().all(|name| line[*name].is_number()), "{line}");
            assert_eq!(
                (&line["Stage"], &line["Operation"], &line["_aws"]["Timestamp"]),
                (&json!("prod"), &json!("users-me-read"), &json!(0))
            );
        }
    }

    #[test]
    fn a_suspect_trail_is_counted_for_the_alarm_of_the_stage() {
        let line = suspect_trail_line(&app(Some("prod")));
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!((&directive["Namespace"], &directive["Dimensions"]), (&json!("Gatelet"), &json!([["Stage"]])));
        assert_eq!((&directive["Metrics"][0]["Name"], &line["SuspectTrails"]), (&json!("SuspectTrails"), &json!(1)));
        assert!(suspect_trail_line(&app(None)).is_empty());
    }

    #[test]
    fn an_untrusted_text_cannot_break_out_of_its_line() {
        #[derive(Clone, Default)]
        struct LogBuffer(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
        impl std::io::Write for LogBuffer {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().expect("nobody panicked").write(bytes)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let hostile = "x\r\n{\"level\":\"INFO\",\"message\":\"answered\"}\u{1b}[2K\u{2028}\"";
        let kept = LogBuffer::default();
        let writer = kept.clone();
        tracing::subscriber::with_default(lines(MAX_LEVEL, move || writer.clone()), || {
            tracing::warn!(fault = %hostile, "an issuer said {hostile}");
        });
        let log = String::from_utf8(kept.0.lock().expect("nobody panicked").clone()).expect("text");
        let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 1, "{log}");
        assert_eq!((&lines[0]["level"], &lines[0]["fault"]), (&json!("WARN"), &json!(hostile)));
        assert!(!log.contains('\u{1b}'), "a terminal would obey it");
    }

    #[test]
    fn a_malformed_project_id_stays_out_of_the_log() {
        let headers = HeaderMap::from_iter([(http::HeaderName::from_static("x-stack-project-id"), http::HeaderValue::from_static("<b>"))]);
        assert_eq!(project(&headers), None);
    }
}
