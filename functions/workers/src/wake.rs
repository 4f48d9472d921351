//! Starts another function when there is work for it.

use std::time::Duration;

use aws::connector::AwsHttp;
use aws::{Client, Endpoint, Service};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use tokio::time::timeout;
use wire::environment::{Error, variable};

/// The maximum time for starting the function.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Starts a function.
pub struct Wake {
    client: Client,
    function: String,
}

impl Wake {
    /// Returns the starter for the function named in the environment variable `name`. If the
    /// variable is not set, returns `None`, and only the schedule starts the function. Fails if an
    /// AWS setting is missing, or if the file in `SSL_CERT_FILE` cannot be read or parsed.
    pub fn from_env(name: &'static str) -> Result<Option<Self>, Error> {
        let Some(function) = variable(name) else { return Ok(None) };
        let client = Client::new(Endpoint::from_env(Service::Lambda)?, AwsHttp::from_env()?);
        Ok(Some(Self { client, function }))
    }

    /// Starts the function without waiting for it. A failure is only logged, because the schedule
    /// starts the function within a minute.
    pub async fn start(&self) {
        let mut request = HttpRequest::new(SdkBody::from("{}"));
        let path = format!("/2015-03-31/functions/{}/invocations", self.function);
        let is_set = request.set_method("POST").is_ok() && request.set_uri(path).is_ok();
        request.headers_mut().insert("x-amz-invocation-type", "Event");
        request.headers_mut().insert("content-type", "application/json");
        match timeout(TIMEOUT, self.client.exchange(request)).await {
            Ok(Ok(answer)) if answer.status().is_success() && is_set => {}
            Ok(Ok(answer)) => tracing::warn!(status = answer.status().as_u16(), self.function, "a function was not started"),
            Ok(Err(error)) => tracing::warn!(?error, self.function, "a function was not started"),
            Err(_) => tracing::warn!(self.function, "a function was not started in time"),
        }
    }
}
