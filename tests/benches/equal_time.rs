//! What the time of an answer tells about an account: nothing. Passwords cost what they cost in a deployment, and limits count as they do
//! there. The medians of the cases must not differ by more than their quarters do. `cargo bench -p tests --bench equal_time`.
#![expect(clippy::expect_used, reason = "a benchmark ends where something is missing")]

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use shared::crypto::password::Hasher;
use shared::model::limit::{Limits, Rate, Rule};
use support::TestApp;
use tokio::runtime::Runtime;

const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const SEND_RESET: &str = "/api/v1/auth/password/send-reset-code";

/// Ada has a password, whoever signed in by mail has none.
const CASES: [(&str, &str); 3] =
    [("unknown address", "nobody@example.com"), ("account", "ada@example.com"), ("account without password", "mail@example.com")];

async fn service() -> TestApp {
    let wide = Rule::ALL.into_iter().fold(Limits::off(), |limits, rule| limits.with(rule, Some(Rate::new(u32::MAX, 600))));
    let app = TestApp::start_hashing(wide, Hasher::default()).await;
    app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    app.sign_in_by_mail("mail@example.com").await;
    app
}

/// Measures each case in turn within one run, so that a machine that warms up or a table that grows touches all alike; the time of one
/// is kept. All must get the answer of the first.
fn measure(criterion: &mut Criterion, name: &str, samples: usize, path: &str, body: impl Fn(&str) -> Value) {
    let runtime = Runtime::new().expect("a runtime");
    let app = runtime.block_on(service());
    let client = app.client();
    let expected = runtime.block_on(client.post(path, body(CASES[0].1)));
    let mut kept: [Vec<Duration>; CASES.len()] = Default::default();
    let mut group = criterion.benchmark_group(name);
    group.sample_size(samples).measurement_time(Duration::from_secs(10));
    for (case, (label, _)) in CASES.into_iter().enumerate() {
        group.bench_function(label, |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    for (other, (_, email)) in CASES.into_iter().enumerate() {
                        let body = body(email);
                        let started = Instant::now();
                        let answer = runtime.block_on(client.post(path, body));
                        let time = started.elapsed();
                        assert_eq!((answer.status(), answer.text()), (expected.status(), expected.text()));
                        kept[other].push(time);
                        spent += if other == case { time } else { Duration::ZERO };
                    }
                }
                spent
            });
        });
    }
    group.finish();
    for ((label, _), mut times) in CASES.into_iter().zip(kept) {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!("{name}, {label}: median {:?}, quarters {:?} to {:?}, of {}", at(50), at(25), at(75), times.len());
    }
}

fn equal_time(criterion: &mut Criterion) {
    measure(criterion, "wrong password", 60, SIGN_IN, |email| json!({ "email": email, "password": "wrong horse battery" }));
    let callback = "http://localhost:3000/reset";
    measure(criterion, "send reset code", 100, SEND_RESET, |email| json!({ "email": email, "callback_url": callback }));
}

criterion_group!(benches, equal_time);
criterion_main!(benches);
