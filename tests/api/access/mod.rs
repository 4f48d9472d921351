//! Access, with tests about authentication and about the parts that all responses share.
//! Authentication performs its checks in the same order for every operation.

mod admin_tokens;
mod answers;
mod families;
mod keys;
mod remembered;
mod tokens;

use secrecy::ExposeSecret as _;
use serde_json::json;
use support::{Answer, Caller, TestApp};

use crate::stored;

const UNKNOWN: &str = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";
/// One operation for each access type.
const CLIENT: &str = "/api/v1/users/me";
const SERVER: &str = "/api/v1/emails/outbox";
const ADMIN: &str = "/api/v1/internal/projects/current";

/// The headers that determine a request's access, without the prefix of a header family.
const HEADERS: [&str; 11] = [
    "project-id",
    "access-type",
    "publishable-client-key",
    "secret-server-key",
    "super-secret-admin-key",
    "admin-access-token",
    "access-token",
    "branch-id",
    "allow-anonymous-user",
    "allow-restricted-user",
    "development-override-key",
];

/// A request into which faults can be introduced.
#[derive(Clone)]
struct FaultyRequest {
    method: &'static str,
    caller: Caller,
    body: &'static str,
}

impl FaultyRequest {
    /// A correct request with every key, sent as an administrator to an operation with a body.
    fn good(app: &TestApp) -> Self {
        let caller = app.admin().with("x-stack-publishable-client-key", app.keys.client.expose_secret());
        let caller = caller.with("x-stack-secret-server-key", app.keys.server.expose_secret());
        Self { method: "PATCH", caller, body: "{}" }
    }

    fn with(self, name: &str, value: &str) -> Self {
        Self { caller: self.caller.with(name, value), ..self }
    }

    fn without(self, name: &str) -> Self {
        Self { caller: self.caller.without(name), ..self }
    }

    async fn send(&self) -> Answer {
        self.caller.request(self.method, ADMIN).header("content-type", "application/json").body(self.body).send().await
    }
}

/// A way to break a request, and the error that it causes.
struct Step {
    spoil: fn(FaultyRequest) -> FaultyRequest,
    status: u16,
    code: &'static str,
}

/// The checks in their documented order. Separate tests cover insufficient access types, and tokens
/// of anonymous and restricted users.
const STEPS: [Step; 13] = [
    Step { spoil: |sent| FaultyRequest { method: "PUT", ..sent }, status: 405, code: "METHOD_NOT_ALLOWED" },
    Step { spoil: |sent| FaultyRequest { body: "{", ..sent }, status: 400, code: "BODY_PARSING_ERROR" },
    Step { spoil: |sent| sent.without("x-stack-access-type"), status: 400, code: "PROJECT_KEY_WITHOUT_ACCESS_TYPE" },
    Step { spoil: |sent| sent.with("x-stack-access-type", "root"), status: 400, code: "INVALID_ACCESS_TYPE" },
    Step { spoil: |sent| sent.without("x-stack-project-id"), status: 400, code: "ACCESS_TYPE_WITHOUT_PROJECT_ID" },
    Step { spoil: |sent| sent.with("x-stack-access-token", "no.token.this"), status: 401, code: "UNPARSABLE_ACCESS_TOKEN" },
    Step { spoil: |sent| sent.with("x-stack-project-id", "nothing"), status: 400, code: "CURRENT_PROJECT_NOT_FOUND" },
    Step { spoil: |sent| sent.with("x-stack-project-id", UNKNOWN), status: 400, code: "CURRENT_PROJECT_NOT_FOUND" },
    Step { spoil: |sent| sent.with("x-stack-development-override-key", "x"), status: 401, code: "OVERRIDE_KEY_NOT_SUPPORTED" },
    Step { spoil: |sent| sent.with("x-stack-admin-access-token", "no.token.this"), status: 401, code: "UNPARSABLE_ADMIN_ACCESS_TOKEN" },
    Step { spoil: |sent| sent.with("x-stack-super-secret-admin-key", "sak_wrong"), status: 401, code: "INVALID_SUPER_SECRET_ADMIN_KEY" },
    Step { spoil: |sent| sent.with("x-stack-branch-id", "other"), status: 400, code: "BRANCH_DOES_NOT_EXIST" },
    Step { spoil: |sent| FaultyRequest { body: r#"{"nonsense":1}"#, ..sent }, status: 400, code: "SCHEMA_ERROR" },
];

#[tokio::test]
async fn each_authentication_failure_has_its_own_error() {
    let app = TestApp::start().await;
    assert_eq!(FaultyRequest::good(&app).send().await.status(), 200);
    for step in &STEPS {
        let answer = (step.spoil)(FaultyRequest::good(&app)).send().await;
        assert_eq!((answer.status(), answer.code().as_str()), (step.status, step.code));
    }
}

#[tokio::test]
async fn of_two_failures_the_first_is_reported() {
    let app = TestApp::start().await;
    for (index, first) in STEPS.iter().enumerate() {
        for second in &STEPS[index + 1..] {
            // The fault that is checked first is applied last, so that it remains if both faults
            // change the same part of the request.
            let answer = (first.spoil)((second.spoil)(FaultyRequest::good(&app))).send().await;
            assert_eq!((answer.status(), answer.code().as_str()), (first.status, first.code), "beside {}", second.code);
        }
    }
}

#[tokio::test]
async fn the_access_type_is_checked_after_the_branch_and_before_the_schema() {
    let app = TestApp::start().await;
    for level in ["client", "server"] {
        let low = FaultyRequest::good(&app).with("x-stack-access-type", level);
        for body in ["{}", r#"{"nonsense":1}"#, "[]", ""] {
            let answer = FaultyRequest { body, ..low.clone() }.send().await;
            assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
            let details = json!({ "actual_access_type": level, "allowed_access_types": ["admin"] });
            assert_eq!(answer.json()["details"], details);
        }
        for step in STEPS.iter().filter(|step| !["SCHEMA_ERROR", "INVALID_SUPER_SECRET_ADMIN_KEY"].contains(&step.code)) {
            assert_eq!((step.spoil)(low.clone()).send().await.code(), step.code);
        }
    }
    let answer = app.client().get(SERVER).await;
    let details = json!({ "actual_access_type": "client", "allowed_access_types": ["server", "admin"] });
    assert_eq!((answer.status(), &answer.json()["details"]), (403, &details));
}

#[tokio::test]
async fn without_access_headers_an_access_type_is_required() {
    let app = TestApp::start().await;
    for caller in [app.anonymous(), app.anonymous().with("x-stack-project-id", UNKNOWN), app.anonymous().with("x-stack-access-token", "x")]
    {
        for path in [CLIENT, SERVER, ADMIN] {
            let answer = caller.get(path).await;
            assert_eq!((answer.status(), answer.code().as_str()), (401, "ACCESS_TYPE_REQUIRED"));
        }
    }
    for key in ["publishable-client-key", "secret-server-key", "super-secret-admin-key", "admin-access-token"] {
        let answer = app.anonymous().with(&format!("x-stack-{key}"), "x").get(CLIENT).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "PROJECT_KEY_WITHOUT_ACCESS_TYPE"), "{key}");
    }
    let answer = app.anonymous().with("x-stack-access-type", "server").get(CLIENT).await;
    assert_eq!(
        (answer.code().as_str(), &answer.json()["details"]),
        ("ACCESS_TYPE_WITHOUT_PROJECT_ID", &json!({ "request_type": "server" }))
    );
}

#[tokio::test]
async fn restricted_users_are_rejected_before_the_key_is_checked() {
    let app = TestApp::start().await;
    let visitor = stored::anonymous_user(&app).await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let restricted = app.sign_up("ada@example.com").await;
    let later = [
        "INVALID_SUPER_SECRET_ADMIN_KEY",
        "UNPARSABLE_ADMIN_ACCESS_TOKEN",
        "OVERRIDE_KEY_NOT_SUPPORTED",
        "BRANCH_DOES_NOT_EXIST",
        "SCHEMA_ERROR",
    ];
    let cases = [(&visitor, 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED"), (&restricted, 403, "RESTRICTED_USER_NOT_ALLOWED")];
    for (user, status, code) in cases {
        let sent = FaultyRequest::good(&app).with("x-stack-access-token", &user.access_token);
        for step in STEPS.iter().filter(|step| later.contains(&step.code)) {
            let answer = (step.spoil)(sent.clone()).send().await;
            assert_eq!((answer.status(), answer.code().as_str()), (status, code), "beside {}", step.code);
        }
        let answer = sent.clone().with("x-stack-project-id", UNKNOWN).send().await;
        assert_eq!(answer.code(), "INVALID_PROJECT_FOR_ACCESS_TOKEN");
        assert_eq!(sent.with("x-stack-allow-anonymous-user", "true").send().await.status(), 200);
    }
    let visitor = app.signed_in(&visitor).with("x-stack-allow-restricted-user", "true");
    assert_eq!(visitor.get(CLIENT).await.code(), "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
    let restricted = app.signed_in(&restricted).with("x-stack-allow-restricted-user", "true");
    assert_eq!(restricted.get(CLIENT).await.status(), 200);
}

#[tokio::test]
async fn a_higher_access_type_includes_the_lower_ones() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let allowed = async |caller: &Caller| {
        let caller = caller.clone().with("x-stack-access-token", &ada.access_token);
        [caller.get(CLIENT).await.status(), caller.get(SERVER).await.status(), caller.get(ADMIN).await.status()]
    };
    assert_eq!(allowed(&app.client()).await, [200, 403, 403]);
    assert_eq!(allowed(&app.server()).await, [200, 200, 403]);
    assert_eq!(allowed(&app.admin()).await, [200, 200, 200]);
}
