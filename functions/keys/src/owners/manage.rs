//! Creates, lists, reads, updates and rotates keys of users and teams.

use api::http::Route;
use api::product::page::List;
use api::product::{Access, Client};
use errors::{Error, ErrorCode, KnownError};
use flows::quota;
use model::owned_key::text::KeyText;
use model::owned_key::view::OwnedKeyView;
use model::owned_key::{KeyCountRefusal, MAX_KEYS, NewKey, OwnedKey, OwnedKeys, Owner};
use model::quota::Quota;
use model::trail::TargetKind;
use store::record;
use wire::change::Change;
use wire::clock::after;
use wire::id::OwnedKeyId;

use crate::owners::change::{change, creator, open};
use crate::owners::input::{KeyPatch, KeyRotation, Scopes, expiry};

pub(crate) const USER_ERRORS: &[ErrorCode] = &[
    ErrorCode::UserAuthenticationRequired,
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::Forbidden,
    ErrorCode::UserIdDoesNotExist,
    ErrorCode::ApiKeysNotEnabled,
];
pub(crate) const TEAM_ERRORS: &[ErrorCode] =
    &[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamNotFound, ErrorCode::ApiKeysNotEnabled, ErrorCode::ApiKeyNotFound];
pub(crate) const NEW_KEY_ERRORS: &[ErrorCode] = &[ErrorCode::ReauthenticationRequired, ErrorCode::TooManyApiKeys];
pub(crate) const ROTATION_ERRORS: &[ErrorCode] = &[
    ErrorCode::ApiKeyNotFound,
    ErrorCode::ApiKeyExpired,
    ErrorCode::ApiKeyRevoked,
    ErrorCode::ReauthenticationRequired,
    ErrorCode::TooManyApiKeys,
];

fn too_many(owner: Owner) -> impl FnOnce(KeyCountRefusal) -> KnownError {
    move |KeyCountRefusal| KnownError::TooManyApiKeys { owner: owner.kind().name(), max: MAX_KEYS }
}

fn add(keys: &mut OwnedKeys, key: OwnedKey, owner: Owner, access: &Access<Client>) -> Result<(), KnownError> {
    keys.add(key, access.app.clock.now()).map_err(too_many(owner))
}

fn quota_of(owner: Owner) -> Quota {
    match owner {
        Owner::User(_) => Quota::UserApiKeys,
        Owner::Team(_) => Quota::TeamApiKeys,
    }
}

/// Creates a key, which is returned only once.
pub(crate) async fn create(access: &Access<Client>, owner: Owner, new: NewKey) -> Result<OwnedKeyView, Error> {
    quota::check(access, quota_of(owner))?;
    access.check_fresh()?;
    let app = &access.app;
    let text = KeyText::random(&access.project.id, owner, new.is_public, &app.entropy);
    let key = OwnedKey { creator: creator(access, owner), ..OwnedKey::new(&text, new, &app.entropy, app.clock.now()) };
    record::target(TargetKind::ApiKey, key.id);
    change(access, owner, |keys| add(keys, key.clone(), owner, access)).await?;
    Ok(OwnedKeyView::new(owner, &key, &text))
}

/// The keys of an owner, newest first. Keys that expired or were revoked less than 30 days ago are
/// included.
pub(crate) async fn list(access: &Access<Client>, owner: Owner) -> Result<List<OwnedKeyView>, Error> {
    let row = open(access, owner, 0).await?;
    let now = access.app.clock.now();
    Ok(List::whole(row.keys().listed(now).rev().map(|key| OwnedKeyView::of(owner, key)).collect()))
}

pub(crate) async fn find(access: &Access<Client>, owner: Owner, id: OwnedKeyId) -> Result<OwnedKeyView, Error> {
    let row = open(access, owner, 0).await?;
    let key = row.keys().get(id).ok_or(KnownError::ApiKeyNotFound)?;
    Ok(OwnedKeyView::of(owner, key))
}

pub(crate) async fn update(access: &Access<Client>, owner: Owner, id: OwnedKeyId, patch: KeyPatch) -> Result<OwnedKeyView, Error> {
    // Someone who stole a session must not be able to extend a key's lifetime or add scopes, so
    // these changes require a recent sign-in or reauthentication. Revoking a key does not.
    if patch.scopes.is_some() || patch.expires_at_millis != Change::Keep {
        access.check_fresh()?;
    }
    let now = access.app.clock.now();
    change(access, owner, |keys| {
        if patch.expires_at_millis != Change::Keep {
            keys.set_expiry(id, expiry(patch.expires_at_millis.clone()), now).map_err(too_many(owner))?;
        }
        let key = keys.get_mut(id).ok_or(KnownError::ApiKeyNotFound)?;
        if let Some(description) = &patch.description {
            key.description.clone_from(&description.0);
        }
        if let Some(Scopes(scopes)) = &patch.scopes {
            key.scopes.clone_from(scopes);
        }
        if patch.revoked.is_some() {
            key.revoke(now);
        }
        Ok(OwnedKeyView::of(owner, key))
    })
    .await
}

/// Replaces a key with a new key that has the same properties. The old key keeps working during the
/// overlap, unless it expires earlier. The old key no longer counts towards the maximum number of
/// keys.
pub(crate) async fn rotate(
    access: &Access<Client>,
    owner: Owner,
    id: OwnedKeyId,
    rotation: &KeyRotation,
    route: &Route,
) -> Result<OwnedKeyView, Error> {
    let overlap = rotation.overlap(route)?;
    quota::check(access, quota_of(owner))?;
    access.check_fresh()?;
    let (app, now) = (&access.app, access.app.clock.now());
    let is_public = open(access, owner, 0).await?.keys().get(id).ok_or(KnownError::ApiKeyNotFound)?.is_public;
    let text = KeyText::random(&access.project.id, owner, is_public, &app.entropy);
    let new_id = OwnedKeyId::from(app.entropy.uuid());
    record::target(TargetKind::ApiKey, new_id);
    change(access, owner, |keys| {
        let old = keys.get_mut(id).ok_or(KnownError::ApiKeyNotFound)?;
        if old.revoked_at.is_some() {
            return Err(KnownError::ApiKeyRevoked);
        }
        if old.has_expired(now) {
            return Err(KnownError::ApiKeyExpired);
        }
        let (description, scopes, expires_at) = (old.description.clone(), old.scopes.clone(), old.expires_at);
        old.replace(after(now, overlap));
        let new = OwnedKey::new(&text, NewKey { description, is_public, scopes, expires_at }, &app.entropy, now);
        let new = OwnedKey { id: new_id, creator: creator(access, owner), ..new };
        add(keys, new.clone(), owner, access)?;
        Ok(OwnedKeyView::new(owner, &new, &text))
    })
    .await
}
