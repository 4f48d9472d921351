//! The caller and its access level: the headers of a request become an [`Access`]. The checks have
//! a fixed order, and the first failure wins.
//!
//! An operation that takes `Access<Server>` cannot run without a server key, the access token of a
//! machine, an admin key, or the admin access token of a member of the team that owns the project;
//! only the process itself needs none ([`Operator`]). Authentication usually takes one round trip:
//! project, key, user, session and the items that the request names are read by one `BatchGetItem`,
//! and the request is counted at the same time. An admin access token can take another round trip
//! ([`crate::product::admin_token`]). The signature of the access token is verified locally;
//! whether its session is still live, and what its user may do, is read from the table. If the
//! operator permits it, project and key are remembered for a few seconds ([`flows::proofs`]).

mod proof;

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts, RawPathParams};
use crypto::digest::Digest;
use errors::{Error, KeySlip, KnownError};
use flows::App;
use flows::context::Context;
use flows::current_user::CurrentUser;
use flows::email::gate;
use flows::limits::{Claimed, unproved};
use flows::proofs::Proof;
use flows::quota;
use http::HeaderMap;
use http::request::Parts;
use model::limit::Limit;
use model::place::Place;
use model::project::{ApiKey, KeyKind};
use model::trail::Actor;
use model::user::reference::UserRef;
use store::record;
use wire::id::{ProjectId, UserId};
use wire::level::Level;
use wire::problem::Problems;

use crate::http::client::{PeerAddress, device, place};
use crate::http::describe::{Describe, Description};
use crate::http::route::Route;
use crate::product::access_token::AccessToken;
use crate::product::admin_token::AdminToken;
use crate::product::header_family::header;
use crate::product::key_permission::permit;
use crate::product::machine_token::key_digest;
use crate::product::named::Names;
use crate::product::reading::Reading;
use crate::product::trail::named_user;

/// The text that SDKs send in place of a key if they have no key.
pub const NO_KEY: &str = "__stack_public_client__";

/// An extension of requests that the process itself makes, for example for the gateway's own pages.
/// It proves any access level without a key. Requests from outside cannot have this extension.
#[derive(Debug, Clone, Copy)]
pub struct Operator;

/// A minimum access level, at the type level.
pub trait Least: Send + Sync + 'static {
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

impl Least for Client {
    const LEVEL: Level = Level::Client;
}

impl Least for Server {
    const LEVEL: Level = Level::Server;
}

impl Least for Admin {
    const LEVEL: Level = Level::Admin;
}

/// A request that has proved at least the access level `L`.
pub struct Access<L> {
    context: Context,
    least: PhantomData<L>,
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

    /// The user whose items a request lists. Listing the items of all users is not supported:
    /// without a user, clients get `FORBIDDEN`, and all others a schema error that requires
    /// `user_id`.
    pub fn listed_user(&self, user: Option<UserRef>, route: &Route) -> Result<UserId, KnownError> {
        match user {
            Some(user) => self.user_id(user),
            None if self.level >= Level::Server => {
                Err(KnownError::schema(&Problems::one("query.user_id", "is required"), route.verb.name(), route.path))
            }
            None => Err(KnownError::Forbidden),
        }
    }
}

/// The claims of a request's headers, before any item is read from the table.
struct Headers<'a> {
    level: Level,
    project: ProjectId,
    key: Option<Digest>,
    /// The likely mistake with the key, which the error names if the access level is not proved.
    slip: KeySlip,
    token: Option<AccessToken>,
    /// An invalid token is reported only once the project is known to exist.
    admin_token: Option<Result<AdminToken, KnownError>>,
    branch: &'a str,
    has_override_key: bool,
}

const KEY_HEADERS: [(&str, KeyKind); 3] = [
    ("publishable-client-key", KeyKind::PublishableClient),
    ("secret-server-key", KeyKind::SecretServer),
    ("super-secret-admin-key", KeyKind::SuperSecretAdmin),
];

/// The length of the longest malformed id that an error repeats, in bytes: that of a UUID. Keys and
/// tokens are longer; an error must not repeat a key or token that was sent in the wrong header.
const MAX_ECHO: usize = 36;

fn echoed(id: &str) -> &str {
    if id.len() <= MAX_ECHO { id } else { "…" }
}

impl<'a> Headers<'a> {
    /// The checks that need no items, in order: access level, project id, access token, form of the
    /// project id. Conflicting values of a header are reported when the header is read.
    fn read(headers: &'a HeaderMap, route: Option<&Route>, app: &App) -> Result<Self, KnownError> {
        // Functions without the secret ignore tokens. The gateway has the secret, but must respond
        // as they do.
        let verifies = route.is_none_or(|route| route.uses_secret);
        let mut keys = Vec::with_capacity(KEY_HEADERS.len());
        for (name, kind) in KEY_HEADERS {
            keys.push((kind, header(headers, name)?));
        }
        let admin_token = header(headers, "admin-access-token")?.filter(|_| verifies);
        let Some(text) = header(headers, "access-type")? else {
            let has_key = admin_token.is_some() || keys.iter().any(|(_, key)| key.is_some());
            return Err(if has_key { KnownError::ProjectKeyWithoutAccessType } else { KnownError::AccessTypeRequired });
        };
        let level = Level::ALL.into_iter().find(|level| level.name() == text).ok_or(KnownError::InvalidAccessType)?;
        let Some(id) = header(headers, "project-id")? else {
            return Err(KnownError::AccessTypeWithoutProjectId { request_type: level.name().to_owned() });
        };
        let project = ProjectId::parse(id);
        let named = project.as_ref().map_or_else(|_| echoed(id), ProjectId::as_str);
        let token = header(headers, "access-token")?.filter(|_| verifies);
        let limited = route.filter(|route| level == Level::Client && route.limit.is_some());
        let token = token.map(|token| AccessToken::read(token, named, headers, limited, app)).transpose()?;
        let project = project.map_err(|_| KnownError::CurrentProjectNotFound { project_id: echoed(id).to_owned() })?;
        for (_, key) in &mut keys {
            *key = key.filter(|key| *key != NO_KEY);
        }
        let wanted = KeyKind::of(level);
        let key = keys.iter().find(|(kind, _)| *kind == wanted).and_then(|(_, key)| *key);
        let may_be_token = level == Level::Server && verifies;
        let key = key.map(|key| if may_be_token { key_digest(key, &project, app) } else { Digest::of(key) });
        Ok(Self {
            level,
            project,
            key,
            slip: KeySlip::of(wanted, &keys),
            token,
            admin_token: admin_token.map(|text| AdminToken::read(text, app)),
            branch: header(headers, "branch-id")?.unwrap_or("main"),
            has_override_key: header(headers, "development-override-key")?.is_some(),
        })
    }

    /// Checks that the branch exists, and then that the access level is sufficient for the
    /// operation.
    fn suffice(&self, least: Level) -> Result<(), KnownError> {
        if self.branch != "main" {
            return Err(KnownError::BranchDoesNotExist { branch_id: echoed(self.branch).to_owned() });
        }
        if self.level >= least {
            return Ok(());
        }
        Err(KnownError::InsufficientAccessType {
            actual_access_type: self.level.name().to_owned(),
            allowed_access_types: Level::ALL.into_iter().filter(|level| *level >= least).map(Level::name).collect(),
        })
    }

    fn owner(&self) -> Option<&AdminToken> {
        self.admin_token.as_ref().and_then(|token| token.as_ref().ok())
    }

    /// The caller, once the access is proved. A client's key is public and identifies nobody.
    fn actor(&self, parts: &Parts, key: Option<&ApiKey>, user: Option<&CurrentUser>) -> Actor {
        let is_client = self.level == Level::Client;
        match (user, key, self.owner()) {
            (Some(user), ..) if is_client => Actor::User { user_id: user.row.user.id, session_id: user.session.id },
            _ if parts.extensions.get::<Operator>().is_some() => Actor::System,
            (_, _, Some(owner)) => Actor::Operator { user_id: owner.user() },
            (_, Some(key), None) if !is_client => Actor::Key { key_set_id: key.set_id.into(), kind: key.kind },
            _ => Actor::Anonymous,
        }
    }

    /// The claimed sender of the request, by which the request is counted. Of an access token, only
    /// the signature has been verified by now; its session may have ended.
    fn claimed<'b>(&'b self, limit: Option<Limit>, names: &Names<'_>, place: &'b Place) -> Claimed<'b> {
        Claimed {
            limit,
            level: self.level,
            project: &self.project,
            user: self.token.as_ref().map(AccessToken::user),
            session: self.token.as_ref().map(AccessToken::session),
            owner: self.owner().map(AdminToken::user),
            key: self.key.as_ref(),
            checked: names.checked_key(&self.project).filter(|key| limit == Some(Limit::ApiKey) && !key.is_public),
            place,
            uploads: names.uploads() && limit.is_some_and(Limit::is_in_table),
            body_bytes: names.body_bytes(),
        }
    }
}

impl<L: Least> Access<L> {
    async fn of(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let route = parts.extensions.get::<Route>();
        let headers = Headers::read(&parts.headers, route, app)?;
        let is_operator = parts.extensions.get::<Operator>().is_some();
        let may_remember = !is_operator && headers.may_be_remembered();
        let lookup = app.proofs.look_up(headers.claim(), may_remember, app.clock.now());
        let of_user = headers.token.as_ref().map(|token| token.keys(&headers.project));
        let own = lookup.keys().chain(of_user.into_iter().flatten());
        let peer = parts.extensions.get::<PeerAddress>().copied().unwrap_or_default();
        let place = place(&parts.headers, peer, &app.settings);
        let claims = headers.token.as_ref().map(AccessToken::claims);
        let names = Names { parts, path: path.as_ref(), claims };
        let named = names.keys(route.map_or(&[], |route| route.reads), &headers.project);
        let keys = own.chain(named).chain(headers.owner().map(AdminToken::keys).unwrap_or_default());
        let limit = route.and_then(|route| route.limit);
        let claimed = headers.claimed(limit, &names, &place);
        Reading::begin(parts, app, claimed.reader(app))?;
        let counting = claimed.counting(app);
        let sends_code = matches!(limit, Some(Limit::SendCode | Limit::SignUp));
        let recipient = names.email().filter(|_| sends_code);
        let recipient = recipient.map(|email| gate::keys(app, &headers.project, headers.level, &email)).unwrap_or_default();
        let (early, items) = tokio::join!(counting.early(), app.store.get_many(keys.chain(counting.keys()).chain(recipient)));
        let (early, items) = (early?, items?);

        let found = headers.owner().map(|token| token.found(&items)).transpose()?;
        let Some(proof) = lookup.proof(&items)? else {
            unproved(app, None, &place).await?;
            return Err(KnownError::CurrentProjectNotFound { project_id: headers.project.to_string() }.into());
        };
        let Proof { project, project_version, key } = &*proof;
        let user = headers.token.as_ref().map(|token| token.user_now(project, &items, app)).transpose()?;
        if !lookup.is_proved() && !is_operator {
            let proved = headers.prove(project, key.as_deref(), found, app).await;
            if proved.as_ref().is_err_and(Error::is_wrong_key) {
                // The IAM roles of operations without a limit may not count in the table.
                unproved(app, limit.map(|_| &headers.project), &place).await?;
            }
            proved?;
            lookup.remember(&app.proofs, &proof);
        }
        headers.suffice(L::LEVEL)?;
        permit(key.as_deref().filter(|_| headers.admin_token.is_none()), route)?;
        let actor = headers.actor(parts, key.as_deref(), user.as_ref());
        record::by(project, headers.level.into(), actor, named_user(path.as_ref(), user.as_ref().map(|user| user.row.user.id)));
        counting.settle(early, &items).await?;
        let context = Context {
            app: app.clone(),
            level: headers.level,
            project: Arc::clone(project),
            project_version: *project_version,
            user,
            place,
            device: device(&parts.headers),
            prefetched: app.store.knowing(items),
        };
        if names.uploads() {
            quota::anonymous(&context)?;
        }
        Ok(Self { context, least: PhantomData })
    }
}

impl<L: Least> FromRequestParts<App> for Access<L> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Self::of(parts, app).await
    }
}

/// For operations that require no access: `None` if the request claims no access; a claim that
/// cannot be proved is an error.
impl<L: Least> OptionalFromRequestParts<App> for Access<L> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Error> {
        match Self::of(parts, app).await {
            Err(Error::Known(KnownError::AccessTypeRequired)) => Ok(None),
            access => access.map(Some),
        }
    }
}

impl<L> Describe for Option<Access<L>> {
    fn describe(_: &mut Description) {}
}

impl<L: Least> Describe for Access<L> {
    fn describe(description: &mut Description) {
        description.level = Some(L::LEVEL);
        description.counts_reads = L::LEVEL == Level::Client;
    }
}
