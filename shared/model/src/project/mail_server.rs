//! The mail server of a project's own.
//!
//! Its password is written and never read: who reads the setting gets [`HIDDEN_PASSWORD`] in its place, as published SDKs want something
//! there, and who sends that back, or no password, keeps the one that there is. That goes for the same host, port and user alone: another
//! server asks for the password anew, so that nobody has it sent to a server of theirs.

use crypto::seal::Sealed;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Host;

use crate::project::setting::{Deployment, InvalidSetting, invalid};

/// What is shown in place of a password.
pub const HIDDEN_PASSWORD: &str = "********";

const MAX_USERNAME: usize = 320;
const MAX_PASSWORD: usize = 1024;

/// Where a project's mails are sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailServer {
    /// A domain in its ASCII form, or an address; one of version 6 has brackets.
    pub host: String,
    /// 465 and 2465 speak TLS from the first byte, every other one from STARTTLS on.
    pub port: u16,
    /// None: the server takes mails from everybody who reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub username: String,
    pub password: Sealed,
}

/// A mail server as a request names it. An empty text and a port of zero say as much as nothing.
#[derive(Debug, Default)]
pub struct MailServerInput {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub username: Option<String>,
    pub password: Option<String>,
}

impl MailServer {
    /// What the password of a user is sealed for: copied to another project, server or user it does not open.
    pub fn password_owner(&self, project: &str, username: &str) -> String {
        format!("{project}/{username}@{}:{}", self.host, self.port)
    }

    fn is_at(&self, other: &Self) -> bool {
        self.host == other.host && self.port == other.port
    }
}

impl MailServerInput {
    /// The server, or none when the input names none, or the first thing that is wrong with it.
    pub fn check(self, old: Option<&MailServer>, project: &str, deployment: &Deployment<'_>) -> Result<Option<MailServer>, InvalidSetting> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (host, port) = (given(self.host), self.port.filter(|port| *port > 0));
        let (username, password) = (given(self.username), given(self.password));
        let Some(host) = host else {
            let is_none = port.is_none() && username.is_none() && password.is_none();
            return if is_none { Ok(None) } else { Err(wrong("host", "is required for a mail server of the project's own")) };
        };
        let host = Host::parse(host.trim()).map_err(|_| wrong("host", "must be a domain or an address"))?.to_string();
        let port = port.ok_or_else(|| wrong("port", "is required: 465, or 587 for STARTTLS"))?;
        let mut server = MailServer { host, port, login: None };
        server.login = match username {
            None if password.is_some() => return Err(wrong("username", "is required with a password")),
            None => None,
            Some(username) => Some(server.login(username, password, old, project, deployment)?),
        };
        Ok(Some(server))
    }
}

impl MailServer {
    fn login(
        &self,
        username: String,
        password: Option<String>,
        old: Option<&Self>,
        project: &str,
        deployment: &Deployment<'_>,
    ) -> Result<Login, InvalidSetting> {
        if !is_line(&username, MAX_USERNAME) {
            return Err(wrong("username", "must be one line of at most 320 characters"));
        }
        let Some(password) = password.filter(|password| password != HIDDEN_PASSWORD) else {
            let old = old.filter(|old| old.is_at(self)).and_then(|old| old.login.clone()).filter(|login| login.username == username);
            return old.ok_or_else(|| wrong("password", "is required for another host, port or username"));
        };
        if !is_line(&password, MAX_PASSWORD) {
            return Err(wrong("password", "must be one line of at most 1024 characters"));
        }
        let owner = self.password_owner(project, &username);
        let password = deployment.sealer.seal(deployment.entropy, &owner, &SecretString::from(password));
        Ok(Login { username, password: password.map_err(|_| wrong("password", "cannot be sealed"))? })
    }
}

fn is_line(text: &str, most: usize) -> bool {
    text.chars().count() <= most && !text.chars().any(char::is_control)
}

fn wrong(field: &str, message: &'static str) -> InvalidSetting {
    invalid(format!("config.email_config.{field}"), message)
}
