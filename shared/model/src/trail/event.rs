//! The events in an account that the trail records.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::email::notice::Kind;

/// An event in an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The account was created.
    #[deserr(rename = "created")]
    Created,
    /// A sign-up was rejected by the project's sign-up rules.
    #[deserr(rename = "sign-up-rejected")]
    SignUpRejected,
    /// A sign-in completed.
    #[deserr(rename = "sign-in")]
    SignIn,
    /// The first factor of a sign-in was correct, and the second factor was requested.
    #[deserr(rename = "second-factor-asked")]
    SecondFactorAsked,
    /// The device was remembered after the second factor was proved.
    #[deserr(rename = "device-remembered")]
    DeviceRemembered,
    /// A remembered device replaced the second factor.
    #[deserr(rename = "device-used")]
    DeviceUsed,
    /// A device was forgotten.
    #[deserr(rename = "device-forgotten")]
    DeviceForgotten,
    /// The password, code or passkey response at a sign-in was wrong.
    #[deserr(rename = "sign-in-failed")]
    SignInFailed,
    /// A session was created for someone else to use on behalf of the user.
    #[deserr(rename = "impersonation")]
    Impersonation,
    /// A signed-in user authenticated again.
    #[deserr(rename = "reauthenticated")]
    Reauthenticated,
    /// A signed-in user gave a wrong password, code or passkey response.
    #[deserr(rename = "proof-failed")]
    ProofFailed,
    /// The user signed out, which ended the current session.
    #[deserr(rename = "sign-out")]
    SignOut,
    /// Sessions of the user were ended: one session, all sessions, or all except the current one.
    #[deserr(rename = "sessions-ended")]
    SessionsEnded,
    /// A password was set for an account without one.
    #[deserr(rename = "password-set")]
    PasswordSet,
    /// The password was changed.
    #[deserr(rename = "password-changed")]
    PasswordChanged,
    /// The password was reset with an emailed code.
    #[deserr(rename = "password-reset")]
    PasswordReset,
    /// The password was removed.
    #[deserr(rename = "password-removed")]
    PasswordRemoved,
    /// The user can now sign in with an address.
    #[deserr(rename = "address-added")]
    AddressAdded,
    /// The user can no longer sign in with an address.
    #[deserr(rename = "address-removed")]
    AddressRemoved,
    /// An address became primary.
    #[deserr(rename = "address-made-primary")]
    AddressMadePrimary,
    /// An address was verified.
    #[deserr(rename = "address-verified")]
    AddressVerified,
    /// Sign-in by emailed codes and links was enabled again.
    #[deserr(rename = "email-codes-enabled")]
    EmailCodesEnabled,
    /// Sign-in by emailed codes and links was disabled.
    #[deserr(rename = "email-codes-disabled")]
    EmailCodesDisabled,
    /// An authenticator app was added.
    #[deserr(rename = "authenticator-added")]
    AuthenticatorAdded,
    /// One of several authenticator apps was removed.
    #[deserr(rename = "one-authenticator-removed")]
    OneAuthenticatorRemoved,
    /// The last authenticator app was removed, which turns off the second factor.
    #[deserr(rename = "authenticator-removed")]
    AuthenticatorRemoved,
    /// A set of recovery codes was created.
    #[deserr(rename = "recovery-codes-created")]
    RecoveryCodesCreated,
    /// A recovery code was used.
    #[deserr(rename = "recovery-code-used")]
    RecoveryCodeUsed,
    /// A provider account was linked, or the user can now sign in with a linked account.
    #[deserr(rename = "provider-linked")]
    ProviderLinked,
    /// A provider account was unlinked, or the user can no longer sign in with it.
    #[deserr(rename = "provider-unlinked")]
    ProviderUnlinked,
    /// A passkey was registered.
    #[deserr(rename = "passkey-added")]
    PasskeyAdded,
    /// A passkey was removed.
    #[deserr(rename = "passkey-removed")]
    PasskeyRemoved,
    /// A passkey was refused because its authenticator may have been copied.
    #[deserr(rename = "passkey-clone-suspected")]
    PasskeyCloneSuspected,
    /// An API key of the user was created.
    #[deserr(rename = "api-key-created")]
    ApiKeyCreated,
    /// An API key of the user was found in a public place and revoked.
    #[deserr(rename = "api-key-exposed")]
    ApiKeyExposed,
    /// The user allowed an OAuth client to sign the user in.
    #[deserr(rename = "grant-given")]
    GrantGiven,
    /// A grant of the user to an OAuth client was ended.
    #[deserr(rename = "grant-ended")]
    GrantEnded,
    /// A refresh token of an OAuth client was used again after it had been replaced.
    #[deserr(rename = "client-token-replayed")]
    ClientTokenReplayed,
    /// An administrator, a server or a sign-up rule restricted the account.
    #[deserr(rename = "restricted")]
    Restricted,
    /// An administrator or a server lifted the restriction.
    #[deserr(rename = "unrestricted")]
    Unrestricted,
    /// The account was deleted.
    #[deserr(rename = "deleted")]
    Deleted,
}

impl From<Kind> for Event {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::PasswordSet => Self::PasswordSet,
            Kind::PasswordChanged => Self::PasswordChanged,
            Kind::PasswordReset => Self::PasswordReset,
            Kind::PasswordRemoved => Self::PasswordRemoved,
            Kind::AddressAdded => Self::AddressAdded,
            Kind::AddressVerified => Self::AddressVerified,
            Kind::AddressRemoved => Self::AddressRemoved,
            Kind::AddressMadePrimary => Self::AddressMadePrimary,
            Kind::EmailCodesEnabled => Self::EmailCodesEnabled,
            Kind::EmailCodesDisabled => Self::EmailCodesDisabled,
            Kind::AuthenticatorAdded => Self::AuthenticatorAdded,
            Kind::OneAuthenticatorRemoved => Self::OneAuthenticatorRemoved,
            Kind::AuthenticatorRemoved => Self::AuthenticatorRemoved,
            Kind::RecoveryCodesCreated => Self::RecoveryCodesCreated,
            Kind::RecoveryCodeUsed => Self::RecoveryCodeUsed,
            Kind::ProviderLinked => Self::ProviderLinked,
            Kind::ProviderUnlinked => Self::ProviderUnlinked,
            Kind::ApiKeyCreated => Self::ApiKeyCreated,
            Kind::ApiKeyExposed => Self::ApiKeyExposed,
            Kind::PasskeyAdded => Self::PasskeyAdded,
            Kind::PasskeyRemoved => Self::PasskeyRemoved,
            Kind::PasskeyCloneSuspected => Self::PasskeyCloneSuspected,
            Kind::ClientTokenReplayed => Self::ClientTokenReplayed,
        }
    }
}
