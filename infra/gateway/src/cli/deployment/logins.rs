//! The file with the sessions of `gateway login`, one per deployment. Only the user can read the
//! file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde::{Deserialize, Serialize};
use wire::environment::variable;

use crate::data::{private_folder, text_of, write_private};

/// The user's session on a deployment.
#[derive(Serialize, Deserialize)]
pub(super) struct Login {
    pub(super) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_key: Option<String>,
    pub(super) refresh_token: String,
}

/// The sessions in the order in which they were created. Commands use the last session by default.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Logins {
    logins: Vec<Login>,
}

impl Logins {
    /// The path of the file in the folder of the user's settings; `None` if `HOME` is not set and
    /// `XDG_CONFIG_HOME` is not an absolute path.
    fn file() -> Option<PathBuf> {
        let settings = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        let settings = settings.or_else(|| Some(Path::new(&variable("HOME")?).join(".config")))?;
        Some(settings.join("gatelet").join("logins.json"))
    }

    pub(super) fn read() -> anyhow::Result<Self> {
        let Some(file) = Self::file() else { return Ok(Self::default()) };
        let Some(text) = text_of(&file)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|_| anyhow!("{} is damaged: remove it, and sign in again", file.display()))
    }

    fn write(&self) -> anyhow::Result<()> {
        let file = Self::file().context("there is nowhere to save the session: set HOME, or XDG_CONFIG_HOME to an absolute path")?;
        let folder = file.parent().with_context(|| format!("the path {} has no parent folder", file.display()))?;
        private_folder(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        write_private(&file, &serde_json::to_string(self)?)
    }

    /// The session on this deployment or, without a URL, the last session; `None` if there is none.
    pub(super) fn find(self, url: Option<&str>) -> Option<Login> {
        self.logins.into_iter().rev().find(|login| url.is_none_or(|url| login.url == url))
    }

    /// The deployment that commands use by default; `None` without a session.
    pub(super) fn current(&self) -> Option<&str> {
        self.logins.last().map(|login| login.url.as_str())
    }

    /// Saves a session. Returns the session that it replaces on the same deployment, if there was
    /// one.
    pub(super) fn save(login: Login) -> anyhow::Result<Option<Login>> {
        let mut saved = Self::read()?;
        let previous = saved.take(&login.url);
        saved.logins.push(login);
        saved.write()?;
        Ok(previous)
    }

    /// Forgets the session on this deployment, and returns the remaining sessions.
    pub(super) fn forget(url: &str) -> anyhow::Result<Self> {
        let mut saved = Self::read()?;
        if saved.take(url).is_some() {
            saved.write()?;
        }
        Ok(saved)
    }

    fn take(&mut self, url: &str) -> Option<Login> {
        let place = self.logins.iter().position(|login| login.url == url)?;
        Some(self.logins.remove(place))
    }
}
