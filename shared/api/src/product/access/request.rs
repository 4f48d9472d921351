//! A request whose access is being proved: the items that it reads, how it is counted, and the
//! resulting context.

use std::sync::Arc;

use axum::extract::RawPathParams;
use errors::{Error, KnownError};
use flows::App;
use flows::context::Context;
use flows::current_user::CurrentUser;
use flows::email::gate;
use flows::limits::ClaimedSender;
use flows::proofs::{Claim, Lookup, Proof};
use flows::quota;
use http::request::Parts;
use model::limit::Limit;
use model::trail::Actor;
use store::{Items, Key, record};
use wire::level::Level;

use crate::http::client::Caller;
use crate::http::route::Route;
use crate::product::access::headers::Headers;
use crate::product::access_token::AccessToken;
use crate::product::admin_token::AdminToken;
use crate::product::named::Names;
use crate::product::trail::named_user;

/// A request extension that marks the process's own requests, for example those of the gateway's
/// pages. A marked request gets any access level without a key. Requests from outside the process
/// cannot have this extension.
#[derive(Debug, Clone, Copy)]
pub struct Operator;

/// A request with the claims in its headers.
pub(super) struct Request<'a> {
    pub(super) app: &'a App,
    pub(super) headers: Headers<'a>,
    pub(super) route: Option<&'a Route>,
    pub(super) caller: Caller,
    parts: &'a Parts,
    path: Option<&'a RawPathParams>,
}

/// The proved claims of a request.
pub(super) struct Identity {
    pub(super) proof: Arc<Proof>,
    pub(super) user: Option<CurrentUser>,
}

impl<'a> Request<'a> {
    pub(super) async fn read(parts: &'a Parts, path: Option<&'a RawPathParams>, app: &'a App) -> Result<Self, Error> {
        let route = parts.extensions.get::<Route>();
        let headers = Headers::read(&parts.headers, route, app).await?;
        Ok(Self { app, headers, route, caller: Caller::read(parts, &app.settings), parts, path })
    }

    pub(super) fn is_operator(&self) -> bool {
        self.parts.extensions.get::<Operator>().is_some()
    }

    pub(super) fn limit(&self) -> Option<Limit> {
        self.route.and_then(|route| route.limit)
    }

    fn names(&self) -> Names<'_> {
        let claims = self.headers.token.as_ref().map(AccessToken::claims);
        Names { parts: self.parts, path: self.path, claims }
    }

    /// Looks up a remembered proof of the claimed level. Does not use or store proofs for requests
    /// of the process itself, requests with an admin access token, or requests with an override
    /// key, which are always refused.
    pub(super) fn look_up(&self) -> Lookup {
        let headers = &self.headers;
        let claim = Claim { project: headers.project.clone(), level: headers.level, key: headers.key.clone() };
        let may_remember = !self.is_operator() && !self.caller.is_own_page && headers.admin_token.is_none() && !headers.has_override_key;
        self.app.proofs.look_up(claim, may_remember, self.app.clock.now())
    }

    /// The claimed sender. So far, only the signature of an access token has been verified; the
    /// token's session may have ended.
    pub(super) fn claimed(&self) -> ClaimedSender<'_> {
        let (headers, names, limit) = (&self.headers, self.names(), self.limit());
        ClaimedSender {
            limit,
            level: headers.level,
            project: &headers.project,
            user: headers.token.as_ref().map(AccessToken::user),
            session: headers.token.as_ref().map(AccessToken::session),
            owner: headers.owner().map(AdminToken::user),
            key: headers.key.as_ref(),
            checked: names.checked_key(&headers.project).filter(|key| limit == Some(Limit::ApiKey) && !key.is_public),
            place: &self.caller.place,
            uploads: names.uploads() && limit.is_some_and(Limit::is_in_table),
            body_bytes: names.body_bytes(),
        }
    }

    /// The keys of the items to read: the items that prove the access, the items that the request
    /// names and, if the operation sends a code, the recipient's counts.
    pub(super) fn keys(&self, lookup: &Lookup) -> impl Iterator<Item = Key> {
        let (Headers { level, project, token, .. }, names) = (&self.headers, self.names());
        let user = token.as_ref().map(|token| token.keys(project));
        let named = names.keys(self.route.map_or(&[], |route| route.table.reads), project);
        let owner = self.headers.owner().map(AdminToken::keys);
        let sends_code = matches!(self.limit(), Some(Limit::SendCode | Limit::SignUp));
        let recipient = names.email().filter(|_| sends_code).map(|email| gate::keys(self.app, project, *level, &email));
        let of_caller = lookup.keys().chain(user.into_iter().flatten()).chain(owner.into_iter().flatten());
        of_caller.chain(named).chain(recipient.into_iter().flatten())
    }

    /// Adds the caller to the trail entry.
    pub(super) fn record(&self, identity: &Identity) {
        let own = identity.user.as_ref().map(|user| user.row.user.id);
        record::by(&identity.proof.project, self.headers.level.into(), self.actor(identity), named_user(self.path, own));
    }

    /// The caller. A client's key is public and does not identify anybody.
    fn actor(&self, Identity { proof, user }: &Identity) -> Actor {
        let is_client = self.headers.level == Level::Client;
        match (user, &proof.key, self.headers.owner()) {
            (Some(user), ..) if is_client => Actor::User { user_id: user.row.user.id, session_id: user.session.id },
            _ if self.is_operator() => Actor::System,
            (_, _, Some(owner)) => Actor::Operator { user_id: owner.user() },
            (_, Some(key), None) if !is_client => Actor::Key { key_set_id: key.set_id.into(), kind: key.kind },
            _ => Actor::Anonymous,
        }
    }

    /// The context. Fails if a user uploads a picture without permission.
    pub(super) fn into_context(self, Identity { proof, user }: Identity, items: Items) -> Result<Context, KnownError> {
        let uploads = self.names().uploads();
        let context = Context {
            app: self.app.clone(),
            level: self.headers.level,
            project: Arc::clone(&proof.project),
            project_version: proof.project_version,
            user,
            place: self.caller.place,
            device: self.caller.device,
            prefetched: self.app.store.knowing(items),
        };
        if uploads {
            quota::anonymous(&context)?;
        }
        Ok(context)
    }
}
