//! The access token of a request, the token's user, and the kinds of users that the request
//! accepts.

use errors::{Error, KnownError};
use flows::App;
use flows::current_user::{AllowedUsers, CurrentUser, keys, live_user, token_error};
use http::HeaderMap;
use model::project::Project;
use model::session::token::Claims;
use store::{Items, Key};
use wire::id::{ProjectId, SessionId, UserId};

use crate::http::route::{Admission, Route};
use crate::product::header_family::header;

/// An unexpired access token of the project, with a valid signature.
pub(crate) struct AccessToken {
    claims: Claims,
    allows: AllowedUsers,
}

impl AccessToken {
    /// Verifies a token's signature, times and project. `limited` is the route of a client's
    /// request if the route has a rate limit.
    pub(crate) fn read(token: &str, project: &str, headers: &HeaderMap, limited: Option<&Route>, app: &App) -> Result<Self, KnownError> {
        let claims = app.signer.verify(token, app.clock.now()).map_err(token_error)?;
        if claims.project_id.as_str() != project {
            return Err(KnownError::InvalidProjectForAccessToken {
                expected_project_id: project.to_owned(),
                actual_project_id: claims.project_id.to_string(),
            });
        }
        Ok(Self { claims, allows: allowed(headers, limited)? })
    }

    pub(crate) fn user(&self) -> UserId {
        self.claims.sub
    }

    pub(crate) fn session(&self) -> SessionId {
        self.claims.refresh_token_id
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The keys of the items that [`Self::user_now`] needs.
    pub(crate) fn keys(&self, project: &ProjectId) -> Vec<Key> {
        keys(project, &self.claims)
    }

    /// The token's user as stored, if the session is live and the request accepts this kind of
    /// user.
    pub(crate) fn user_now(&self, project: &Project, items: &Items, app: &App) -> Result<CurrentUser, Error> {
        let current = CurrentUser { allows: self.allows, ..live_user(project, &self.claims, items, app)? };
        self.allows.check(&current.row.user, &current.session, project)?;
        Ok(current)
    }
}

/// The kinds of users that the request accepts, according to its headers. Every sender can set
/// these headers, and the published SDK always accepts restricted users. To enforce an
/// administrator's restriction and an owed second factor, operations with a rate limit therefore
/// reject such users' requests from clients, unless the route admits them ([`Route::admits`]).
fn allowed(headers: &HeaderMap, limited: Option<&Route>) -> Result<AllowedUsers, KnownError> {
    let anonymous = header(headers, "allow-anonymous-user")? == Some("true");
    let restricted = anonymous || header(headers, "allow-restricted-user")? == Some("true");
    let by_administrator = limited.is_none_or(|route| route.admission >= Admission::Restricted);
    Ok(AllowedUsers { anonymous, restricted, by_administrator, owing: limited.is_none_or(|route| route.admission >= Admission::Owing) })
}
