//! Everything that a client can create and that stays until someone removes it has a quota.

use std::collections::BTreeMap;

use api::http::TableAction::{PutItem, UpdateItem};
use errors::KnownError;
use infra::{Operation, operations};
use model::quota::Quota;
use wire::level::Level;

/// Why an operation that writes does not need a quota. A new operation may be listed here only if
/// repeating it forever leaves nothing behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leftovers {
    /// The created items expire: codes, their attempts, challenges, sessions, tokens of providers.
    WhatExpires,
    /// The operation changes, replaces or removes existing items.
    WhatWasThere,
    /// A user has at most one such item for each of the project's OAuth clients.
    OnePerClient,
    /// The operation may create an account. The quota of an owner does not apply to accounts:
    /// sign-ups are limited by address, network and recipient, and a project can close sign-up.
    Accounts,
}

const WITHOUT: &[(Leftovers, &[&str])] = &[
    (
        Leftovers::WhatExpires,
        &[
            "auth-challenge-create",
            "auth-cli-complete",
            "auth-cli-create",
            "auth-cli-poll",
            "auth-connected-account-token",
            "auth-connected-account-token-of",
            "auth-connected-account-token-own",
            "auth-oauth-cross-domain",
            "auth-oauth-client-push",
            "auth-oauth-client-token",
            "auth-oauth-device-authorize",
            "auth-otp-check-sign-in-code",
            "auth-otp-send-sign-in-code",
            "auth-passkey-initiate-authentication",
            "openid-client-register",
            "auth-passkey-initiate-registration",
            "auth-passkey-sign-in",
            "auth-password-check-reset-code",
            "auth-password-send-reset-code",
            "auth-password-sign-in",
            "auth-session-refresh",
            "openid-authorization-begin",
            "teams-invitation-check-code",
            "teams-invitation-details",
            "users-contact-channel-check-code",
            "users-contact-channel-send-code",
            "users-contact-channel-send-own-code",
        ],
    ),
    (
        Leftovers::WhatWasThere,
        &[
            "auth-mfa-authenticator-delete",
            "auth-mfa-authenticator-update",
            "auth-mfa-recovery-codes-create",
            "auth-not-me",
            "auth-oauth-client-revoke",
            "auth-oauth-provider-delete",
            "auth-oauth-provider-update",
            "auth-passkey-delete",
            "auth-passkey-update",
            "auth-password-reset",
            "auth-password-set",
            "auth-password-update",
            "auth-session-delete-all",
            "auth-session-reauthenticate",
            "emails-preference-update",
            "emails-unsubscribe",
            "keys-exposed-key-revoke",
            "keys-team-key-update",
            "keys-user-key-update",
            "teams-invitation-revoke",
            "teams-member-profile-update",
            "teams-membership-delete",
            "teams-team-delete",
            "teams-team-update",
            "users-contact-channel-delete",
            "users-contact-channel-release",
            "users-contact-channel-update",
            "users-contact-channel-verify",
            "users-me-delete",
        ],
    ),
    (Leftovers::OnePerClient, &["openid-authorization-complete"]),
    (Leftovers::Accounts, &["auth-anonymous-sign-up", "auth-oauth-apple-native", "auth-otp-sign-in", "auth-password-sign-up"]),
];

/// Whether strangers or clients can make the operation create an item.
fn creates(operation: &Operation) -> bool {
    let is_of_clients = matches!(operation.description.level, None | Some(Level::Client));
    is_of_clients && operation.route.table.actions.iter().any(|action| matches!(action, PutItem | UpdateItem))
}

fn with_quota() -> BTreeMap<&'static str, Quota> {
    Quota::ALL.iter().copied().flat_map(|quota| quota.row().operations.iter().map(move |name| (*name, quota))).collect()
}

#[test]
fn whatever_a_client_can_create_has_a_quota_or_does_not_stay() {
    let quotas = with_quota();
    let without: BTreeMap<&str, Leftovers> = WITHOUT.iter().flat_map(|(leaves, names)| names.iter().map(|name| (*name, *leaves))).collect();
    for operation in operations::all().into_iter().filter(creates) {
        let name = operation.route.name;
        assert!(
            quotas.contains_key(name) || without.contains_key(name),
            "{name} writes with client access: name it in shared/model/src/quota.rs, or say in this test why it needs no quota"
        );
    }
}

#[test]
fn the_table_of_quotas_names_only_operations_that_create() {
    let all: BTreeMap<&str, bool> = operations::all().iter().map(|operation| (operation.route.name, creates(operation))).collect();
    let mut quotas = with_quota();
    quotas.retain(|name, quota| *quota != Quota::KeySets || all.get(name) != Some(&false));
    for name in quotas.keys().chain(WITHOUT.iter().flat_map(|(_, names)| *names)) {
        assert_eq!(all.get(name), Some(&true), "{name} is not an operation that clients write with");
    }
    for name in WITHOUT.iter().flat_map(|(_, names)| *names) {
        assert!(!quotas.contains_key(name), "{name} has a quota");
    }
}

#[test]
fn the_error_of_every_quota_is_in_the_catalog_and_announced() {
    let all = operations::all();
    for &quota in Quota::ALL {
        let Some(code) = quota.row().code else { continue };
        assert!(KnownError::CODES.contains(&code), "{code} is in no catalog");
        // The flow of a provider reports this error in its redirect, so the code is named by
        // another operation.
        let is_answered = all.iter().any(|operation| operation.route.codes().any(|other| other == code));
        assert!(is_answered, "no operation answers {code} of {quota:?}");
    }
}
