//! The stored half of an OAuth flow, for tests that do not start a flow.

use model::project::redirect::RedirectUrl;
use model::sign_in::authorization::{Authorization, LIFE, Purpose, ResponseMode};
use wire::clock::after;

use crate::TestApp;

impl TestApp {
    /// A flow at a provider. No user is signed in at the start of the flow, and the app receives
    /// the provider's URL as JSON.
    pub fn authorization(&self, provider_id: &str) -> Authorization {
        Authorization {
            project_id: self.project_id().clone(),
            provider_id: provider_id.to_owned(),
            registration: None,
            purpose: Purpose::Authenticate,
            response_mode: ResponseMode::Json,
            redirect_uri: RedirectUrl::parse("http://localhost:3000/callback").unwrap(),
            state: "the app's own state".to_owned(),
            code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
            error_redirect_url: None,
            after_callback_redirect_url: None,
            provider_scope: None,
            user_id: None,
            epoch: 0,
            begun_in: None,
            verifier: self.app.sealer.seal(&self.app.entropy, "oauth-verifier", &self.app.entropy.code()).unwrap(),
            expires_at: after(self.now(), LIFE),
        }
    }
}
