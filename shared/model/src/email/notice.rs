//! The kinds of changes about which users are notified.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a change concerns. Projects can switch off the notices of each topic separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema, deserr::Deserr, strum::EnumIter)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The password.
    #[deserr(rename = "password")]
    Password,
    /// The addresses that the user signs in with, and whether emailed codes and links can be used
    /// to sign in.
    #[deserr(rename = "sign-in-address")]
    SignInAddress,
    /// The authenticator apps and the recovery codes.
    #[deserr(rename = "authenticator-app")]
    AuthenticatorApp,
    /// Accounts at providers.
    #[deserr(rename = "provider-account")]
    ProviderAccount,
    /// The user's API keys.
    #[deserr(rename = "api-key")]
    ApiKey,
    /// Passkeys.
    #[deserr(rename = "passkey")]
    Passkey,
    /// The OAuth clients that the user has signed in to.
    #[deserr(rename = "oauth-client")]
    OauthClient,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A password was set without an emailed code, in an account that did not have a password.
    PasswordSet,
    /// The password was changed without an emailed code.
    PasswordChanged,
    /// A password was set with an emailed code, whether or not the account had a password.
    PasswordReset,
    /// The password was removed.
    PasswordRemoved,
    /// The user can now sign in with an address.
    AddressAdded,
    /// An address that the user cannot sign in with was verified.
    AddressVerified,
    /// The user can no longer sign in with an address.
    AddressRemoved,
    /// An address became the primary address.
    AddressMadePrimary,
    /// Sign-in by emailed codes and links was enabled again.
    EmailCodesEnabled,
    /// Sign-in by emailed codes and links was disabled.
    EmailCodesDisabled,
    /// An authenticator app was set up, as the first one, an additional one or a replacement.
    AuthenticatorAdded,
    /// One of several authenticator apps was removed.
    OneAuthenticatorRemoved,
    /// The last authenticator app was removed, which switches the second factor off.
    AuthenticatorRemoved,
    /// A set of recovery codes was created, which replaces any earlier set.
    RecoveryCodesCreated,
    /// A recovery code was used in place of a code from the authenticator app.
    RecoveryCodeUsed,
    /// An account at a provider was linked, or the user can now sign in with a linked account.
    ProviderLinked,
    /// An account at a provider was unlinked, or the user can no longer sign in with the account.
    ProviderUnlinked,
    /// An API key was created.
    ApiKeyCreated,
    /// An API key was found in public, and revoked.
    ApiKeyExposed,
    /// A passkey was registered.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// A passkey was refused because its authenticator may have been copied.
    PasskeyCloneSuspected,
    /// A refresh token of an OAuth client was used again after it had been replaced.
    ClientTokenReplayed,
}

impl Kind {
    /// The kind of notice that is counted in the account for a notice of this kind. Kinds added
    /// since earlier versions must not be stored in the account, because those versions could then
    /// not read the account.
    pub(crate) fn counted_as(self) -> Self {
        match self {
            Self::EmailCodesEnabled | Self::AddressVerified => Self::AddressAdded,
            Self::EmailCodesDisabled => Self::AddressRemoved,
            Self::ClientTokenReplayed => Self::ApiKeyExposed,
            known => known,
        }
    }

    /// The topic that the kind of change belongs to.
    pub fn topic(self) -> Topic {
        match self {
            Self::PasswordSet | Self::PasswordChanged | Self::PasswordReset | Self::PasswordRemoved => Topic::Password,
            Self::AddressAdded
            | Self::AddressVerified
            | Self::AddressRemoved
            | Self::AddressMadePrimary
            | Self::EmailCodesEnabled
            | Self::EmailCodesDisabled => Topic::SignInAddress,
            Self::AuthenticatorAdded
            | Self::OneAuthenticatorRemoved
            | Self::AuthenticatorRemoved
            | Self::RecoveryCodesCreated
            | Self::RecoveryCodeUsed => Topic::AuthenticatorApp,
            Self::ProviderLinked | Self::ProviderUnlinked => Topic::ProviderAccount,
            Self::ApiKeyCreated | Self::ApiKeyExposed => Topic::ApiKey,
            Self::PasskeyAdded | Self::PasskeyRemoved | Self::PasskeyCloneSuspected => Topic::Passkey,
            Self::ClientTokenReplayed => Topic::OauthClient,
        }
    }
}
