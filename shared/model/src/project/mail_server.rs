//! A project's own mail server.
//!
//! The server's password can be set but is never returned. Responses contain [`HIDDEN_SECRET`] in
//! place of the password, because published SDKs expect a value. A request with [`HIDDEN_SECRET`],
//! or without a password, keeps the existing password, but only for the same host, port and user
//! name. For another server or user name, the password must be sent again, so that nobody can
//! direct the existing password to their own server.

use crypto::seal::SealedText;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Host;

use crate::setting::{Deployment, HIDDEN_SECRET, SettingRefusal, invalid};

const MAX_USERNAME: usize = 320;
const MAX_PASSWORD: usize = 1024;

/// The server that sends a project's emails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailServer {
    /// A domain in its ASCII form, or an IP address; an IPv6 address is in brackets.
    pub host: String,
    /// The port: 465 and 2465 use TLS from the start; all other ports use STARTTLS.
    pub port: u16,
    /// The credentials; absent if the server does not require authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

/// The credentials for a mail server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// The user name.
    pub username: String,
    /// The password, sealed for the owner [`MailServer::password_owner`].
    pub password: SealedText,
}

/// A mail server, as described in a request. An empty string and port zero count as absent.
#[derive(Debug, Default)]
pub struct MailServerInput {
    /// A domain or an IP address; an IPv6 address may be in brackets.
    pub host: Option<String>,
    /// The port, from 1 to 65535.
    pub port: Option<u16>,
    /// The user name; absent for a server without authentication.
    pub username: Option<String>,
    /// The password; if absent or [`HIDDEN_SECRET`], the existing password is kept.
    pub password: Option<String>,
}

impl MailServer {
    /// The owner under which the password for this user name is sealed. A sealed password that is
    /// copied to another project, server or user name cannot be opened.
    pub fn password_owner(&self, project: &str, username: &str) -> String {
        format!("{project}/{username}@{}:{}", self.host, self.port)
    }

    fn is_at(&self, other: &Self) -> bool {
        self.host == other.host && self.port == other.port
    }
}

impl MailServerInput {
    /// The server; `None` if the input does not contain a server. Fails with the first problem
    /// found.
    pub fn check(self, old: Option<&MailServer>, project: &str, deployment: &Deployment<'_>) -> Result<Option<MailServer>, SettingRefusal> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (host, port) = (given(self.host), self.port.filter(|port| *port > 0));
        let (username, password) = (given(self.username), given(self.password));
        let Some(host) = host else {
            let is_none = port.is_none() && username.is_none() && password.is_none();
            return if is_none { Ok(None) } else { Err(wrong("host", "is required for the project's own mail server")) };
        };
        let host = host.trim();
        let host = host.parse().map(Host::Ipv6).or_else(|_| Host::parse(host));
        let host = host.map_err(|_| wrong("host", "must be a domain or an IP address"))?.to_string();
        let port = port.ok_or_else(|| wrong("port", "is required: 465 for TLS, or 587 for STARTTLS"))?;
        let mut server = MailServer { host, port, login: None };
        server.login = match username {
            None if password.is_some() => return Err(wrong("username", "is required together with a password")),
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
    ) -> Result<Login, SettingRefusal> {
        if !is_line(&username, MAX_USERNAME) {
            return Err(wrong("username", "must be one line of at most 320 characters"));
        }
        let Some(password) = password.filter(|password| password != HIDDEN_SECRET) else {
            let old = old.filter(|old| old.is_at(self)).and_then(|old| old.login.clone()).filter(|login| login.username == username);
            return old.ok_or_else(|| wrong("password", "is required, because no password is stored for this host, port and username"));
        };
        if !is_line(&password, MAX_PASSWORD) {
            return Err(wrong("password", "must be one line of at most 1024 characters"));
        }
        let owner = self.password_owner(project, &username);
        let password = deployment.sealer.seal(deployment.entropy, &owner, &SecretString::from(password));
        Ok(Login {
            username,
            password: password.map_err(|_| wrong("password", "cannot be encrypted, because this function has no GATELET_SECRET"))?,
        })
    }
}

fn is_line(text: &str, max: usize) -> bool {
    text.chars().count() <= max && !text.chars().any(char::is_control)
}

fn wrong(field: &str, message: &'static str) -> SettingRefusal {
    invalid(format!("config.email_config.{field}"), message)
}
