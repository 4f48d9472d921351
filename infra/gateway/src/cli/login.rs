//! `gateway login`, `logout` and `call`: administer a deployment over its API, without its data
//! folder and without credentials of AWS, as a user of the project `internal`.
//!
//! Signing in is the device flow (RFC 8628). The session belongs to this command alone; the user
//! sees it in their list of sessions and can end it there.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::Args;
use net::tls;
use reqwest::{Client, Method, RequestBuilder, redirect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use settings::base_url;
use tokio::time::{Instant, sleep};
use url::{Host, Url, form_urlencoded};
use wire::id::ProjectId;

use crate::data::{private_folder, write_private};
use crate::say::say;

const INTERNAL: &str = "internal";
const PATIENCE: Duration = Duration::from_secs(30);
/// What a device adds to its interval when it must slow down (RFC 8628 §3.5).
const SLOWER: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(super) struct Login {
    /// URL of the deployment's API
    #[arg(long, value_name = "URL")]
    api: String,
    /// Publishable client key of the project `internal`, if it requires one
    #[arg(long, value_name = "KEY")]
    client_key: Option<String>,
    /// Page on which you confirm, in a trusted domain of `internal`; by default the page of the
    /// SDK in the first of these domains
    #[arg(long, value_name = "URL")]
    page: Option<String>,
}

#[derive(Args)]
pub(super) struct Call {
    /// HTTP method
    method: String,
    /// Path below `/api/v1`, such as `/users?limit=10`
    path: String,
    /// Act as an administrator of this project, which a team of yours owns; without it, as
    /// yourself in `internal`, where `GET /internal/projects` lists your projects
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Body of the request, as JSON
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
}

/// The file that keeps the session.
#[derive(Serialize, Deserialize)]
struct Saved {
    api: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_key: Option<String>,
    refresh_token: String,
}

#[derive(Deserialize)]
struct Started {
    device_code: String,
    user_code: String,
    verification_uri_complete: String,
    expires_in: u64,
    interval: u64,
}

impl Saved {
    fn file() -> anyhow::Result<PathBuf> {
        let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
        let folder = folder.or_else(home).ok_or_else(|| anyhow!("neither XDG_CONFIG_HOME nor HOME is set"))?;
        Ok(folder.join("gatelet").join("login.json"))
    }

    fn read() -> anyhow::Result<Self> {
        let file = Self::file()?;
        let text = std::fs::read_to_string(&file).map_err(|_| anyhow!("not signed in: `gateway login --api URL` signs in"))?;
        serde_json::from_str(&text).with_context(|| format!("{} cannot be read: sign in again", file.display()))
    }

    fn write(&self) -> anyhow::Result<()> {
        let file = Self::file()?;
        let folder = file.parent().context("the file has no folder")?;
        private_folder(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        write_private(&file, &serde_json::to_string(self)?)
    }

    /// A request of the session in the project `internal`.
    fn request(&self, client: &Client, method: Method, path: &str) -> RequestBuilder {
        let request = client.request(method, format!("{}/api/v1{path}", self.api));
        let request = request.header("x-service-project-id", INTERNAL).header("x-service-access-type", "client");
        match &self.client_key {
            Some(key) => request.header("x-service-publishable-client-key", key),
            None => request,
        }
    }

    async fn access_token(&self, client: &Client) -> anyhow::Result<String> {
        let refresh = self.request(client, Method::POST, "/auth/sessions/current/refresh");
        let (status, body) = send(refresh.header("x-service-refresh-token", &self.refresh_token)).await?;
        let token = body["access_token"].as_str().filter(|_| status == 200);
        token.map(str::to_owned).ok_or_else(|| anyhow!("the session has ended: `gateway login --api {}` signs in", self.api))
    }
}

/// The URL of an API that tokens may be sent to: only this machine is reached without TLS.
fn safe_url(text: &str) -> anyhow::Result<String> {
    let url = base_url("--api", text)?;
    let parsed = Url::parse(&url)?;
    let is_local = match parsed.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    ensure!(parsed.scheme() == "https" || is_local, "{url} must begin with https://");
    Ok(url)
}

fn client() -> anyhow::Result<Client> {
    let client = Client::builder().tls_backend_preconfigured(tls::client(tls::public_roots()));
    Ok(client.redirect(redirect::Policy::none()).timeout(PATIENCE).build()?)
}

async fn send(request: RequestBuilder) -> anyhow::Result<(u16, Value)> {
    let answer = request.send().await?;
    let (status, text) = (answer.status().as_u16(), answer.text().await?);
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// Why a request failed, as the service says it.
fn reason(body: &Value) -> String {
    let text = |name: &str| body[name].as_str();
    text("error_description").or_else(|| text("error")).map_or_else(|| body.to_string(), str::to_owned)
}

impl Login {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (api, client) = (safe_url(&self.api)?, client()?);
        let page = self.page.iter().map(|page| ("verification_uri", page.as_str()));
        let (status, body) = self.ask(&client, &api, "device_authorization", page).await?;
        ensure!(status == 200, "{}", reason(&body));
        let started: Started = serde_json::from_value(body).context("the answer is not that of a device authorization")?;
        say!("Open {}", started.verification_uri_complete);
        say!("and confirm. The code is {}.", started.user_code);
        let refresh_token = self.wait(&client, &api, &started).await?;
        Saved { api: api.clone(), client_key: self.client_key, refresh_token }.write()?;
        say!("signed in to {api}");
        Ok(())
    }

    /// A request of the OAuth client `internal`.
    async fn ask<'a>(
        &'a self,
        client: &Client,
        api: &str,
        operation: &str,
        fields: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> anyhow::Result<(u16, Value)> {
        let key = self.client_key.iter().map(|key| ("client_secret", key.as_str()));
        let fields = [("client_id", INTERNAL)].into_iter().chain(key).chain(fields);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = client.post(format!("{api}/api/v1/auth/oauth/{operation}"));
        send(request.header("content-type", "application/x-www-form-urlencoded").body(form)).await
    }

    /// Polls until the user has decided; returns the refresh token.
    async fn wait(&self, client: &Client, api: &str, started: &Started) -> anyhow::Result<String> {
        let end = Instant::now() + Duration::from_secs(started.expires_in);
        let mut interval = Duration::from_secs(started.interval);
        while Instant::now() < end {
            sleep(interval).await;
            let grant = [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", started.device_code.as_str())];
            let (_, body) = self.ask(client, api, "token", grant.into_iter()).await?;
            match (body["refresh_token"].as_str(), body["error"].as_str()) {
                (Some(token), _) => return Ok(token.to_owned()),
                (None, Some("authorization_pending")) => {}
                (None, Some("slow_down" | "temporarily_unavailable")) => interval += SLOWER,
                _ => bail!("{}", reason(&body)),
            }
        }
        bail!("nobody has confirmed in time")
    }
}

/// Ends the session and forgets it. The file is removed even if the session has already ended.
pub(super) async fn logout() -> anyhow::Result<()> {
    let (saved, client) = (Saved::read()?, client()?);
    let ended = match saved.access_token(&client).await {
        Ok(token) => {
            let end = saved.request(&client, Method::DELETE, "/auth/sessions/current").header("x-service-access-token", token);
            let (status, body) = send(end).await?;
            ensure!(status == 200, "{}", reason(&body));
            "signed out of"
        }
        Err(_) => "the session had ended already at",
    };
    std::fs::remove_file(Saved::file()?).context("cannot remove the file of the session")?;
    say!("{ended} {}", saved.api);
    Ok(())
}

impl Call {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (saved, client) = (Saved::read()?, client()?);
        let method: Method = self.method.to_uppercase().parse().with_context(|| format!("{:?} is not a method", self.method))?;
        ensure!(self.path.starts_with('/'), "the path must begin with /");
        let token = saved.access_token(&client).await?;
        let request = match &self.project {
            None => saved.request(&client, method, &self.path).header("x-service-access-token", token),
            Some(id) => {
                let id = ProjectId::parse(id).with_context(|| format!("{id:?} is not a project id"))?;
                let request = client.request(method, format!("{}/api/v1{}", saved.api, self.path));
                let request = request.header("x-service-project-id", id.as_str()).header("x-service-access-type", "admin");
                request.header("x-service-admin-access-token", token)
            }
        };
        let request = match self.data {
            Some(data) => request.header("content-type", "application/json").body(data),
            None => request,
        };
        let (status, body) = send(request).await?;
        ensure!(status < 400, "{status}: {}", reason(&body));
        say!("{}", serde_json::to_string_pretty(&body)?);
        Ok(())
    }
}
