//! The access token of a request: whose it is, and which users the request accepts.

use errors::{Error, KnownError};
use flows::App;
use flows::current_user::{Allowed, CurrentUser, keys, live_user, token_error};
use http::HeaderMap;
use model::project::Project;
use model::session::token::Claims;
use store::{Items, Key};
use wire::id::{ProjectId, UserId};

use crate::product::header_family::header;

/// An access token of the project whose signature and times are right.
pub(crate) struct AccessToken {
    claims: Claims,
    allows: Allowed,
}

impl AccessToken {
    /// The checks of an access token: whose it is, and whether it is still good.
    pub(crate) fn read(token: &str, project: &str, headers: &HeaderMap, is_change: bool, app: &App) -> Result<Self, KnownError> {
        let claims = app.signer.verify(token, app.clock.now()).map_err(token_error)?;
        if claims.project_id.as_str() != project {
            return Err(KnownError::InvalidProjectForAccessToken {
                expected_project_id: project.to_owned(),
                actual_project_id: claims.project_id.to_string(),
            });
        }
        Ok(Self { claims, allows: allowed(headers, is_change)? })
    }

    pub(crate) fn user(&self) -> UserId {
        self.claims.sub
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The items that [`Self::user_now`] needs.
    pub(crate) fn keys(&self, project: &ProjectId) -> [Key; 2] {
        keys(project, &self.claims)
    }

    /// The user as it is now, if the session lives and the request accepts such users (step 9).
    pub(crate) fn user_now(&self, project: &Project, items: &Items, app: &App) -> Result<CurrentUser, Error> {
        let current = CurrentUser { allows: self.allows, ..live_user(project, &self.claims, items, app)? };
        self.allows.check(&current.row.user, project)?;
        Ok(current)
    }
}

/// What the headers say, which whoever sends the request decides, and the published SDK says always: an administrator's restriction
/// is not theirs to lift, so what changes something accepts no such user.
fn allowed(headers: &HeaderMap, is_change: bool) -> Result<Allowed, KnownError> {
    let anonymous = header(headers, "allow-anonymous-user")? == Some("true");
    let restricted = anonymous || header(headers, "allow-restricted-user")? == Some("true");
    Ok(Allowed { anonymous, restricted, by_administrator: !is_change })
}
