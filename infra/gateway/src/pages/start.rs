//! `/`: the start page, with the keys and a first request to paste. Programs get the API's response
//! for an unknown path instead.

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use secrecy::ExposeSecret as _;
use serde_json::json;
use tower::ServiceExt as _;

use super::request::wants_html;
use super::state::{Pages, Private};
use super::{answer, guard, verification};
use crate::inbox::Query;

pub(super) fn router(pages: Pages) -> Router {
    Router::new().route("/", get(show)).with_state(pages)
}

async fn show(State(pages): State<Pages>, request: Request) -> Response {
    if !wants_html(request.headers()) {
        return pages.api.clone().oneshot(request).await.into_response();
    }
    let Some(private) = &pages.private else { return pages.api.clone().oneshot(request).await.into_response() };
    if let Some(answer) = guard::answer_instead(&pages, &request) {
        return answer;
    }
    let inbox = pages.inbox.clone();
    let emails = match tokio::task::spawn_blocking(move || inbox.find(&Query::default()).map(|found| found.total)).await {
        Ok(Ok(total)) => format!("{total} {}", if total == 1 { "email" } else { "emails" }),
        _ => "Emails".to_owned(),
    };
    let operations = match pages.reference() {
        Ok(reference) => reference.len(),
        Err(error) => return answer::failed(&error),
    };
    let snippets = Snippets::of(&pages, private);
    pages.page(
        "start",
        "/",
        json!({
            "api_url": pages.app.settings.api_url,
            "emails": emails,
            "operations": operations,
            "project_id": private.keys.project_id,
            "client_key": private.keys.client.expose_secret(),
            "server_key": private.keys.server.expose_secret(),
            "admin_key": private.keys.admin.expose_secret(),
            "keys_file": private.keys_file,
            "sign_up": snippets.sign_up,
            "sdk": snippets.sdk,
            "list_users": snippets.list_users,
            "list_users_masked": snippets.list_users.replace(private.keys.server.expose_secret(), "ssk_••••••••"),
        }),
    )
}

struct Snippets {
    sign_up: String,
    sdk: String,
    list_users: String,
}

impl Snippets {
    fn of(pages: &Pages, private: &Private) -> Self {
        let url = &pages.app.settings.api_url;
        let (project, client) = (&private.keys.project_id, private.keys.client.expose_secret());
        let callback = format!("{url}{}", verification::PATH);
        // The email address contains a random number, so there is hardly ever an account with it.
        let number = u16::from_be_bytes(pages.app.entropy.bytes());
        let sign_up = format!(
            "curl {url}/api/v1/auth/password/sign-up \\\n  \
             -H 'X-Service-Access-Type: client' \\\n  \
             -H 'X-Service-Project-Id: {project}' \\\n  \
             -H 'X-Service-Publishable-Client-Key: {client}' \\\n  \
             --json '{{\"email\": \"ada.{number}@example.com\", \"password\": \"correct horse battery\",\n    \
             \"verification_callback_url\": \"{callback}\"}}'"
        );
        let sdk = format!(
            "import {{ StackClientApp }} from \"@stackframe/js\";\n\n\
             const app = new StackClientApp({{\n  \
             baseUrl: \"{url}\",\n  \
             projectId: \"{project}\",\n  \
             publishableClientKey: \"{client}\",\n  \
             tokenStore: \"memory\", // \"cookie\" in a browser\n}});\n\n\
             await app.signUpWithCredential({{\n  \
             email: `ada.${{Date.now()}}@example.com`,\n  \
             password: \"correct horse battery\",\n  \
             verificationCallbackUrl: \"{callback}\",\n  \
             noRedirect: true,\n}});\n\
             const user = await app.getUser();\n\
             console.log(user.id, user.primaryEmail, user.primaryEmailVerified);"
        );
        let list_users = format!(
            "curl '{url}/api/v1/users?limit=20' \\\n  \
             -H 'X-Service-Access-Type: server' \\\n  \
             -H 'X-Service-Project-Id: {project}' \\\n  \
             -H 'X-Service-Secret-Server-Key: {}'",
            private.keys.server.expose_secret()
        );
        Self { sign_up, sdk, list_users }
    }
}
