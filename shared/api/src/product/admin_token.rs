//! The admin access token: a user of the project `internal` has access, at every level, to the
//! projects that the user's teams own.
//!
//! Like other access tokens, an admin access token does not outlive its session: every request
//! reads the session and the user's rights. The team that owns the project is known only once the
//! project has been read. Usually, this team is the user's selected team, whose id is in the token,
//! so the user's membership is read together with the project. If another team owns the project,
//! reading the membership takes another round trip.

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

/// An unexpired token with a valid signature.
pub(crate) struct AdminToken {
    claims: Claims,
    internal: ProjectId,
    selected: Option<TeamId>,
}

impl AdminToken {
    /// Verifies a token. The caller must report the error only once the project is known to exist.
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

    /// The keys of the items that prove the access and are known before the project is read.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let user = self.claims.sub;
        let (internal, session) = (&self.internal, self.claims.refresh_token_id);
        let mut keys = vec![project_key(internal), user_key(internal, user), session_key(internal, user, session)];
        keys.extend(self.selected.into_iter().flat_map(|team| [team_key(internal, team), member_key(internal, team, user)]));
        keys
    }

    /// Checks that the token's session is live, and that its user is not restricted and is
    /// currently a member of the team that owns the project. `items` must have been read with the
    /// keys from [`Self::keys`].
    pub(crate) async fn prove(&self, project: &Project, items: &Items, app: &App) -> Result<(), Error> {
        let (internal, id) = (&self.internal, self.claims.sub);
        let user = items.read_as(&user_key(internal, id), UserRow::of)?;
        let Some(((home, _), row)) = ProjectRow::shared(items, internal)?.zip(user) else {
            return Err(KnownError::AdminAccessTokenUserNotFound.into());
        };
        let (user, config) = (&row.user, &home.config);
        if user.restricted_reason(config).is_some() {
            return Err(KnownError::UnparsableAdminAccessToken.into());
        }
        let session = items.read::<Session>(&session_key(internal, id, self.claims.refresh_token_id))?;
        let live = session.filter(|session| session.is_live(user, &config.sessions, app.clock.now()));
        let session = live.ok_or(KnownError::AdminAccessTokenExpired { expired_at_millis: None })?;
        if user.restricted_reason_in(&session, config).is_some() {
            return Err(KnownError::UnparsableAdminAccessToken.into());
        }
        let owner = project.owner_team_id.as_deref().and_then(|id| TeamId::parse(id).ok());
        let owns = match owner {
            None => false,
            Some(team) if self.selected == Some(team) => {
                let row = items.read_as(&team_key(internal, team), TeamRow::of)?;
                row.is_some_and(|team| team.is_some()) && items.has(&member_key(internal, team, id))
            }
            Some(team) => {
                let (team, members) = app.store.team_and_members(internal, team, &[id]).await?;
                team.is_some() && !members.is_empty()
            }
        };
        if owns { Ok(()) } else { Err(KnownError::AdminAccessTokenIsNotAdmin.into()) }
    }
}
