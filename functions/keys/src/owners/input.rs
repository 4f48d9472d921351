//! The inputs of the operations on API keys.

use api::http::Route;
use api::product::Access;
use deserr::Deserr;
use errors::KnownError;
use flows::teams::limited_to;
use jiff::{SignedDuration, Timestamp};
use model::outbox::patch::AtMillis;
use model::owned_key::{MAX_DESCRIPTION, MAX_SCOPE, MAX_SCOPES, NewKey, Owner};
use model::text::line;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{OwnedKeyId, TeamId};
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct KeyPath {
    pub(crate) id: OwnedKeyId,
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserQuery {
    /// The owner, as a user's id or `me`. Default for clients: `me`. The field is required with
    /// server access.
    pub(crate) user_id: Option<UserRef>,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamQuery {
    /// The owner.
    pub(crate) team_id: TeamId,
}

/// The user whose keys the request concerns.
pub(crate) fn user<L>(access: &Access<L>, user: Option<UserRef>, route: &Route) -> Result<Owner, KnownError> {
    limited_to(access)?;
    access.named_user(user, route).map(Owner::User)
}

/// The purpose of a key, as described by its creator.
pub(crate) struct Description(pub(crate) String);

wire::deserr_from!(Description, String, |text| line::check(&text, 1..=MAX_DESCRIPTION).map(|()| Self(text)));

/// What the app permits a key to do, in words that the app defines.
pub(crate) struct Scopes(pub(crate) Vec<String>);

wire::deserr_from!(Scopes, Vec<String>, |mut scopes| {
    let fits = |scope: &String| (1..=MAX_SCOPE).contains(&scope.len()) && scope.bytes().all(|byte| byte.is_ascii_graphic());
    if scopes.len() > MAX_SCOPES || !scopes.iter().all(fits) {
        return Err("must have at most 32 scopes, each of 1 to 64 visible ASCII characters");
    }
    scopes.sort();
    scopes.dedup();
    Ok(Self(scopes))
});

/// When a key expires. `null`, 0 and an omitted time mean that the key never expires (`None`), as
/// published SDKs expect.
pub(crate) fn expiry(given: Change<AtMillis>) -> Option<Timestamp> {
    match given {
        Change::Set(AtMillis(time)) => Some(time).filter(|time| *time != Timestamp::UNIX_EPOCH),
        Change::Keep | Change::Clear => None,
    }
}

/// The properties chosen for a new key.
pub(crate) fn new_key(
    Description(description): Description,
    scopes: Option<Scopes>,
    is_public: Option<bool>,
    expires_at: Change<AtMillis>,
) -> NewKey {
    let scopes = scopes.map(|Scopes(scopes)| scopes).unwrap_or_default();
    NewKey { description, is_public: is_public.unwrap_or(false), scopes, expires_at: expiry(expires_at) }
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct KeyPatch {
    /// One line of 1 to 256 characters.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) description: Option<Description>,
    /// Only `true` is accepted, because a revoked key cannot be restored.
    #[schema(value_type = Option<bool>)]
    pub(crate) revoked: Option<flows::literal::True>,
    /// When the key expires, in milliseconds since the Unix epoch. `null` or 0 if it never expires.
    /// An expired key is accepted again until the new time.
    pub(crate) expires_at_millis: Change<AtMillis>,
    /// The new scopes: at most 32, each of 1 to 64 visible ASCII characters.
    pub(crate) scopes: Option<Scopes>,
}

/// How long the old key works alongside the new key by default.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// The maximum time for which the old key works alongside the new key, in milliseconds (30 days).
const MAX_OVERLAP_MILLIS: u32 = 30 * 24 * 60 * 60 * 1000;

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct KeyRotation {
    /// The time for which the old key keeps working, in milliseconds, from 0 to 2,592,000,000 (30
    /// days). Default: 86,400,000 (a day).
    #[schema(maximum = 2_592_000_000_u32)]
    expire_previous_in_millis: Option<u32>,
}

impl KeyRotation {
    pub(crate) fn overlap(&self, route: &Route) -> Result<SignedDuration, KnownError> {
        match self.expire_previous_in_millis {
            Some(millis) if millis > MAX_OVERLAP_MILLIS => {
                Err(route.schema_error(&Problems::one("body.expire_previous_in_millis", "must be from 0 to 2592000000")))
            }
            Some(millis) => Ok(SignedDuration::from_millis(millis.into())),
            None => Ok(OVERLAP),
        }
    }
}
