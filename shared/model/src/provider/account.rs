//! A provider account: an account at an OAuth provider that belongs to one user of a project,
//! either for signing in or only for access tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::{ProviderAccountId, UserId};
use wire::level::Level;

use crate::email::Email;
use crate::provider::catalog;

/// The maximum length of a user id at a provider, in bytes. The id is part of a key in the table.
const MAX_ACCOUNT_ID: usize = 512;

/// An account at an OAuth provider.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderAccount {
    /// The id of the provider account.
    pub id: ProviderAccountId,
    /// The provider's id in the project.
    pub provider_id: String,
    /// The issuer that identified the account; absent for the provider's first issuer
    /// ([`registration`](crate::provider::registration)).
    pub issuer: Option<String>,
    /// The user's id at the provider.
    pub account_id: String,
    /// The address that the provider reported, if any.
    pub email: Option<Email>,
    /// Whether the user can sign in with the account.
    pub allow_sign_in: bool,
    /// Whether the app may get access tokens for the account.
    pub allow_connected_accounts: bool,
}

/// A provider account in responses.
#[wire::sparse]
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderAccountRead {
    /// The user.
    pub user_id: UserId,
    /// The id of the provider account.
    pub id: ProviderAccountId,
    /// The address that the provider reports.
    pub email: Option<Email>,
    /// The provider's id in the project's settings.
    pub provider_config_id: String,
    /// The provider's id in the catalog, or `oidc` for all other issuers.
    pub r#type: String,
    /// Whether the user can sign in with the account.
    pub allow_sign_in: bool,
    /// Whether the app may get the provider's access tokens for the account.
    pub allow_connected_accounts: bool,
    /// The user's id at the provider; included only with server access.
    pub account_id: Option<String>,
}

impl ProviderAccountRead {
    /// A user's provider account in a response to callers with this access level.
    pub fn of(user: UserId, account: &ProviderAccount, level: Level) -> Self {
        Self {
            user_id: user,
            id: account.id,
            email: account.email.clone(),
            provider_config_id: account.provider_id.clone(),
            r#type: catalog::find(&account.provider_id).map_or_else(|| "oidc".to_owned(), |known| known.id.to_owned()),
            allow_sign_in: account.allow_sign_in,
            allow_connected_accounts: account.allow_connected_accounts,
            account_id: (level >= Level::Server).then(|| account.account_id.clone()),
        }
    }
}

/// Whether a string can be a user's id at a provider.
pub fn is_account_id(text: &str) -> bool {
    (1..=MAX_ACCOUNT_ID).contains(&text.len())
}

impl ProviderAccount {
    /// Whether both accounts are the same account at the same issuer of a provider.
    pub fn is_same(&self, other: &Self) -> bool {
        self.has_source_of(other) && self.account_id == other.account_id
    }

    /// Whether both accounts are at the same issuer of a provider.
    pub(crate) fn has_source_of(&self, other: &Self) -> bool {
        (&self.provider_id, &self.issuer) == (&other.provider_id, &other.issuer)
    }
}
