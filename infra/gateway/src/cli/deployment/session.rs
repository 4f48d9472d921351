//! A session on a deployment: of a user, or with the admin key of a data folder.

use anyhow::{Context as _, anyhow, bail, ensure};
use reqwest::{Method, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use wire::id::ProjectId;

use super::super::tools::Target;
use super::api::{Api, deployment_url};
use super::logins::{Login, Logins};
use crate::data::Data;
use crate::keys::{PROJECT_ID, Role};
use crate::saved_keys::SavedKeys;

pub(crate) struct Session {
    pub(super) api: Api,
    rights: Rights,
}

enum Rights {
    User { refresh_token: String, access_token: String },
    Key { project: ProjectId, admin: SecretString },
}

/// A request below `/api/v1`.
pub(super) struct ApiRequest<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    pub(super) body: Option<&'a Value>,
    /// The project to administer; without a project, the user acts as a client of `internal`.
    pub(super) project: Option<&'a ProjectId>,
}

impl Session {
    /// The session that a command uses: the session at the URL of `--api`, which must exist, or
    /// otherwise the newest session, whose URL is then printed on standard error. Returns `None` if
    /// `--api` is absent and there is no session, or if the command names a data folder or a table.
    pub(crate) async fn chosen(target: &Target) -> anyhow::Result<Option<Self>> {
        let login = match &target.api {
            Some(url) => Some(saved(&deployment_url(url)?)?),
            None if target.table.is_some() || target.data.is_some() => None,
            None => Logins::read()?.find(None).inspect(|login| eprintln!("using {}", login.url)),
        };
        match login {
            Some(login) => Self::open(login).await.map(Some),
            None => Ok(None),
        }
    }

    /// The session for a command that works only over the API.
    pub(crate) async fn required(target: &Target) -> anyhow::Result<Self> {
        match Self::chosen(target).await? {
            Some(session) => Ok(session),
            None if target.table.is_some() => bail!("this command works over the API, not on a table: leave out --table"),
            None => Self::from_folder(target),
        }
    }

    /// A session on the gateway that serves the data folder, using the folder's admin key.
    fn from_folder(target: &Target) -> anyhow::Result<Self> {
        let folder = target.folder();
        let Ok(data) = Data::existing(folder) else {
            bail!(
                "not signed in, and {} is not a gateway's data folder: run `gateway login URL` to sign in to a deployment",
                folder.display()
            );
        };
        let Some(url) = Data::holder(folder).and_then(|holder| holder.url) else {
            bail!(
                "this command needs a running gateway, and none serves the data in {}: start one (`gateway serve`), or sign in to a \
                 deployment (`gateway login URL`)",
                folder.display()
            );
        };
        let (project, admin) = keys_of(&data)?;
        target.announce();
        Ok(Self { api: Api::new(url, None)?, rights: Rights::Key { project, admin } })
    }

    /// The only project that the session can access if it uses an admin key.
    pub(super) fn only_project(&self) -> Option<&ProjectId> {
        match &self.rights {
            Rights::Key { project, .. } => Some(project),
            Rights::User { .. } => None,
        }
    }

    async fn open(login: Login) -> anyhow::Result<Self> {
        let url = login.url.clone();
        Self::reopen(login).await?.ok_or_else(|| ended(&url))
    }

    /// A saved session; `None` if it has ended.
    pub(super) async fn reopen(login: Login) -> anyhow::Result<Option<Self>> {
        let Login { url, client_key, refresh_token } = login;
        let mut session = Self::signed_in(Api::new(url, client_key)?, refresh_token, String::new());
        Ok(session.renew().await?.then_some(session))
    }

    pub(super) fn signed_in(api: Api, refresh_token: String, access_token: String) -> Self {
        Self { api, rights: Rights::User { refresh_token, access_token } }
    }

    /// Fails if the session lacks the project's key.
    pub(super) fn reaches(&self, project: &ProjectId) -> anyhow::Result<()> {
        let only = self.only_project().unwrap_or(project);
        ensure!(
            only == project,
            "the data folder contains only the admin key of project {only}: to administer other projects, run `gateway login {}`",
            self.url()
        );
        Ok(())
    }

    pub(crate) fn url(&self) -> &str {
        &self.api.url
    }

    /// Gets a new access token; returns whether the session still exists.
    async fn renew(&mut self) -> anyhow::Result<bool> {
        let Rights::User { refresh_token, access_token } = &mut self.rights else { return Ok(true) };
        let request = self.api.internal(Method::POST, "/auth/sessions/current/refresh");
        let (status, body) = self.api.json(request.header("x-service-refresh-token", refresh_token.as_str())).await?;
        match (body["access_token"].as_str(), body["code"].as_str()) {
            (Some(token), _) if status == 200 => token.clone_into(access_token),
            (_, Some("REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED")) => return Ok(false),
            _ => return Err(self.api.refusal(status, &body)),
        }
        Ok(true)
    }

    /// Calls an operation with the user's rights.
    pub(crate) async fn own(&mut self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        ensure!(
            self.only_project().is_none(),
            "this command needs a signed-in user, not a project's key: sign in with `gateway login {}`",
            self.url()
        );
        self.json(ApiRequest { method, path, body, project: None }).await
    }

    /// Calls an operation whose response is JSON.
    pub(super) async fn json(&mut self, ask: ApiRequest<'_>) -> anyhow::Result<Value> {
        let text = self.text(ask).await?;
        serde_json::from_str(&text).map_err(|_| self.api.foreign(200))
    }

    /// Calls an operation and returns the text of its response. If the access token has expired, as
    /// in a long export, retries with a new token.
    pub(super) async fn text(&mut self, ask: ApiRequest<'_>) -> anyhow::Result<String> {
        let (mut status, mut text) = self.api.text(self.request(&ask)).await?;
        let is_expired = |text: &str| {
            let body: Value = serde_json::from_str(text).unwrap_or_default();
            matches!(body["code"].as_str(), Some("ADMIN_ACCESS_TOKEN_EXPIRED" | "ACCESS_TOKEN_EXPIRED"))
        };
        if status >= 400 && is_expired(&text) {
            if !self.renew().await? {
                return Err(ended(self.url()));
            }
            (status, text) = self.api.text(self.request(&ask)).await?;
        }
        if status < 400 { Ok(text) } else { Err(self.refusal(status, &text, ask.project)) }
    }

    fn request(&self, ask: &ApiRequest<'_>) -> RequestBuilder {
        let request = match (&self.rights, ask.project) {
            (Rights::User { access_token, .. }, None) => {
                self.api.internal(ask.method.clone(), ask.path).header("x-service-access-token", access_token)
            }
            (Rights::User { access_token, .. }, Some(id)) => self.administer(ask, id).header("x-service-admin-access-token", access_token),
            (Rights::Key { project, admin }, id) => {
                let request = self.administer(ask, id.unwrap_or(project));
                request.header("x-service-super-secret-admin-key", admin.expose_secret())
            }
        };
        match ask.body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        }
    }

    fn administer(&self, ask: &ApiRequest<'_>, project: &ProjectId) -> RequestBuilder {
        let request = self.api.request(ask.method.clone(), ask.path);
        request.header("x-service-project-id", project.as_str()).header("x-service-access-type", "admin")
    }

    fn refusal(&self, status: u16, text: &str, project: Option<&ProjectId>) -> anyhow::Error {
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        match (project, body["code"].as_str()) {
            (Some(id), Some("ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN")) if id.is_internal() => {
                anyhow!(
                    "the project `internal` cannot be administered over the API: if you operate the deployment, add --data DIR or --table NAME"
                )
            }
            (Some(id), Some("ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN" | "CURRENT_PROJECT_NOT_FOUND")) => {
                anyhow!("none of your teams owns project {id} at {}: run `gateway project list` to see your projects", self.url())
            }
            _ => self.api.refusal(status, &body),
        }
    }

    /// Ends the session on the deployment. Succeeds even if the session has already ended.
    pub(super) async fn end(mut self) -> anyhow::Result<()> {
        match self.own(Method::DELETE, "/auth/sessions/current", None).await {
            Err(_) if !self.renew().await? => Ok(()),
            result => result.map(drop),
        }
    }
}

/// The first project of a data folder, with the folder's admin key.
fn keys_of(data: &Data) -> anyhow::Result<(ProjectId, SecretString)> {
    let file = data.keys_file();
    let saved = SavedKeys::read(Some(&file))?;
    let value =
        |name: &str| saved.value(name).with_context(|| format!("{} has no {name}: sign in with `gateway login URL`", file.display()));
    let [.., admin] = Role::First.names();
    let project =
        ProjectId::parse(&value(PROJECT_ID)?).with_context(|| format!("{PROJECT_ID} in {} is not a project id", file.display()))?;
    Ok((project, value(admin)?.into()))
}

/// The saved session on a deployment.
pub(super) fn saved(url: &str) -> anyhow::Result<Login> {
    Logins::read()?.find(Some(url)).ok_or_else(|| anyhow!("not signed in to {url}: run `gateway login {url}`"))
}

fn ended(url: &str) -> anyhow::Error {
    anyhow!("the session at {url} has ended: run `gateway login {url}` to sign in again")
}
