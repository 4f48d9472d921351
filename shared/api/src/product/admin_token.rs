//! The admin access token: a user of the project `internal` has access, at every level, to the
//! projects that the user's teams own.
//!
//! Like other access tokens, an admin access token does not outlive its session, because its
//! session and the rights of its user are read with every request. The team that owns the project
//! is known only once the project is read. Usually, it is the team that the user has selected. The
//! token contains the id of that team, so the membership is then read together with the project.
//! Otherwise, reading it takes another round trip.

use std::sync::Arc;

use errors::{Error, KnownError};
use flows::App;
use model::project::Project;
use model::session::Session;
use model::session::token::{self, Claims};
use store::keys::{project_key, team_key, user_key};
use store::project::ProjectRow;
use store::session::session_key;
use store::team::TeamRow;
use store::team::membership::member_key;
use store::user::UserRow;
use store::{Items, Key};
use wire::id::{ProjectId, TeamId, UserId};

/// A token that has a valid signature and has not expired.
pub(crate) struct AdminToken {
    claims: Claims,
    internal: ProjectId,
    selected: Option<TeamId>,
}

impl AdminToken {
    /// Verifies a token. Report the error only once the project is known to exist.
    pub(crate) fn read(text: &str, app: &App) -> Result<Self, KnownError> {
        let claims = app.signer.verify(text, app.clock.now()).map_err(|error| match error {
            token::Error::Unparsable => KnownError::UnparsableAdminAccessToken,
            token::Error::Expired(claims) => {
                KnownError::AdminAccessTokenExpired { expired_at_millis: Some(claims.exp.saturating_mul(1000)) }
            }
        })?;
        if claims.is_restricted {
            return Err(KnownError::UnparsableAdminAccessToken);
        }
        if !claims.project_id.is_internal() {
            return Err(KnownError::AdminAccessTokenIsNotAdmin);
        }
        let selected = claims.selected_team();
        Ok(Self { claims, internal: ProjectId::internal(), selected })
    }

    pub(crate) fn user(&self) -> UserId {
        self.claims.sub
    }

    /// The keys of the items that prove the access, as far as they are known before the project is
    /// read.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let user = self.claims.sub;
        let (internal, session) = (&self.internal, self.claims.refresh_token_id);
        let mut keys = vec![project_key(internal), user_key(internal, user), session_key(internal, user, session)];
        keys.extend(self.selected.into_iter().flat_map(|team| [team_key(internal, team), member_key(internal, team, user)]));
        keys
    }

    /// Checks that the token's session is live, and that its user is not restricted and is
    /// currently a member of the team that owns the project.
    pub(crate) async fn prove(&self, project: &Project, app: &App, items: &Found) -> Result<(), Error> {
        let Some((internal, user)) = items.internal.as_ref().zip(items.user.as_ref()) else {
            return Err(KnownError::AdminAccessTokenUserNotFound.into());
        };
        let (user, config) = (&user.user, &internal.config);
        if user.restricted_reason(config).is_some() {
            return Err(KnownError::UnparsableAdminAccessToken.into());
        }
        let live = items.session.as_ref().filter(|session| session.is_live(user, &config.sessions, app.clock.now()));
        let session = live.ok_or(KnownError::AdminAccessTokenExpired { expired_at_millis: None })?;
        if user.restricted_reason_in(session, config).is_some() {
            return Err(KnownError::UnparsableAdminAccessToken.into());
        }
        let owner = project.owner_team_id.as_deref().and_then(|id| TeamId::parse(id).ok());
        let owns = match owner {
            None => false,
            Some(team) if self.selected == Some(team) => items.is_member_of_selected,
            Some(team) => {
                let (team, members) = app.store.team_and_members(&self.internal, team, &[self.claims.sub]).await?;
                team.is_some() && !members.is_empty()
            }
        };
        if owns { Ok(()) } else { Err(KnownError::AdminAccessTokenIsNotAdmin.into()) }
    }

    /// The items of [`Self::keys`], which stay in `items`, because they are also needed there if
    /// the project is `internal` itself.
    pub(crate) fn found(&self, items: &Items) -> Result<Found, Error> {
        let (internal, user) = (&self.internal, self.claims.sub);
        let session = items.read(&session_key(internal, user, self.claims.refresh_token_id))?;
        let is_member_of_selected = match self.selected {
            Some(team) => {
                let team_item = items.read_as(&team_key(internal, team), TeamRow::of)?;
                team_item.is_some_and(|team| team.is_some()) && items.has(&member_key(internal, team, user))
            }
            None => false,
        };
        Ok(Found {
            internal: ProjectRow::shared(items, internal)?.map(|(project, _)| project),
            user: items.read_as(&user_key(internal, user), UserRow::of)?,
            session,
            is_member_of_selected,
        })
    }
}

/// The items that prove the access.
pub(crate) struct Found {
    internal: Option<Arc<Project>>,
    user: Option<Arc<UserRow>>,
    session: Option<Arc<Session>>,
    is_member_of_selected: bool,
}
