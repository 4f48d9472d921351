//! Kinds of changes that users are told of.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What changes are about. A project can switch off the emails about each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema, deserr::Deserr, strum::EnumIter)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    #[deserr(rename = "password")]
    Password,
    #[deserr(rename = "sign-in-address")]
    SignInAddress,
    #[deserr(rename = "authenticator-app")]
    AuthenticatorApp,
    #[deserr(rename = "provider-account")]
    ProviderAccount,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    PasswordSet,
    PasswordChanged,
    PasswordReset,
    PasswordRemoved,
    AddressAdded,
    AddressRemoved,
    AddressMadePrimary,
    AuthenticatorAdded,
    AuthenticatorRemoved,
    ProviderLinked,
    ProviderUnlinked,
}

impl Kind {
    pub fn topic(self) -> Topic {
        match self {
            Self::PasswordSet | Self::PasswordChanged | Self::PasswordReset | Self::PasswordRemoved => Topic::Password,
            Self::AddressAdded | Self::AddressRemoved | Self::AddressMadePrimary => Topic::SignInAddress,
            Self::AuthenticatorAdded | Self::AuthenticatorRemoved => Topic::AuthenticatorApp,
            Self::ProviderLinked | Self::ProviderUnlinked => Topic::ProviderAccount,
        }
    }
}
