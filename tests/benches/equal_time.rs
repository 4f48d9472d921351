//! Tests that the response time does not depend on the account. Passwords are hashed and limits are
//! counted as in a deployment. Cases are measured in turns, and their medians may differ by at most
//! three percent. To run it: `cargo bench -p tests --bench equal_time`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use std::time::{Duration, Instant};

use crypto::password::hash::Hasher;
use model::limit::{Limits, Rate, Rule};
use model::user::MAX_WRONG_PASSWORDS;
use serde_json::{Value, json};
use store::user::password::{self, Guess};
use support::TestApp;
use wire::id::UserId;

const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const SEND_RESET: &str = "/api/v1/auth/password/send-reset-code";

/// The allowed difference between the medians.
const MARGIN: f64 = 0.03;

const CASES: [(&str, &str); 4] = [
    ("unknown address", "nobody@example.com"),
    ("account", "ada@example.com"),
    ("closed account", "closed@example.com"),
    ("account without password", "mail@example.com"),
];
const IMPORTED: [(&str, &str); 2] = [("imported, cost 10", "ten@example.com"), ("imported, cost 12", "twelve@example.com")];

/// A service, and the users whose counts of wrong passwords are reset after each round.
struct World {
    app: TestApp,
    open: Vec<UserId>,
}

impl World {
    async fn new(imports: bool) -> Self {
        let wide = Rule::ALL.into_iter().fold(Limits::off(), |limits, rule| limits.with(rule, Some(Rate::new(u32::MAX, 600))));
        let app = TestApp::start_hashing(wide, Hasher::default()).await;
        app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
        let id = |text: &str| UserId::parse(text).expect("an id");
        let mut open = vec![id(&app.sign_up("ada@example.com").await.user_id), id(&app.sign_in_by_mail("mail@example.com").await.user_id)];
        for (cost, (_, email)) in [10, 12].into_iter().zip(IMPORTED).filter(|_| imports) {
            let hash = bcrypt::hash("correct horse battery", cost).expect("a hash");
            let user = json!({ "primary_email": email, "primary_email_auth_enabled": true, "password_hash": hash });
            let answer = app.server().post("/api/v1/users", user).await;
            open.push(id(answer.json()["id"].as_str().expect("a user")));
        }
        let closed = id(&app.sign_up("closed@example.com").await.user_id);
        for _ in 0..MAX_WRONG_PASSWORDS {
            app.app.store.count_wrong_password(app.project_id(), closed, Guess::SignIn).await.expect("counted");
        }
        app.app.store.write(password::close(app.project_id(), closed)).await.expect("closed");
        Self { app, open }
    }

    async fn reopen(&self) {
        let (store, project) = (&self.app.app.store, self.app.project_id());
        for id in &self.open {
            let user = store.user(project, *id).await.expect("read").expect("a user").user;
            store.write(password::reopen(project, *id, user.credential_epoch)).await.expect("written");
        }
    }

    /// Measures the cases in turns. Each round starts with the next case, so that a machine that
    /// warms up or a table that grows affects all cases alike. All cases must get the same response
    /// as the first one. Returns whether the medians are within the margin.
    async fn measure(&self, name: &str, rounds: usize, path: &str, cases: &[(&str, &str)], body: impl Fn(&str) -> Value) -> bool {
        let client = self.app.client();
        let expected = client.post(path, body(cases[0].1)).await;
        let mut kept: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
        for round in 0..rounds {
            for turn in 0..cases.len() {
                let case = (round + turn) % cases.len();
                let body = body(cases[case].1);
                let started = Instant::now();
                let answer = client.post(path, body).await;
                kept[case].push(started.elapsed());
                assert_eq!((answer.status(), answer.text()), (expected.status(), expected.text()));
            }
            self.reopen().await;
        }
        let mut medians = Vec::new();
        for ((label, _), times) in cases.iter().zip(&mut kept) {
            times.sort_unstable();
            let at = |percent: usize| times[(times.len() - 1) * percent / 100];
            println!("{name}, {label}: median {:.2?}, quarters {:.2?} to {:.2?}, of {}", at(50), at(25), at(75), times.len());
            medians.push(at(50).as_secs_f64());
        }
        let (least, most) = medians.iter().fold((f64::MAX, f64::MIN), |(least, most), median| (least.min(*median), most.max(*median)));
        let difference = most / least - 1.0;
        println!("{name}: medians differ by {:.1} %\n", difference * 100.0);
        difference <= MARGIN
    }
}

#[tokio::main]
async fn main() {
    let sign_in = |email: &str| json!({ "email": email, "password": "wrong horse battery" });
    let reset = |email: &str| json!({ "email": email, "callback_url": "http://localhost:3000/reset" });
    let all: Vec<_> = CASES.into_iter().chain(IMPORTED).collect();

    let plain = World::new(false).await;
    let imported = World::new(true).await;
    let alike = [
        plain.measure("wrong password", 100, SIGN_IN, &CASES, sign_in).await,
        imported.measure("wrong password, project with imported hashes", 25, SIGN_IN, &all, sign_in).await,
        imported.measure("send reset code", 500, SEND_RESET, &all, reset).await,
    ];
    assert_eq!(alike, [true; 3], "medians differ by more than three percent");
}
