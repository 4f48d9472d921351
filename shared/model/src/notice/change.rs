//! The changes that notices report: to how a user signs in, and to the user's API keys.

use serde::Serialize;

use crate::email::Email;
use crate::email::notice::Kind;
use crate::owned_key::OwnedKey;
use crate::provider::account::ProviderAccount;
use crate::user::passkey::Passkey;
use crate::user::totp::Authenticator;
use crate::user::{Channel, User};

/// A change, as described in a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The kind of change.
    pub kind: Kind,
    /// The address, the provider's id, the number of remaining recovery codes, the last four
    /// characters of the API key, or the name of the OAuth client; absent for other kinds.
    pub detail: Option<String>,
}

impl Change {
    pub(crate) fn of(kind: Kind) -> Self {
        Self { kind, detail: None }
    }

    /// The creation of an API key.
    pub fn from_new_key(key: &OwnedKey) -> Self {
        Self::about(Kind::ApiKeyCreated, &key.last_four)
    }

    /// The replay of a refresh token that belongs to the OAuth client with this name (chosen by
    /// administrators).
    pub fn from_replayed_token(client: &str) -> Self {
        Self::about(Kind::ClientTokenReplayed, client)
    }

    pub(crate) fn about(kind: Kind, detail: impl ToString) -> Self {
        Self { kind, detail: Some(detail.to_string()) }
    }
}

/// The changes to how a user signs in, and to the user's API keys. A new password is reported as
/// [`Kind::PasswordSet`] or [`Kind::PasswordChanged`]; if it was set with an emailed code, the
/// caller replaces the kind with [`Kind::PasswordReset`].
pub fn changes(before: &User, after: &User) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(match (&before.password, &after.password) {
        (None, Some(_)) => Some(Change::of(Kind::PasswordSet)),
        (Some(_), None) => Some(Change::of(Kind::PasswordRemoved)),
        (Some(old), Some(new)) if old != new => Some(Change::of(Kind::PasswordChanged)),
        _ => None,
    });
    let signs_in = |user: &User, email: &Email| user.channel_of(email).is_some_and(Channel::signs_in);
    let starts = after.channels.iter().filter(|channel| channel.signs_in() && !signs_in(before, &channel.value));
    changes.extend(starts.map(|channel| Change::about(Kind::AddressAdded, &channel.value)));
    // A verified address gets notices, and can become a way to sign in.
    let is_verified = |user: &User, email: &Email| user.channel_of(email).is_some_and(|channel| channel.is_verified);
    let is_new = |channel: &&Channel| channel.is_verified && !channel.signs_in() && !is_verified(before, &channel.value);
    let verified = after.channels.iter().filter(is_new).filter(|channel| !signs_in(before, &channel.value));
    changes.extend(verified.map(|channel| Change::about(Kind::AddressVerified, &channel.value)));
    let ends = before.channels.iter().filter(|channel| channel.signs_in() && !signs_in(after, &channel.value));
    changes.extend(ends.map(|channel| Change::about(Kind::AddressRemoved, &channel.value)));
    let primary = |user: &User| user.primary().map(|channel| channel.value.clone());
    let new = primary(after).filter(|new| primary(before).as_ref() != Some(new));
    changes.extend(new.map(|new| Change::about(Kind::AddressMadePrimary, new)));
    changes.extend(match (before.otp_refused, after.otp_refused) {
        (false, true) => Some(Change::of(Kind::EmailCodesDisabled)),
        (true, false) => Some(Change::of(Kind::EmailCodesEnabled)),
        _ => None,
    });
    changes.extend(authenticator_change(before, after));
    changes.extend(recovery_change(before, after));
    // A provider account that has only supplied tokens so far counts as newly linked once it
    // permits sign-in. A provider account that no longer permits sign-in counts as unlinked.
    let has = |user: &User, account: &ProviderAccount| {
        user.provider_accounts.iter().any(|own| own.is_same(account) && (own.allow_sign_in || !account.allow_sign_in))
    };
    let linked = after.provider_accounts.iter().filter(|account| !has(before, account));
    changes.extend(linked.map(|account| Change::about(Kind::ProviderLinked, &account.provider_id)));
    let unlinked = before.provider_accounts.iter().filter(|account| !has(after, account));
    changes.extend(unlinked.map(|account| Change::about(Kind::ProviderUnlinked, &account.provider_id)));
    changes.extend(key_changes(before, after));
    changes.extend(passkey_changes(before, after));
    changes
}

/// API keys that were created, or revoked because they were found in public. Revocations for other
/// reasons are not reported.
fn key_changes(before: &User, after: &User) -> impl Iterator<Item = Change> {
    let kind = |key: &OwnedKey| match before.api_keys.get(key.id) {
        None => Some(Kind::ApiKeyCreated),
        Some(old) if key.was_exposed && !old.was_exposed => Some(Kind::ApiKeyExposed),
        Some(_) => None,
    };
    after.api_keys.iter().filter_map(move |key| Some(Change::about(kind(key)?, &key.last_four)))
}

/// The changes to the passkeys, without the passkeys' names, for the reason given at
/// `authenticator_change`.
fn passkey_changes(before: &User, after: &User) -> impl Iterator<Item = Change> {
    let of = |user: &User, passkey: &Passkey| user.passkeys.iter().find(|own| own.is_same(passkey)).cloned();
    let added = after.passkeys.iter().filter(move |passkey| of(before, passkey).is_none());
    let removed = before.passkeys.iter().filter(move |passkey| of(after, passkey).is_none());
    let is_new = move |passkey: &&Passkey| {
        passkey.clone_suspected_at.is_some() && of(before, passkey).is_some_and(|old| old.clone_suspected_at.is_none())
    };
    let suspected = after.passkeys.iter().filter(is_new);
    let added = added.map(|_| Change::of(Kind::PasskeyAdded));
    let removed = removed.map(|_| Change::of(Kind::PasskeyRemoved));
    added.chain(removed).chain(suspected.map(|_| Change::of(Kind::PasskeyCloneSuspected)))
}

/// A change to the authenticator apps. If one app replaces another, only the new app is reported.
/// The name of the app is omitted, because an intruder could use it to put misleading text into the
/// email.
fn authenticator_change(before: &User, after: &User) -> Option<Change> {
    let has = |user: &User, app: &Authenticator| user.apps().any(|own| own.secret == app.secret);
    let Some(left) = &after.totp else { return before.totp.as_ref().map(|_| Change::of(Kind::AuthenticatorRemoved)) };
    if left.apps().any(|app| !has(before, app)) {
        return Some(Change::of(Kind::AuthenticatorAdded));
    }
    let is_fewer = before.totp.as_ref()?.apps().any(|app| !has(after, app));
    is_fewer.then(|| Change::of(Kind::OneAuthenticatorRemoved))
}

/// A change to the recovery codes; `None` also if the codes were removed. Recovery codes are
/// removed only together with the authenticator apps, which `authenticator_change` reports, or
/// through a "This wasn't me" link.
fn recovery_change(before: &User, after: &User) -> Option<Change> {
    let (old, new) = (before.recovery_codes(), after.recovery_codes()?);
    match old {
        Some(old) if old == new => None,
        // A new set is complete, so a set with fewer codes means that a code was used.
        Some(old) if new.left < old.left => Some(Change::about(Kind::RecoveryCodeUsed, new.left)),
        _ => Some(Change::of(Kind::RecoveryCodesCreated)),
    }
}
