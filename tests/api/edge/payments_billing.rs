//! `GET /api/v1/payments/billing/{customer_type}/{customer_id}`, and access to customers.

use serde_json::json;
use support::TestApp;

use crate::teams::{join, team};

const PATHS: [&str; 2] = ["/api/v1/payments/billing", "/api/v1/payments/products"];

#[tokio::test]
async fn a_user_has_no_billing() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let wanted = json!({ "has_customer": false, "default_payment_method": null });
    for id in ["me", ada.user_id.as_str()] {
        let answer = app.signed_in(&ada).get(&format!("{}/user/{id}", PATHS[0])).await;
        assert_eq!((answer.status(), answer.json()), (200, wanted.clone()));
    }
    for path in [format!("user/{}", ada.user_id), "custom/anything".to_owned()] {
        let answer = app.server().get(&format!("{}/{path}", PATHS[0])).await;
        assert_eq!((answer.status(), answer.json()), (200, wanted.clone()));
    }
}

#[tokio::test]
async fn a_client_can_query_its_own_user_and_administered_teams() {
    let app = TestApp::start().await;
    let (ada, bob, eve) =
        (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await, app.sign_up("eve@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    for path in PATHS {
        let of_team = format!("{path}/team/{id}");
        let refused = |answer: support::Answer| (answer.status(), answer.code());
        assert_eq!(app.signed_in(&ada).get(&of_team).await.status(), 200);
        assert_eq!(app.server().get(&of_team).await.status(), 200);
        let cases = [
            (app.signed_in(&bob).get(&of_team).await, 401, "TEAM_PERMISSION_REQUIRED"),
            (app.signed_in(&eve).get(&of_team).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND"),
            (app.client().get(&of_team).await, 401, "USER_AUTHENTICATION_REQUIRED"),
            (app.client().get(&format!("{path}/user/me")).await, 401, "USER_AUTHENTICATION_REQUIRED"),
            (app.signed_in(&eve).get(&format!("{path}/user/{}", ada.user_id)).await, 403, "FORBIDDEN"),
            (app.signed_in(&eve).get(&format!("{path}/custom/anything")).await, 403, "FORBIDDEN"),
            (app.signed_in(&eve).get(&format!("{path}/user/nobody")).await, 400, "SCHEMA_ERROR"),
            (app.server().get(&format!("{path}/team/nothing")).await, 400, "SCHEMA_ERROR"),
            (app.server().get(&format!("{path}/firm/{}", ada.user_id)).await, 400, "SCHEMA_ERROR"),
        ];
        for (answer, status, code) in cases {
            assert_eq!(refused(answer), (status, code.to_owned()), "{path}");
        }
    }
}

#[tokio::test]
async fn a_team_of_another_project_is_not_found() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    let other = app.another_project().await;
    for path in PATHS {
        let answer = app.server_of(&other).get(&format!("{path}/team/{id}")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (404, "TEAM_NOT_FOUND"));
    }
}
