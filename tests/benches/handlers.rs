//! The cost of operations in this process: through the router, on the in-memory engine. argon2 is
//! measured separately, so that it does not drown out the rest. To run it:
//! `cargo bench -p tests --bench handlers`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use criterion::{Criterion, criterion_group, criterion_main};
use crypto::password::Password;
use crypto::password::hash::Hasher;
use serde_json::json;
use support::{RequestBuilder, TestApp};

use tokio::runtime::Runtime;
use wire::entropy::Entropy;

fn measure(criterion: &mut Criterion, runtime: &Runtime, name: &str, request: impl Fn() -> RequestBuilder) {
    criterion.bench_function(name, |bencher| {
        bencher.to_async(runtime).iter(|| async { assert_eq!(request().send().await.status(), 200) });
    });
}

fn handlers(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let (app, ada, code) = runtime.block_on(async {
        let app = TestApp::start().await;
        app.publish(&gateway::content::sample(Some("https://example.com"))).await;
        let ada = app.sign_up("ada@example.com").await;
        for _ in 0..9 {
            app.sign_in("ada@example.com").await;
        }
        let code = app.sign_in_code("bob@example.com").await;
        (app, ada, code)
    });
    let (client, signed_in) = (app.client(), app.signed_in(&ada));
    let sign_in = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    measure(criterion, &runtime, "list apps", || app.anonymous().request("GET", "/api/v1/apps"));
    measure(criterion, &runtime, "get current user", || signed_in.request("GET", "/api/v1/users/me"));
    measure(criterion, &runtime, "list sessions", || signed_in.request("GET", "/api/v1/auth/sessions?limit=10"));
    measure(criterion, &runtime, "check code", || {
        client.request("POST", "/api/v1/auth/otp/sign-in/check-code").json(&json!({ "code": code }))
    });
    measure(criterion, &runtime, "sign in, without argon2's cost", || {
        client.request("POST", "/api/v1/auth/password/sign-in").json(&sign_in)
    });
}

fn argon2(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let (hasher, entropy, password) = (Hasher::default(), Entropy::system(), Password::from("correct horse battery".to_owned()));
    let hash = runtime.block_on(hasher.hash(&entropy, password.secret()));
    criterion.bench_function("argon2id check", |bencher| {
        bencher.to_async(&runtime).iter(|| hasher.verify(Some(&hash), &password, None));
    });
    criterion.bench_function("argon2id check of nobody", |bencher| {
        bencher.to_async(&runtime).iter(|| hasher.verify(None, &password, None));
    });
}

criterion_group!(benches, handlers, argon2);
criterion_main!(benches);
