//! `gateway health`: exits with a status that says whether a gateway responds. The images have no
//! shell, so their health checks need this command.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use settings::base_url;

use crate::http_client::http_client;
use crate::say::say;

/// How long to wait for a response; a gateway that takes longer is reported as unhealthy.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Args)]
pub(super) struct Options {
    /// Base URL of the gateway, as this process reaches it
    #[arg(long, env = "GATELET_HEALTH_URL", value_name = "URL", default_value = "http://127.0.0.1:8787")]
    url: String,
}

impl Options {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let url = format!("{}/health", base_url("--url", &self.url)?);
        // Uses no proxies, so that the request reaches the gateway itself.
        let client = http_client()?.no_proxy().timeout(TIMEOUT).build()?;
        let answer = client.get(&url).send().await.with_context(|| format!("{url} does not respond"))?;
        ensure!(answer.status().is_success(), "{url} answers {}", answer.status());
        say!("{url} answers");
        Ok(())
    }
}
