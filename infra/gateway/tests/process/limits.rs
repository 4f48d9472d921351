//! Rate limits are counted in the table, so a gateway and another process together allow only as
//! many requests as a single process. The other process is this test, which runs the router of a
//! Lambda.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::time::Duration;

use api::http::client::PeerAddress;
use auth_functions::password_sign_in::{ROUTE, handle};
use aws::connector::AwsHttp;
use aws::{Credentials, Endpoint, Service};
use axum::Router;
use axum::body::Body;
use crypto::password::hash::Hasher;
use flows::App;
use futures_util::future::join_all;
use http::Request;
use model::limit::{Limits, Rate, Rule};
use reqwest::Method;
use serde_json::{Value, json};
use settings::Settings;
use store::Store;
use tower::ServiceExt as _;
use wire::clock::Clock;
use wire::entropy::Entropy;

use crate::support::{Gateway, end_of, fails, gateway, run, succeeds};

/// The number of requests that each process gets.
const REQUESTS: usize = 50;
/// The number of requests that run at the same time. If a busy machine responded to a call to the
/// table only after the timeout, the repeated call would also count.
const AT_ONCE: usize = 5;
/// The window of the limit, in seconds. If a window ended during the test, more requests would be
/// allowed, but a day is unlikely to end then.
const DAY: u32 = 86_400;

fn body(number: usize) -> Value {
    json!({ "email": format!("nobody{number}@example.com"), "password": "correct horse battery" })
}

/// The router of a function, on the gateway's table.
fn function(first: &Gateway) -> Router {
    let settings = Settings {
        mails_per_hour: None,
        api_url: "http://localhost:9000".to_owned(),
        own_pages: settings::own_pages("http://localhost:9000").unwrap(),
        site_url: "http://localhost:9000".to_owned(),
        secret: "a deployment secret for tests alone".to_owned().into(),
        origin_secret: None,
        allows_direct: false,
        trust_viewer_headers: false,
        access_token_life: Duration::from_secs(600),
        project_cache_seconds: 0,
        limits: Limits::standard().with(Rule::SignIn, Some(Rate::new(60, DAY))),
        stage: None,
        senders: settings::senders("http://localhost:9000", "*").unwrap(),
        development: true,
        allow_private_issuers: false,
        mail_relays: settings::mail_relays::MailRelays::default(),
        provider_stand_in: None,
        shared_clients: model::provider::shared::SharedClients::default(),
        security_contact: None,
        images_bucket: None,
    };
    let credentials = Credentials::new(first.line("AWS key ID"), first.line("AWS secret key"), None, None, "test");
    let endpoint = Endpoint::new(Service::DynamoDb, &first.line("DynamoDB"), "local", credentials);
    let store = Store::at(endpoint, AwsHttp::from_env().unwrap(), gateway::engine::TABLE, Entropy::system());
    let app = App::new(settings, store, Clock::system(), Entropy::system(), Hasher::new(64, 1));
    api::http::router(&app, ROUTE, handle).with_state(app)
}

async fn sign_in(function: Router, project: String, number: usize) -> u16 {
    let mut request = Request::post(ROUTE.path)
        .header("x-stack-project-id", project)
        .header("x-stack-access-type", "client")
        .header("content-type", "application/json")
        .body(Body::from(body(number).to_string()))
        .unwrap();
    request.extensions_mut().insert(PeerAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    function.oneshot(request).await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_table_share_the_rate_limits() {
    let first = ["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0", "--limits", "standard"];
    let first = Gateway::spawn(gateway(&first).env("GATELET_LIMIT_SIGN_IN", format!("60/{DAY}")));
    let (project, second) = (first.line("Project"), function(&first));
    let mut statuses = Vec::new();
    for number in (0..REQUESTS).step_by(AT_ONCE) {
        let some = number..number + AT_ONCE;
        let of_second = some.clone().map(|number| tokio::spawn(sign_in(second.clone(), project.clone(), number)));
        let of_second: Vec<_> = of_second.collect();
        let of_first = some.map(|number| first.client(&project, Method::POST, ROUTE.path, Some(body(REQUESTS + number))));
        statuses.extend(join_all(of_first).await.into_iter().map(|(status, _)| status));
        statuses.extend(join_all(of_second).await.into_iter().map(Result::unwrap));
    }
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    // Requests within the limit get the status 400, because no account has the email address.
    assert_eq!((count(400), count(429)), (60, 2 * REQUESTS - 60), "{statuses:?}");
}

/// Sends 25 sign-ups with an empty body; returns how many of them the limit allows. A deployment
/// allows 20.
async fn sign_ups(command: &mut Command) -> usize {
    let gateway = Gateway::spawn(command);
    let project = gateway.line("Project");
    let mut let_through = 0;
    for _ in 0..25 {
        let (status, _) = gateway.client(&project, Method::POST, "/api/v1/auth/password/sign-up", Some(json!({}))).await;
        let_through += usize::from(status == 400);
    }
    let_through
}

#[tokio::test]
async fn a_gateway_has_generous_limits_by_default() {
    let start = ["--memory", "--listen", "127.0.0.1:0"];
    assert_eq!(sign_ups(&mut gateway(&start)).await, 25);
    assert_eq!(sign_ups(gateway(&start).env("GATELET_LIMITS", "standard")).await, 20);
    assert_eq!(sign_ups(gateway(&start).env("GATELET_LIMIT_SIGN_UP", "3/600")).await, 3);
    assert_eq!(sign_ups(gateway(&start).env("GATELET_LIMIT_SIGN_UP", "3/600").env("GATELET_LIMITS", "off")).await, 3);
}

#[test]
fn an_invalid_limit_is_rejected_at_startup() {
    let start = ["--memory", "--listen", "127.0.0.1:0"];
    assert!(fails(&end_of(gateway(&start).env("GATELET_LIMITS", "some"))).contains("GATELET_LIMITS"));
    assert!(fails(&end_of(gateway(&start).env("GATELET_LIMIT_CODE", "many"))).contains("GATELET_LIMIT_CODE"));
}

#[test]
fn the_help_lists_the_limits() {
    let help = succeeds(&run(&["serve", "--help"]));
    for word in ["--limits", "standard", "generous", "off", "GATELET_LIMITS", "GATELET_LIMIT_SIGN_IN"] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
}
