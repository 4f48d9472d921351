//! The users of a test.

use ring::hmac;
use serde_json::{Value, json};

use crate::TestApp;

#[derive(Debug, Clone)]
pub struct SignedInUser {
    pub user_id: String,
    pub email: String,
    pub access_token: String,
    pub refresh_token: String,
}

impl SignedInUser {
    /// Reads the response to a sign-in or sign-up.
    pub fn of(email: &str, answer: &Value) -> Self {
        let field = |name: &str| answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned();
        Self {
            user_id: field("user_id"),
            email: email.to_owned(),
            access_token: field("access_token"),
            refresh_token: field("refresh_token"),
        }
    }
}

/// The password that [`TestApp::sign_up`] uses.
pub(crate) const PASSWORD: &str = "correct horse battery";

impl TestApp {
    /// Signs up with a password.
    pub async fn sign_up(&self, email: &str) -> SignedInUser {
        let answer = self.client().post("/api/v1/auth/password/sign-up", json!({ "email": email, "password": PASSWORD })).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        SignedInUser::of(email, &answer.json())
    }

    /// Signs in with the password.
    pub async fn sign_in(&self, email: &str) -> SignedInUser {
        let answer = self.client().post("/api/v1/auth/password/sign-in", json!({ "email": email, "password": PASSWORD })).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        SignedInUser::of(email, &answer.json())
    }

    /// Signs in with a code from an email. The first sign-in creates the user.
    pub async fn sign_in_by_mail(&self, email: &str) -> SignedInUser {
        let code = self.sign_in_code(email).await;
        let answer = self.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        SignedInUser::of(email, &answer.json())
    }

    /// Requests a sign-in code, and reads the code from the email.
    pub async fn sign_in_code(&self, email: &str) -> String {
        let body = json!({ "email": email, "callback_url": "http://localhost:3000/magic" });
        let answer = self.client().post("/api/v1/auth/otp/send-sign-in-code", body).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        self.last_mail(email).await.code()
    }
}

/// The code that an authenticator app shows at this time (RFC 6238). The code is computed
/// independently of the service.
pub fn authenticator_code(secret: &[u8], second: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &(second / 30).to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[19] & 15);
    let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}
