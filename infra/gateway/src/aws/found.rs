//! What processes and metadata services print.

use anyhow::anyhow;
use aws::Credentials;
use serde::Deserialize;

/// Credentials as processes and metadata services print them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Found {
    access_key_id: String,
    secret_access_key: String,
    #[serde(alias = "Token")]
    session_token: Option<String>,
}

impl Found {
    pub(super) fn parse(json: &[u8]) -> anyhow::Result<Credentials> {
        // The answer is not quoted in an error: it may have a secret.
        let found: Self = serde_json::from_slice(json).map_err(|_| anyhow!("the answer has no AccessKeyId and SecretAccessKey"))?;
        Ok(Credentials::new(found.access_key_id, found.secret_access_key, found.session_token, None, "gatelet"))
    }
}
