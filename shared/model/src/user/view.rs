//! What a client and a server read of a user.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use wire::id::{TeamId, UserId};
use wire::level::Level;

use crate::metadata::Metadata;
use crate::project::ProjectConfig;
use crate::sign_up::risk::RiskScores;
use crate::team::Team;
use crate::team::view::TeamView;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// A user, as its own client reads it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientUser {
    pub id: UserId,
    pub primary_email: Option<String>,
    pub primary_email_verified: bool,
    pub display_name: Option<String>,
    pub selected_team: Option<TeamView>,
    pub selected_team_id: Option<TeamId>,
    pub profile_image_url: Option<String>,
    /// Milliseconds since the epoch.
    pub signed_up_at_millis: i64,
    pub has_password: bool,
    pub otp_auth_enabled: bool,
    pub passkey_auth_enabled: bool,
    pub auth_with_email: bool,
    pub requires_totp_mfa: bool,
    pub client_metadata: Option<Metadata>,
    pub client_read_only_metadata: Option<Metadata>,
    pub is_anonymous: bool,
    pub is_restricted: bool,
    pub restricted_reason: Option<RestrictedReason>,
    pub restricted_by_admin: bool,
    pub restricted_by_admin_reason: Option<String>,
    pub oauth_providers: Vec<ProviderAccountView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderAccountView {
    pub id: String,
    pub account_id: String,
    pub email: Option<String>,
}

/// A user, as a server and an administrator read it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerUser {
    #[serde(flatten)]
    pub client: ClientUser,
    pub primary_email_auth_enabled: bool,
    pub server_metadata: Option<Metadata>,
    /// Milliseconds since the epoch.
    pub last_active_at_millis: i64,
    pub restricted_by_admin_private_details: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    pub risk_scores: RiskScores,
}

/// A user in the form that the reader's access type gives.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum UserView {
    Client(Box<ClientUser>),
    Server(Box<ServerUser>),
}

impl PartialSchema for UserView {
    /// Not `oneOf`, as would be derived: what a server reads has all that a client reads, so it is of both forms.
    fn schema() -> RefOr<Schema> {
        AnyOfBuilder::new()
            .item(Ref::from_schema_name(ClientUser::name()))
            .item(Ref::from_schema_name(ServerUser::name()))
            .description(Some("A user in the form that the reader's access type gives."))
            .into()
    }
}

impl ToSchema for UserView {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend([(ClientUser::name().into_owned(), ClientUser::schema()), (ServerUser::name().into_owned(), ServerUser::schema())]);
        ClientUser::schemas(schemas);
        ServerUser::schemas(schemas);
    }
}

impl ClientUser {
    /// A user, with the team that it has selected, as it is read.
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
            passkey_auth_enabled: false,
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
    /// What a reader of this access type sees.
    pub fn of(user: &User, last_active_at: Timestamp, config: &ProjectConfig, level: Level, team: Option<&Team>) -> Self {
        match level {
            Level::Client => Self::Client(Box::new(ClientUser::of(user, config, team.map(|team| TeamView::of(team, level))))),
            Level::Server | Level::Admin => Self::Server(Box::new(ServerUser::of(user, last_active_at, config, team))),
        }
    }
}

impl ServerUser {
    /// A user, with the team that it has selected.
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
