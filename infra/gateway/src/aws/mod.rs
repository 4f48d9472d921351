//! The AWS credentials and region of the command line. Credentials are looked up in almost the same
//! order as by the AWS CLI and SDKs:
//!
//! | order | where | how |
//! |---|---|---|
//! | 1 | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` | read |
//! | 2 | the profile `AWS_PROFILE` or `default` of `~/.aws/config` and `~/.aws/credentials` | with a role, single sign-on or a login: `aws configure export-credentials`; otherwise its keys are read, or its `credential_process` is run |
//! | 3 | a web identity | `aws configure export-credentials` |
//! | 4 | the role of a container (ECS, EKS) | requested over HTTP |
//! | 5 | the role of an EC2 instance | requested over HTTP |
//!
//! The region is `AWS_REGION`, `AWS_DEFAULT_REGION`, or `region` in the profile.
//!
//! The credential chain of the SDK (`aws-config`) needs the clients of three more services, and
//! would take longer to compile than the rest of the command line. Commands do not renew
//! credentials. If the credentials expire, run `export` or `import` again to continue where it
//! stopped.

mod json_credentials;
mod metadata;
mod profile;

use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use aws::bucket::Bucket;
use aws::connector::AwsHttp;
use aws::{Client, Credentials, Endpoint, Service};
use json_credentials::JsonCredentials;
use profile::Profile;
use store::Store;
use wire::entropy::Entropy;
use wire::environment::variable;

/// The credentials and the region of an operator's AWS account.
#[derive(Clone)]
pub struct Aws {
    region: String,
    credentials: Credentials,
}

impl Aws {
    /// Finds the credentials and the region in the places that the module's documentation lists.
    pub async fn find() -> anyhow::Result<Self> {
        let name = variable("AWS_PROFILE");
        let profile = Profile::read(name.as_deref().unwrap_or("default"))?;
        if let (Some(name), None, None) = (&name, &profile, from_environment()) {
            bail!("profile {name} (AWS_PROFILE) does not exist in {}", profile::files_text());
        }
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.or_else(|| profile.as_ref()?.get("region").map(str::to_owned));
        let region = region.context("no AWS region is configured: set AWS_REGION, or `region` in the profile")?;
        Ok(Self { region, credentials: credentials(profile).await? })
    }

    pub fn client(&self, service: Service) -> anyhow::Result<Client> {
        Ok(Client::new(self.endpoint(service), AwsHttp::from_env()?))
    }

    pub fn store(&self, table: &str) -> anyhow::Result<Store> {
        Ok(Store::at(self.endpoint(Service::DynamoDb), AwsHttp::from_env()?, table, Entropy::system()))
    }

    pub fn bucket(&self, name: &str) -> anyhow::Result<Bucket> {
        let endpoint = Endpoint::for_bucket(name, &self.region, self.credentials.clone());
        Ok(Bucket::new(Client::new(endpoint, AwsHttp::from_env()?)))
    }

    fn endpoint(&self, service: Service) -> Endpoint {
        Endpoint::in_region(service, &self.region, self.credentials.clone())
    }
}

fn from_environment() -> Option<Credentials> {
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?);
    Some(Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "environment"))
}

async fn credentials(profile: Option<Profile>) -> anyhow::Result<Credentials> {
    if let Some(found) = from_environment() {
        return Ok(found);
    }
    let mut tried = vec!["AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set".to_owned()];
    match profile {
        None => tried.push(format!("{} have no profile `default`, and AWS_PROFILE is not set", profile::files_text())),
        Some(profile) => match tokio::task::spawn_blocking(move || profile_credentials(&profile)).await?? {
            Ok(found) => return Ok(found),
            Err(reason) => tried.push(reason),
        },
    }
    if variable("AWS_WEB_IDENTITY_TOKEN_FILE").is_some() && variable("AWS_ROLE_ARN").is_some() {
        return tokio::task::spawn_blocking(|| from_aws_cli(None, "a web identity")).await?;
    }
    match metadata::container_credentials().await? {
        Ok(found) => return Ok(found),
        Err(reason) => tried.push(reason),
    }
    match metadata::instance_credentials().await {
        Ok(found) => Ok(found),
        Err(reason) => {
            tried.push(reason);
            bail!("no AWS credentials found: {}", tried.join("; "))
        }
    }
}

/// The credentials of a profile, or the reason why it has none. Fails if the profile says how to
/// get credentials, but getting them fails.
fn profile_credentials(profile: &Profile) -> anyhow::Result<Result<Credentials, String>> {
    if let Some(kind) = profile.needs_aws_cli() {
        return from_aws_cli(Some(&profile.name), kind).map(Ok);
    }
    if let Some((key, secret)) = profile.keys() {
        let token = profile.get("aws_session_token").map(str::to_owned);
        return Ok(Ok(Credentials::new(key, secret, token, None, "profile")));
    }
    let Some(command) = profile.get("credential_process") else {
        return Ok(Err(format!("profile {} has no keys, credential_process, role, single sign-on or login", profile.name)));
    };
    let what = format!("the credential_process of profile {}", profile.name);
    run(Command::new("sh").args(["-c", command]), &what).map(Ok)
}

/// Gets credentials that require calls to other AWS services, which only the AWS CLI makes. Without
/// a profile, the environment says which credentials to get.
fn from_aws_cli(profile: Option<&str>, kind: &str) -> anyhow::Result<Credentials> {
    let mut command = Command::new("aws");
    command.args(["configure", "export-credentials", "--format", "process"]);
    if let Some(profile) = profile {
        command.args(["--profile", profile]);
    }
    let place = profile.map_or_else(|| "the environment".to_owned(), |profile| format!("profile {profile}"));
    match Command::new("aws").arg("--version").stdin(Stdio::null()).output() {
        Ok(_) => run(&mut command, &format!("`aws configure export-credentials` for {kind} of {place}")),
        Err(_) => bail!(
            "{place} uses {kind}, which requires the AWS CLI (`aws`, version 2) on PATH: install it, or set \
             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
        ),
    }
}

/// Runs a program that prints credentials.
fn run(command: &mut Command, what: &str) -> anyhow::Result<Credentials> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {what}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.split_whitespace().collect();
        bail!("{what} failed ({}): {}", output.status, said.join(" "));
    }
    JsonCredentials::parse(&output.stdout).with_context(|| format!("the output of {what} is not credentials"))
}
