//! What a request claims, and its proof: a key or an admin access token. Client access may need
//! neither.

use errors::{Error, KnownError};
use flows::App;
use flows::proofs::Claim;
use model::project::{ApiKey, KeyKind, Project};
use wire::level::Level;

use crate::product::access::Headers;
use crate::product::admin_token;

impl Headers<'_> {
    /// What the request claims.
    pub(super) fn claim(&self) -> Claim {
        Claim { project: self.project.clone(), level: self.level, key: self.key.clone() }
    }

    /// Whether a proof of the claim may be remembered, and a remembered one used: not if the
    /// request is proved by an admin access token, or refused in any case for its override key.
    pub(super) fn may_be_remembered(&self) -> bool {
        self.admin_token.is_none() && !self.has_override_key
    }

    /// Proves the access level. An admin access token replaces any key.
    pub(super) async fn prove(
        &self,
        project: &Project,
        key: Option<&ApiKey>,
        found: Option<admin_token::Found>,
        app: &App,
    ) -> Result<(), Error> {
        if self.has_override_key {
            return Err(KnownError::OverrideKeyNotSupported.into());
        }
        match (&self.admin_token, found) {
            (Some(Ok(token)), Some(found)) => token.prove(project, app, &found).await,
            (Some(Err(error)), _) => Err(error.clone().into()),
            _ => Ok(self.prove_by_key(project, key, app)?),
        }
    }

    fn prove_by_key(&self, project: &Project, key: Option<&ApiKey>, app: &App) -> Result<(), KnownError> {
        let (project_id, slip) = (project.id.to_string(), self.slip);
        let opens = key.is_some_and(|key| key.opens(KeyKind::of(self.level), app.clock.now()));
        match (self.level, &self.key, opens) {
            (_, Some(_), true) => Ok(()),
            (Level::Client, None, _) if project.config.require_publishable_client_key => {
                Err(KnownError::PublishableClientKeyRequiredForProject { project_id: Some(project_id) })
            }
            (Level::Client, None, _) => Ok(()),
            (Level::Client, Some(_), false) => Err(KnownError::InvalidPublishableClientKey { project_id, slip }),
            (Level::Server, None, _) => Err(KnownError::ServerAuthenticationRequired(slip)),
            (Level::Server, Some(_), false) => Err(KnownError::InvalidSecretServerKey { project_id, slip }),
            (Level::Admin, None, _) => Err(KnownError::AdminAuthenticationRequired(slip)),
            (Level::Admin, Some(_), false) => Err(KnownError::InvalidSuperSecretAdminKey { project_id, slip }),
        }
    }
}
