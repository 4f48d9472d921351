//! Authentication of the caller: turns the headers of a request into an [`Access`]. The checks have
//! a fixed order, and the first failure wins.
//!
//! ```text
//! headers ─read→ Request ─keys→ one BatchGetItem ─items→ prove ─Identity→ settle → Context
//!                   └──────── counting, at the same time ────────────────────┘
//! ```
//!
//! | caller | proved by | read for the proof |
//! |---|---|---|
//! | client | nothing, or a publishable key if the project requires one | project, key |
//! | client with a session | as for a client, and the signature of its access token | project, key, user, session |
//! | server | a secret key, or the access token of a machine, which stands for its key | project, key |
//! | administrator | an admin key | project, key |
//! | member of the team that owns the project | an admin access token, at any level | project, [`AdminToken::keys`](crate::product::admin_token) |
//! | the process itself | nothing, at any level ([`Operator`]) | project |
//!
//! The round trip for the proof also fetches the items that the request names ([`Route::reads`]).
//! An admin access token can require a second round trip ([`crate::product::admin_token`]). A token
//! signed with an RSA key that the process has not read yet requires a round trip before that
//! ([`flows::signing_keys`]). If the deployment permits it, the project and the key are cached for
//! a few seconds ([`flows::proofs`]). API keys of users and teams do not prove access: they are
//! input for an operation that checks them.

mod headers;
mod proof;
mod request;

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::{FromRequestParts, OptionalFromRequestParts, RawPathParams};
use errors::{Error, KnownError};
use flows::App;
use flows::context::Context;
use http::request::Parts;
use model::user::reference::UserRef;
use store::table::volume;
use wire::id::UserId;
use wire::level::Level;
use wire::problem::Problems;

use crate::http::describe::{Describe, Description};
use crate::http::route::Route;
pub use crate::product::access::headers::NO_KEY;
pub use crate::product::access::request::Operator;
use crate::product::access::request::Request;
use crate::product::reading::Reading;

/// A minimum access level, at the type level.
pub trait MinLevel: Send + Sync + 'static {
    /// The level.
    const LEVEL: Level;
}

/// A browser or an app: the current user's own data.
#[derive(Debug)]
pub struct Client;
/// A backend: all users of the project.
#[derive(Debug)]
pub struct Server;
/// A dashboard: the project itself.
#[derive(Debug)]
pub struct Admin;

impl MinLevel for Client {
    const LEVEL: Level = Level::Client;
}

impl MinLevel for Server {
    const LEVEL: Level = Level::Server;
}

impl MinLevel for Admin {
    const LEVEL: Level = Level::Admin;
}

/// A request that has proved at least the access level `L`.
pub struct Access<L> {
    context: Context,
    min_level: PhantomData<L>,
}

impl<L> Deref for Access<L> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl<L> Access<L> {
    /// The context of the request.
    pub fn into_context(self) -> Context {
        self.context
    }

    /// The user whose items a request lists. Listing the items of all users is not supported.
    /// Without a user, clients therefore get `FORBIDDEN`, and other callers get a schema error that
    /// requires `user_id`.
    pub fn listed_user(&self, user: Option<UserRef>, route: &Route) -> Result<UserId, KnownError> {
        if user.is_none() && self.level < Level::Server {
            return Err(KnownError::Forbidden);
        }
        self.named_user(user, route)
    }

    /// The user that the query names. If the query does not name a user, clients get their own
    /// user, and other callers get a schema error that requires `user_id`.
    pub fn named_user(&self, user: Option<UserRef>, route: &Route) -> Result<UserId, KnownError> {
        if user.is_none() && self.level >= Level::Server {
            return Err(route.schema_error(&Problems::one("query.user_id", "is required")));
        }
        self.user_id(user.unwrap_or(UserRef::Me))
    }
}

/// The context of a request that has proved at least the level `min_level`.
async fn authenticate(parts: &mut Parts, app: &App, min_level: Level) -> Result<Context, Error> {
    let path = RawPathParams::from_request_parts(parts, app).await.ok();
    let request = Request::read(parts, path.as_ref(), app).await?;
    let claimed = request.claimed();
    Reading::begin(parts, app, claimed.reader(app))?;
    let (lookup, counting) = (request.look_up(), claimed.counting(app));
    let keys = request.keys(&lookup).chain(counting.keys());
    let (early, items) = tokio::join!(counting.early(), app.store.get_many(keys));
    let (early, items) = (early?, items?);
    // The project's settings do not count as read by the client: the project's administrators
    // choose the size of the settings.
    volume::leave_out(|| items.bytes_of(lookup.keys()));
    let identity = request.prove(lookup, &items, min_level).await?;
    request.record(&identity);
    counting.settle(early, &items).await?;
    Ok(request.into_context(identity, items)?)
}

impl<L: MinLevel> FromRequestParts<App> for Access<L> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self { context: authenticate(parts, app, L::LEVEL).await?, min_level: PhantomData })
    }
}

/// For operations that do not require access. Returns `None` if the request does not claim an
/// access level; a claim that cannot be proved is an error.
impl<L: MinLevel> OptionalFromRequestParts<App> for Access<L> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Error> {
        match <Self as FromRequestParts<App>>::from_request_parts(parts, app).await {
            Err(Error::Known(KnownError::AccessTypeRequired)) => Ok(None),
            access => access.map(Some),
        }
    }
}

impl<L> Describe for Option<Access<L>> {
    fn describe(_: &mut Description) {}
}

impl<L: MinLevel> Describe for Access<L> {
    fn describe(description: &mut Description) {
        description.level = Some(L::LEVEL);
        description.counts_reads = L::LEVEL == Level::Client;
    }
}
