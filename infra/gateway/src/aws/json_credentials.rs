//! The JSON format in which credential processes and metadata services return credentials.

use anyhow::anyhow;
use aws::Credentials;
use serde::Deserialize;

/// Credentials in the JSON format.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct JsonCredentials {
    access_key_id: String,
    secret_access_key: String,
    #[serde(alias = "Token")]
    session_token: Option<String>,
}

impl JsonCredentials {
    pub(super) fn parse(json: &[u8]) -> anyhow::Result<Credentials> {
        // The error must not quote the input, which may contain a secret.
        let found: Self = serde_json::from_slice(json).map_err(|_| anyhow!("expected JSON with AccessKeyId and SecretAccessKey"))?;
        Ok(Credentials::new(found.access_key_id, found.secret_access_key, found.session_token, None, "gatelet"))
    }
}
