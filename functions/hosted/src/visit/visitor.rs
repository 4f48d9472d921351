//! The visitor, which is the user whose session is in the cookie.

use flows::App;
use http::request::Parts;
use model::project::Project;
use model::session::{Session, refresh_token};
use model::user::User;
use secrecy::SecretString;
use store::keys::{project_key, user_key};
use store::session::token_key;
use wire::id::ProjectId;

use crate::visit::cookies::{Cookie, Cookies};

/// A signed-in user.
pub(crate) struct Visitor {
    pub(crate) user: User,
    pub(crate) session: Session,
    /// The refresh token.
    pub(crate) token: SecretString,
}

/// Reads a project, and the user and session of the project's cookie, in one round trip. `None` if
/// the project does not exist.
pub(crate) async fn read(
    app: &App,
    parts: &Parts,
    project: &ProjectId,
) -> Result<Option<(Project, Cookies, Option<Visitor>)>, store::Error> {
    let cookies = Cookies::read(&parts.headers, project, !app.settings.development);
    let token = cookies.get(Cookie::Session).map(|token| SecretString::from(token.to_owned()));
    let named = token.as_ref().and_then(refresh_token::session_in).map(|(user, _)| user_key(project, user));
    let keys = [project_key(project)].into_iter().chain(token.as_ref().map(|token| token_key(project, token))).chain(named);
    let known = app.store.knowing(app.store.get_many(keys).await?);
    let Some(row) = known.project(project).await? else { return Ok(None) };
    let visitor = match token {
        Some(token) => visitor(app, &row.project, &known, token).await?,
        None => None,
    };
    Ok(Some((row.project, cookies, visitor)))
}

/// The user of a refresh token, if the session is live.
async fn visitor(app: &App, project: &Project, known: &store::Store, token: SecretString) -> Result<Option<Visitor>, store::Error> {
    let Some(claim) = known.token_claim(&project.id, &token).await? else { return Ok(None) };
    let Some(session) = known.session(&project.id, claim.user_id, claim.session_id).await? else { return Ok(None) };
    let Some(row) = known.user(&project.id, claim.user_id).await? else { return Ok(None) };
    let is_live = session.is_live(&row.user, &project.config.sessions, app.clock.now());
    Ok(is_live.then_some(Visitor { user: row.user, session, token }))
}
