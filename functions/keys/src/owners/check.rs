//! Checks whether a key is valid, and returns its owner.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{NamedItem, Route};
use api::product::{Access, Server};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use model::limit::Limit;
use model::owned_key::text::KeyText;
use model::owned_key::view::OwnedKeyView;
use model::owned_key::{OwnedKey, OwnerKind};
use store::owned_key::OwnerRow;
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::owners::change::check_enabled;

/// The route of an operation that checks a key.
pub(crate) const fn checks_key(route: Route) -> Route {
    route
        .limit(Limit::ApiKey)
        .leaves_no_trail("it only records when the key was last used")
        .table(&[BatchGetItem, UpdateItem])
        .reads(&[NamedItem::KeyOwner])
        .errors(&[
            ErrorCode::ApiKeysNotEnabled,
            ErrorCode::ApiKeyNotFound,
            ErrorCode::WrongApiKeyType,
            ErrorCode::ApiKeyRevoked,
            ErrorCode::ApiKeyExpired,
        ])
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct KeyBody {
    /// The whole key.
    pub(crate) api_key: String,
}

/// Returns the key and its owner. Rejects keys that are revoked or expired, and keys that may
/// belong to an intruder. The owner may be restricted or anonymous, and the app decides how to
/// treat such owners. Also records the use of the key, at most once an hour.
pub(crate) async fn check(access: &Access<Server>, body: &KeyBody, kind: OwnerKind) -> Result<OwnedKeyView, Error> {
    let (project, now) = (&access.project.id, access.app.clock.now());
    check_enabled(&access.project.config, kind)?;
    let text = KeyText::parse(&body.api_key).ok().filter(|text| text.project == *project).ok_or(KnownError::ApiKeyNotFound)?;
    let owner = access.prefetched.key_owner(project, text.owner).await?.ok_or(KnownError::ApiKeyNotFound)?;
    let key = owner.keys().by_text(&text).ok_or(KnownError::ApiKeyNotFound)?;
    let actual = text.owner.kind();
    if actual != kind {
        return Err(KnownError::WrongApiKeyType { expected_type: kind.name(), actual_type: actual.name() }.into());
    }
    if key.revoked_at.is_some() {
        return Err(KnownError::ApiKeyRevoked.into());
    }
    if key.has_expired(now) {
        return Err(KnownError::ApiKeyExpired.into());
    }
    if may_be_intruders(access, key).await? {
        return Err(KnownError::ApiKeyRevoked.into());
    }
    let mut view = OwnedKeyView::of(text.owner, key);
    if key.is_use_news(now) {
        let used = OwnedKey { last_used_at: Some(now), ..key.clone() };
        view = OwnedKeyView::of(text.owner, &used);
        note_use(access, project, &owner, used).await?;
    }
    Ok(view)
}

/// Whether a client created the key for a team, and the key may since belong to an intruder. A key
/// may belong to an intruder if the account of the client's user has a new owner, or if the user
/// has reported an intruder. Finding this out costs another round trip, but only for keys that a
/// client created.
async fn may_be_intruders(access: &Access<Server>, key: &OwnedKey) -> Result<bool, Error> {
    let Some(creator) = key.creator else { return Ok(false) };
    let users = access.app.store.users_by_id(&access.project.id, &[creator.user_id]).await?;
    Ok(creator.may_be_intruder(users.get(&creator.user_id).map(|row| row.user.owner_epoch)))
}

/// Records the use of a key. If the owner changes at the same time, the use is not recorded.
async fn note_use(access: &Access<Server>, project: &ProjectId, owner: &OwnerRow, used: OwnedKey) -> Result<(), Error> {
    let mut keys = owner.keys().clone();
    if let Some(key) = keys.get_mut(used.id) {
        *key = used;
    }
    match access.app.store.write_unrecorded(owner.with_keys(project, keys)?).await {
        Ok(()) | Err(store::Error::Conflict(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
