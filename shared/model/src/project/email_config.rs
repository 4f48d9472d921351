//! The settings for a project's emails.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wire::id::ProjectId;

use crate::document::theme::DEFAULT_THEME;
use crate::project::mail_server::MailServer;

/// The sender, mail server and theme of a project's emails. If the address or the server is absent,
/// the deployment's address or server is used; if the theme is absent, the built-in theme.
#[wire::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailConfig {
    /// The name in the `From` header; if absent, the project's display name.
    pub sender_name: Option<String>,
    /// The address in the `From` header.
    pub sender_email: Option<String>,
    /// The project's own mail server.
    pub server: Option<MailServer>,
    /// The theme of emails that do not specify a theme.
    pub theme_id: Option<Uuid>,
}

/// The parts of a project that are needed to send its emails.
#[derive(Debug, Clone, Deserialize)]
pub struct SendingProject {
    /// The id of the project.
    pub id: ProjectId,
    /// The name that users see.
    pub display_name: String,
    /// A square logo.
    #[serde(default)]
    pub logo_url: Option<String>,
    /// The settings for emails.
    #[serde(default)]
    pub config: SendingConfig,
}

/// The settings of a [`SendingProject`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SendingConfig {
    /// The sender, mail server and theme.
    pub email: EmailConfig,
}

impl EmailConfig {
    /// The theme of emails that do not specify a theme: the project's theme or, if there is none,
    /// the built-in one.
    pub fn theme(&self) -> Uuid {
        self.theme_id.unwrap_or(DEFAULT_THEME)
    }
}
