//! The targets of operations, as recorded in the trail.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::DocumentKind;

/// The maximum length of a target id, in characters; longer ids are truncated.
pub const MAX_TARGET_ID: usize = 256;

/// A target of an operation, other than an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Target {
    /// The kind of target.
    #[serde(rename = "type")]
    pub kind: TargetKind,
    /// The id of the target; at most 256 characters.
    pub id: String,
}

/// Kinds of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A project.
    Project,
    /// A team.
    Team,
    /// An invitation to a team.
    Invitation,
    /// A permission's definition, or a grant of a permission.
    Permission,
    /// A session.
    Session,
    /// A contact channel.
    ContactChannel,
    /// An authenticator app.
    Authenticator,
    /// A remembered device.
    Device,
    /// A provider in the project's settings.
    Provider,
    /// An account at a provider.
    ProviderAccount,
    /// A passkey.
    Passkey,
    /// A set of API keys.
    KeySet,
    /// An RSA key that signs access tokens.
    SigningKey,
    /// An API key of a user or team.
    ApiKey,
    /// A level of the project's configuration.
    ConfigLevel,
    /// A template of emails.
    EmailTemplate,
    /// A theme of emails.
    EmailTheme,
    /// A draft of an email.
    EmailDraft,
    /// An entry of the outbox.
    Email,
    /// A category of emails.
    NotificationCategory,
    /// A webhook endpoint.
    WebhookEndpoint,
    /// A delivery to a webhook endpoint.
    WebhookDelivery,
    /// An OAuth client.
    OauthClient,
    /// A grant of a user to an OAuth client.
    OauthGrant,
    /// A resource for which OAuth clients get access tokens.
    OauthResource,
}

impl From<DocumentKind> for TargetKind {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Template => Self::EmailTemplate,
            DocumentKind::Theme => Self::EmailTheme,
            DocumentKind::Draft => Self::EmailDraft,
        }
    }
}

impl Target {
    /// Makes a target; an id that is too long is truncated.
    pub fn new(kind: TargetKind, id: impl ToString) -> Self {
        Self { kind, id: id.to_string().chars().take(MAX_TARGET_ID).collect() }
    }
}
