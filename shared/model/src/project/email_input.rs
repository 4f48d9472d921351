//! The sender and the mail server of a project in requests of administrators.

use deserr::Deserr;
use utoipa::ToSchema;

use crate::project::EmailConfig;
use crate::project::mail_server::MailServerInput;
use crate::setting::{Deployment, SettingRefusal, invalid};
use crate::text::line;

/// The sender and the mail server.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EmailInput {
    /// `shared` uses the deployment's mail server and sender address. `standard` uses `sender_name`
    /// and `sender_email`, and the deployment's mail server if `host` is absent.
    #[deserr(rename = "type")]
    pub r#type: String,
    /// The project's own mail server: a domain or an IP address.
    pub host: Option<String>,
    /// Ports 465 and 2465 use TLS from the start; all other ports use STARTTLS.
    pub port: Option<u16>,
    /// The user name; absent for a server without authentication.
    pub username: Option<String>,
    /// If the password is absent, or is sent back as it was read, the existing password is kept,
    /// provided the host, port and username do not change.
    pub password: Option<String>,
    /// The name in the `From` header; if absent, the project's display name.
    pub sender_name: Option<String>,
    /// The address in the `From` header.
    pub sender_email: Option<String>,
}

impl EmailInput {
    /// The settings from the request, with the theme of the existing settings `old`. If there is no
    /// new password, the password in `old` is kept, provided the host, port and username do not
    /// change. Fails with the first problem found.
    pub fn check(self, old: &EmailConfig, project: &str, deployment: &Deployment<'_>) -> Result<EmailConfig, SettingRefusal> {
        let theme_id = old.theme_id;
        match self.r#type.as_str() {
            "shared" => Ok(EmailConfig { theme_id, ..EmailConfig::default() }),
            "standard" => {
                let email = self.sender_email.as_deref().and_then(|text| crate::email::Email::parse(text).ok());
                let email = email.ok_or_else(|| invalid("config.email_config.sender_email", "must be an email address"))?;
                let sender_name = self.sender_name.filter(|name| !name.is_empty());
                line::check(sender_name.as_deref().unwrap_or_default(), line::OPTIONAL_NAME)
                    .map_err(|error| invalid("config.email_config.sender_name", error.to_string()))?;
                let server = MailServerInput { host: self.host, port: self.port, username: self.username, password: self.password };
                let server = server.check(old.server.as_ref(), project, deployment)?;
                // A sender that was permitted when it was set is kept. If the sender is no longer
                // permitted, emails are sent from the deployment's address.
                let is_kept = old.server.is_none() && old.sender_email.as_deref() == Some(email.as_str());
                if server.is_none() && !is_kept && !deployment.senders.allow(email.as_str()) {
                    return Err(invalid("config.email_config.sender_email", deployment.senders.advice()));
                }
                Ok(EmailConfig { sender_name, sender_email: Some(email.to_string()), server, theme_id })
            }
            _ => Err(invalid("config.email_config.type", "must be shared or standard")),
        }
    }
}
