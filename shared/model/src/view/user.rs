//! Users in responses to clients and to servers.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};
use wire::level::Level;

use crate::metadata::Metadata;
use crate::project::ProjectConfig;
use crate::sign_up::risk::RiskScores;
use crate::team::Team;
use crate::team::view::TeamView;
use crate::text::either::either;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// A user in responses to the user's client.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientUser {
    /// The id.
    pub id: UserId,
    /// The primary address.
    pub primary_email: Option<String>,
    /// Whether the primary address is verified.
    pub primary_email_verified: bool,
    /// The name.
    pub display_name: Option<String>,
    /// The selected team.
    pub selected_team: Option<TeamView>,
    /// The id of the selected team.
    pub selected_team_id: Option<TeamId>,
    /// The picture.
    pub profile_image_url: Option<String>,
    /// When the user signed up, in milliseconds since the Unix epoch.
    pub signed_up_at_millis: i64,
    /// Whether the user has a password.
    pub has_password: bool,
    /// Whether the user may sign in with an emailed code or link.
    pub otp_auth_enabled: bool,
    /// Whether the user has a passkey.
    pub passkey_auth_enabled: bool,
    /// Whether the user has a password or may sign in with an emailed code.
    pub auth_with_email: bool,
    /// Whether the user has an authenticator app, which means that sign-ins require a second
    /// factor.
    pub requires_totp_mfa: bool,
    /// Metadata that the client reads and writes.
    #[schema(value_type = Option<serde_json::Value>)]
    pub client_metadata: Option<Metadata>,
    /// Metadata that the client reads and servers write.
    #[schema(value_type = Option<serde_json::Value>)]
    pub client_read_only_metadata: Option<Metadata>,
    /// Whether the user has not signed up yet.
    pub is_anonymous: bool,
    /// Whether the user is restricted.
    pub is_restricted: bool,
    /// Why the user is restricted.
    pub restricted_reason: Option<RestrictedReason>,
    /// Whether an administrator, a server or a sign-up rule restricted the user.
    pub restricted_by_admin: bool,
    /// The reason for the restriction, which the user can see.
    pub restricted_by_admin_reason: Option<String>,
    /// The user's provider accounts.
    pub oauth_providers: Vec<ProviderAccountView>,
}

/// A provider account of the user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderAccountView {
    /// The provider's id in the project.
    pub id: String,
    /// The user's id at the provider.
    pub account_id: String,
    /// The address reported by the provider.
    pub email: Option<String>,
}

/// A user in responses to servers and administrators.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerUser {
    /// The fields that clients can also read.
    #[serde(flatten)]
    pub client: ClientUser,
    /// Whether the primary address is used for signing in.
    pub primary_email_auth_enabled: bool,
    /// Metadata that only servers read and write.
    #[schema(value_type = Option<serde_json::Value>)]
    pub server_metadata: Option<Metadata>,
    /// When the user was last active, in milliseconds since the Unix epoch.
    pub last_active_at_millis: i64,
    /// Notes on the restriction, which the user cannot see.
    pub restricted_by_admin_private_details: Option<String>,
    /// The country: ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    /// The scores set by a server.
    pub risk_scores: RiskScores,
}

/// A user, with the fields that the caller's access level can read.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum UserView {
    /// The form for clients.
    Client(Box<ClientUser>),
    /// The form for servers and administrators.
    Server(Box<ServerUser>),
}

either!(UserView, ClientUser, ServerUser, "A user, with the fields for the caller's access level.");

impl ClientUser {
    /// The client form of a user, with the selected team.
    fn of(user: &User, config: &ProjectConfig, team: Option<TeamView>) -> Self {
        let primary = user.primary();
        let restricted = user.restricted_reason(config);
        Self {
            id: user.id,
            primary_email: primary.map(|channel| channel.value.to_string()),
            primary_email_verified: primary.is_some_and(|channel| channel.is_verified),
            display_name: user.display_name.clone(),
            selected_team_id: team.as_ref().map(TeamView::id),
            selected_team: team,
            profile_image_url: user.profile_image_url.clone(),
            signed_up_at_millis: user.signed_up_at.as_millisecond(),
            has_password: user.password.is_some(),
            otp_auth_enabled: user.otp_enabled,
            passkey_auth_enabled: !user.passkeys.is_empty(),
            auth_with_email: user.password.is_some() || user.otp_enabled,
            requires_totp_mfa: user.totp.is_some(),
            client_metadata: user.client_metadata.clone(),
            client_read_only_metadata: user.client_read_only_metadata.clone(),
            is_anonymous: user.is_anonymous,
            is_restricted: restricted.is_some(),
            restricted_reason: restricted,
            restricted_by_admin: user.restriction.is_some(),
            restricted_by_admin_reason: user.restriction.as_ref().and_then(|restriction| restriction.reason.clone()),
            oauth_providers: user
                .provider_accounts
                .iter()
                .map(|account| ProviderAccountView {
                    id: account.provider_id.clone(),
                    account_id: account.account_id.clone(),
                    email: account.email.as_ref().map(ToString::to_string),
                })
                .collect(),
        }
    }
}

impl UserView {
    /// The form of a user for an access level.
    pub fn of(user: &User, last_active_at: Timestamp, config: &ProjectConfig, level: Level, team: Option<&Team>) -> Self {
        match level {
            Level::Client => Self::Client(Box::new(ClientUser::of(user, config, team.map(|team| TeamView::of(team, level))))),
            Level::Server | Level::Admin => Self::Server(Box::new(ServerUser::of(user, last_active_at, config, team))),
        }
    }

    /// The view with the restriction that applies in the signed-in user's session; `None` if the
    /// user is not restricted.
    #[must_use]
    pub fn restricted(mut self, reason: Option<RestrictedReason>) -> Self {
        let client = match &mut self {
            Self::Client(client) => client,
            Self::Server(server) => &mut server.client,
        };
        (client.is_restricted, client.restricted_reason) = (reason.is_some(), reason);
        self
    }
}

impl ServerUser {
    /// A user in the server form, with the selected team.
    pub fn of(user: &User, last_active_at: Timestamp, config: &ProjectConfig, team: Option<&Team>) -> Self {
        Self {
            client: ClientUser::of(user, config, team.map(|team| TeamView::of(team, Level::Server))),
            primary_email_auth_enabled: user.primary().is_some_and(|channel| channel.used_for_auth),
            server_metadata: user.server_metadata.clone(),
            last_active_at_millis: last_active_at.as_millisecond(),
            restricted_by_admin_private_details: user.restriction.as_ref().and_then(|restriction| restriction.private_details.clone()),
            country_code: user.country_code.clone(),
            risk_scores: user.risk_scores,
        }
    }
}
