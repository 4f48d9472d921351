//! Requests the credentials of a role: for a container from ECS or EKS, and for an EC2 instance
//! from the instance metadata service (version 2).

use std::time::Duration;

use anyhow::{Context as _, bail};
use aws::Credentials;
use reqwest::{Client, RequestBuilder};
use url::Url;
use wire::environment::variable;
use wire::host::is_loopback;

use super::json_credentials::JsonCredentials;
use crate::causes::with_causes;
use crate::http_client::http_client;

/// How long to wait for a response. The metadata services run on the machine or close to it, so
/// they respond sooner. Outside EC2, nothing responds at the address of the instance metadata
/// service.
const TIMEOUT: Duration = Duration::from_secs(1);
const CONTAINERS: &str = "http://169.254.170.2";
const INSTANCE: &str = "http://169.254.169.254";
/// The IP addresses of the ECS and EKS services. Like loopback addresses, they may be called over
/// plain HTTP.
const PLAIN: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

fn client() -> anyhow::Result<Client> {
    Ok(http_client()?.no_proxy().timeout(TIMEOUT).build()?)
}

/// The credentials of a container's role, or the reason why there are none. Fails if the container
/// has a role, but its credentials cannot be read.
pub(super) async fn container_credentials() -> anyhow::Result<Result<Credentials, String>> {
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{CONTAINERS}{path}"));
    let Some(text) = relative.or_else(|| variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")) else {
        return Ok(Err("this is not a container with a role (neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor \
                       AWS_CONTAINER_CREDENTIALS_FULL_URI is set)"
            .to_owned()));
    };
    let url = Url::parse(&text).ok().filter(is_trusted);
    let url = url.with_context(|| {
        format!(
            "the URL of this container's credentials is {text} (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or \
             AWS_CONTAINER_CREDENTIALS_FULL_URI): expected https, or http on this machine or at the address of ECS or EKS"
        )
    })?;
    let token = match variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Some(std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?),
        None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    };
    let request = client()?.get(url);
    let request = token.iter().fold(request, |request, token| request.header("authorization", token.trim()));
    let answer = text_of(request).await.context("cannot get the credentials of this container's role")?;
    let found = JsonCredentials::parse(answer.as_bytes());
    found.map(Ok).with_context(|| format!("cannot use the credentials of this container's role from {text}"))
}

/// Whether credentials may be requested from this URL. HTTPS is accepted for any host, plain HTTP
/// only for loopback and [`PLAIN`].
fn is_trusted(url: &Url) -> bool {
    let is_here = is_loopback(url) || url.host_str().is_some_and(|host| PLAIN.contains(&host.trim_matches(['[', ']'])));
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}

/// The credentials of an instance's role, or the reason why there are none.
pub(super) async fn instance_credentials() -> Result<Credentials, String> {
    if variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err("EC2 instance metadata is disabled (AWS_EC2_METADATA_DISABLED)".to_owned());
    }
    let found = instance_role().await;
    found.map_err(|error| format!("the role of an EC2 instance cannot be read ({error:#})"))
}

async fn instance_role() -> anyhow::Result<Credentials> {
    let base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or_else(|| INSTANCE.to_owned());
    let base = base.trim_end_matches('/');
    let client = client()?;
    let token = client.put(format!("{base}/latest/api/token")).header("x-aws-ec2-metadata-token-ttl-seconds", "60");
    let token = text_of(token).await?;
    let get = async |path: &str| {
        text_of(client.get(format!("{base}/latest/meta-data/iam/security-credentials/{path}")).header("x-aws-ec2-metadata-token", &token))
            .await
    };
    let role = get("").await?;
    JsonCredentials::parse(get(role.trim()).await?.as_bytes())
}

async fn text_of(request: RequestBuilder) -> anyhow::Result<String> {
    let answer = request.send().await.map_err(|error| anyhow::anyhow!(with_causes(&error)))?;
    if !answer.status().is_success() {
        bail!("{} answers {}", answer.url(), answer.status());
    }
    Ok(answer.text().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_requested_over_plain_http_only_from_loopback_ecs_and_eks() {
        let is_trusted = |text: &str| super::is_trusted(&Url::parse(text).unwrap());
        for text in ["http://169.254.170.2/x", "http://127.0.0.1:9/x", "http://[::1]/x", "http://[fd00:ec2::23]/x", "https://example.com/x"]
        {
            assert!(is_trusted(text), "{text}");
        }
        for text in ["http://example.com/x", "http://169.254.169.254/x", "http://localhost.example.com/x", "ftp://127.0.0.1/x"] {
            assert!(!is_trusted(text), "{text}");
        }
    }
}
