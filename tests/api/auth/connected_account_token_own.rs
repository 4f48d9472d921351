//! `POST /api/v1/auth/oauth/connected-accounts/{provider_id}/access-token`.

use serde_json::json;

use super::oauth_callback::{ada, sign_in, start};
use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/oauth/connected-accounts/acme/access-token";

#[tokio::test]
async fn the_path_of_the_first_sdks_returns_the_same_token() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let caller = app.signed_in(&user);
    let same = caller.post("/api/v1/connected-accounts/me/acme/access-token", json!({ "scope": "email" })).await;
    for body in [json!({}), json!({ "scope": "" }), json!({ "scope": "email" })] {
        let answer = caller.post(PATH, body).await;
        assert_eq!((answer.status(), answer.json()), (201, same.json()));
    }
    let more = caller.post(PATH, json!({ "scope": "calendar" })).await;
    assert_error(&more, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
}

#[tokio::test]
async fn it_is_for_signed_in_users_and_their_own_accounts() {
    let (app, provider) = start().await;
    sign_in(&app, &provider, ada()).await;
    let eve = app.sign_up("eve@example.com").await;
    assert_error(&app.signed_in(&eve).post(PATH, json!({})).await, 400, "OAUTH_CONNECTION_NOT_CONNECTED_TO_USER");
    let unknown = PATH.replace("acme", "nobody");
    assert_error(&app.signed_in(&eve).post(&unknown, json!({})).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    for caller in [app.client(), app.server()] {
        assert_error(&caller.post(PATH, json!({})).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    }
    let named = json!({ "user_id": eve.user_id });
    assert_eq!(problems(&app.signed_in(&eve).post(PATH, named).await).len(), 1, "no user can be named");
    assert_takes_client_access(&app, "POST", PATH).await;
}
