//! The proof of a request's claims: a key or an admin access token. Some projects do not require
//! any proof for client access.

use errors::{Error, KnownError};
use flows::limits::unproved;
use flows::proofs::{Lookup, Proof};
use model::project::{ApiKey, KeyKind, Project};
use store::Items;
use wire::level::Level;

use crate::http::route::Route;
use crate::product::access::request::{Identity, Request};

impl Request<'_> {
    /// Runs the checks that need the items, in this order: the project, the user, the proof of the
    /// access level, and the level and permissions that the operation requires.
    pub(super) async fn prove(&self, lookup: Lookup, items: &Items, min_level: Level) -> Result<Identity, Error> {
        let (app, headers) = (self.app, &self.headers);
        let Some(proof) = lookup.proof(items)? else {
            unproved(app, None, &self.caller.place).await?;
            return Err(KnownError::CurrentProjectNotFound { project_id: headers.project.to_string() }.into());
        };
        let user = headers.token.as_ref().map(|token| token.user_now(&proof.project, items, app)).transpose()?;
        if !lookup.is_proved() && !self.is_operator() {
            self.prove_level(&proof, items).await?;
            lookup.remember(&app.proofs, &proof);
        }
        headers.suffice(min_level)?;
        if headers.admin_token.is_none() {
            permit(proof.key.as_deref(), self.route)?;
        }
        Ok(Identity { proof, user })
    }

    /// Proves the access level. If there is an admin access token, the key is ignored.
    async fn prove_level(&self, Proof { project, key, .. }: &Proof, items: &Items) -> Result<(), Error> {
        match &self.headers.admin_token {
            _ if self.headers.has_override_key => Err(KnownError::OverrideKeyNotSupported.into()),
            Some(Ok(token)) => token.prove(project, items, self.app).await,
            Some(Err(error)) => Err(error.clone().into()),
            None => self.prove_by_key(project, key.as_deref()).await,
        }
    }

    /// Proves the access level with the stored key. Counts a wrong key.
    async fn prove_by_key(&self, project: &Project, key: Option<&ApiKey>) -> Result<(), Error> {
        let (project_id, level, slip) = (project.id.to_string(), self.headers.level, self.headers.slip);
        if self.headers.key.is_none() {
            let required = match level {
                Level::Client if self.caller.is_own_page || !project.config.require_publishable_client_key => return Ok(()),
                Level::Client => KnownError::PublishableClientKeyRequiredForProject { project_id: Some(project_id) },
                Level::Server => KnownError::ServerAuthenticationRequired(slip),
                Level::Admin => KnownError::AdminAuthenticationRequired(slip),
            };
            return Err(required.into());
        }
        if key.is_some_and(|key| key.opens(KeyKind::of(level), self.app.clock.now())) {
            return Ok(());
        }
        // The IAM roles of operations without a rate limit do not permit counting in the table.
        unproved(self.app, self.limit().map(|_| &project.id), &self.caller.place).await?;
        let wrong = match level {
            Level::Client => KnownError::InvalidPublishableClientKey { project_id, slip },
            Level::Server => KnownError::InvalidSecretServerKey { project_id, slip },
            Level::Admin => KnownError::InvalidSuperSecretAdminKey { project_id, slip },
        };
        Err(wrong.into())
    }
}

/// Checks that a key with limited permissions may use the operation.
fn permit(key: Option<&ApiKey>, route: Option<&Route>) -> Result<(), KnownError> {
    let Some(key) = key.filter(|key| key.permissions.is_some()) else { return Ok(()) };
    let needed = route.and_then(Route::permission);
    if needed.is_some_and(|needed| key.may(needed)) {
        return Ok(());
    }
    Err(KnownError::InsufficientKeyPermission { required_permission: needed.map(|needed| needed.to_string()) })
}
