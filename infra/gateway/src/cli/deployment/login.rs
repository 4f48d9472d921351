//! `gateway login` and `gateway logout`.
//!
//! Sign-in uses the device flow (RFC 8628). The command gets a separate session, which appears in
//! the user's list of sessions and can be ended there.

use std::io::IsTerminal as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use model::text::line::plain;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use url::{Url, form_urlencoded};
use wire::environment::variable;

use super::super::tools::Target;
use super::api::{Api, INTERNAL, deployment_url};
use super::logins::{self, Logins};
use super::output::text;
use super::session::{Session, saved};
use crate::say::say;

/// Added to the polling interval after the error `slow_down` (RFC 8628 §3.5).
const SLOWER: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct Login {
    /// URL of the deployment, such as `https://auth.example.com`
    url: String,
    /// Publishable client key of the project `internal`, if it requires one
    #[arg(long, value_name = "KEY")]
    client_key: Option<String>,
    /// Page for confirming the sign-in, on a trusted domain of `internal`; by default, the page on
    /// the first trusted domain or, without trusted domains, the console's page
    #[arg(long, value_name = "URL")]
    page: Option<String>,
    /// Print the link without opening it in a browser
    #[arg(long)]
    no_browser: bool,
}

#[derive(Args)]
pub(crate) struct Logout {
    /// URL of the deployment; by default, the one you signed in to last
    url: Option<String>,
    /// Forget the session without ending it, for example because the deployment cannot be reached
    #[arg(long)]
    forget: bool,
}

#[derive(Deserialize)]
struct StartedLogin {
    device_code: String,
    user_code: String,
    verification_uri_complete: Url,
    expires_in: u64,
    interval: u64,
}

struct Tokens {
    refresh: String,
    access: String,
}

impl Login {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let api = Api::new(deployment_url(&self.url)?, self.client_key.clone())?;
        let (status, body) = self.start(&api).await?;
        if status != 200 {
            return Err(not_started(&api, status, &body, self.page.is_some()));
        }
        let started: StartedLogin = serde_json::from_value(body).map_err(|_| api.foreign(status))?;
        let link = &started.verification_uri_complete;
        say!("Open {}", plain(link.as_str()));
        say!("and confirm. The code is {}.", plain(&started.user_code));
        if !self.no_browser {
            open(link);
        }
        let tokens = wait(&api, &started).await?;
        let login = logins::Login { url: api.url.clone(), client_key: api.client_key.clone(), refresh_token: tokens.refresh.clone() };
        let mut session = Session::signed_in(api, tokens.refresh, tokens.access);
        let user = session.own(Method::GET, "/users/me", None).await?;
        let (url, email) = (session.url().to_owned(), text(&user["primary_email"]));
        if let Some(previous) = Logins::save(login)? {
            // The sign-in has succeeded even if the session that it replaces cannot be ended.
            let _ = end(previous).await;
        }
        say!("signed in to {url} as {}", plain(if email.is_empty() { "a user without an email address" } else { &email }));
        Ok(())
    }

    async fn start(&self, api: &Api) -> anyhow::Result<(u16, Value)> {
        let begin = |page: Option<String>| async move {
            let fields = page.iter().map(|page| ("verification_uri", page.as_str()));
            ask(api, "device_authorization", fields).await
        };
        let answer = begin(self.page.clone()).await?;
        if self.page.is_some() || answer.1["code"] != "SCHEMA_ERROR" || !has_console(api).await? {
            return Ok(answer);
        }
        let (status, body) = begin(Some(format!("{}/console/cli-auth-confirm", api.url))).await?;
        // If the console's page is also rejected, return the first response, which says what to do.
        Ok(if status == 200 { (status, body) } else { answer })
    }
}

/// Whether the deployment has a console. The console of a local gateway responds with 403, because
/// this request lacks the page key that the user's browser has.
async fn has_console(api: &Api) -> anyhow::Result<bool> {
    let (status, _) = api.text(api.at(Method::GET, "/console")).await?;
    Ok(matches!(status, 200 | 403))
}

fn not_started(api: &Api, status: u16, body: &Value, has_page: bool) -> anyhow::Error {
    match body["code"].as_str() {
        Some("SCHEMA_ERROR") if !has_page => anyhow!(
            "{} has no page for confirming the sign-in: pass --page with the URL of a page on a trusted domain of `internal`, or ask the operator to add a page",
            api.url
        ),
        _ => api.refusal(status, body),
    }
}

/// A request by the OAuth client `internal`.
async fn ask<'a>(api: &Api, operation: &str, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> anyhow::Result<(u16, Value)> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("client_id", INTERNAL).extend_pairs(fields);
    if let Some(key) = &api.client_key {
        form.append_pair("client_secret", key);
    }
    let request = api.request(Method::POST, &format!("/auth/oauth/{operation}"));
    api.json(request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())).await
}

/// Opens a link in the browser if the command runs in a terminal on this machine. Errors are
/// ignored, because the link is also printed.
fn open(link: &Url) {
    let is_remote = variable("SSH_CONNECTION").is_some();
    if is_remote || !std::io::stdout().is_terminal() || !matches!(link.scheme(), "http" | "https") {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    let _ = command.arg(link.as_str()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Polls until the user confirms the sign-in. Fails if the user refuses or does not decide in time.
async fn wait(api: &Api, started: &StartedLogin) -> anyhow::Result<Tokens> {
    let end = Instant::now() + Duration::from_secs(started.expires_in);
    let mut interval = interval(started);
    while Instant::now() < end {
        sleep(interval).await;
        let grant = [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", &started.device_code)];
        let (status, body) = ask(api, "token", grant).await?;
        let token = |name: &str| body[name].as_str().map(str::to_owned);
        if let (Some(refresh), Some(access)) = (token("refresh_token"), token("access_token")) {
            return Ok(Tokens { refresh, access });
        }
        match body["error"].as_str() {
            Some("authorization_pending") => {}
            Some("slow_down" | "temporarily_unavailable") => interval += SLOWER,
            Some("access_denied") => bail!("the sign-in was refused in the browser"),
            Some("expired_token") => bail!("nobody confirmed the sign-in in time: run `gateway login` again"),
            _ => return Err(api.refusal(status, &body)),
        }
    }
    bail!("nobody confirmed the sign-in in time: run `gateway login` again")
}

/// How long to wait before each poll. Tests set `GATELET_LOGIN_MILLIS` to override the deployment's
/// interval; release builds ignore the variable.
fn interval(started: &StartedLogin) -> Duration {
    let of_test = || variable("GATELET_LOGIN_MILLIS")?.parse().ok().map(Duration::from_millis);
    let of_test = if cfg!(debug_assertions) { of_test() } else { None };
    of_test.unwrap_or(Duration::from_secs(started.interval.max(1)))
}

impl Logout {
    /// Ends the session unless it should only be forgotten, and removes it from this machine.
    pub(crate) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let url = self.url.as_ref().or(target.api.as_ref()).map(|url| deployment_url(url)).transpose()?;
        let url = match url {
            Some(url) => url,
            None => Logins::read()?.current().context("not signed in, so there is nothing to sign out of")?.to_owned(),
        };
        let login = saved(&url)?;
        if !self.forget {
            end(login).await.context("the session could not be ended: to remove it from this machine without ending it, add --forget")?;
        }
        let rest = Logins::forget(&url)?;
        let next = rest.current().map_or_else(String::new, |url| format!("; commands now use {url}"));
        say!("{} {url}{next}", if self.forget { "forgot the session at" } else { "signed out of" });
        Ok(())
    }
}

/// Ends a session, or does nothing if the session has already ended.
async fn end(login: logins::Login) -> anyhow::Result<()> {
    match Session::reopen(login).await? {
        Some(session) => session.end().await,
        None => Ok(()),
    }
}
