//! The visitor: the user whose session is in the cookie.

use flows::App;
use http::request::Parts;
use jiff::SignedDuration;
use minijinja::{Value, context};
use model::project::Project;
use model::session::token::Subject;
use model::session::{Session, refresh_token};
use model::user::User;
use secrecy::{ExposeSecret as _, SecretString};
use store::keys::{project_key, user_key};
use store::session::token_key;
use wire::id::ProjectId;

use crate::visit::Visit;
use crate::visit::cookies::{Cookie, Cookies};

/// A signed-in user.
pub(crate) struct Visitor {
    pub(crate) user: User,
    pub(crate) session: Session,
    /// The refresh token.
    pub(crate) token: SecretString,
}

/// Reads a project, and the user and the session of its cookie, in one round trip. `None` if the
/// project does not exist.
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

impl Visit {
    /// The refresh token of the visitor's session.
    pub(crate) fn refresh_token(&self) -> Option<&str> {
        let began = self.signed_in.as_ref().map(|signed_in| &signed_in.refresh_token);
        began.or_else(|| self.visitor.as_ref().map(|visitor| &visitor.token)).map(secrecy::ExposeSecret::expose_secret)
    }

    /// An access token of the visitor, for calls within the process.
    pub(crate) fn access_token(&self) -> Option<String> {
        if let Some(signed_in) = &self.signed_in {
            return Some(signed_in.access_token.clone());
        }
        let Visitor { user, session, .. } = self.visitor.as_ref()?;
        let subject = Subject::of(user, &self.project.id, &self.project.config, session);
        Some(self.app.signer.sign(&subject, self.app.clock.now(), self.app.settings.access_token_life))
    }

    /// Reads the visitor again, after a change that the page is to show. If that fails, the page
    /// shows what was.
    pub(crate) async fn read_again(&mut self) {
        if let Ok(Some((_, _, Some(visitor)))) = read(&self.app, &self.parts, &self.project.id).await {
            self.visitor = Some(visitor);
        }
    }

    /// What the visitor is called: a name, or else an address.
    pub(crate) fn visitor_name(&self) -> Option<String> {
        let Visitor { user, .. } = self.visitor.as_ref()?;
        let email = || user.primary().map(|channel| channel.value.to_string());
        Some(user.display_name.clone().filter(|name| !name.is_empty()).or_else(email).unwrap_or_else(|| user.id.to_string()))
    }

    /// The visitor, for a template; `None` for nobody, and for an anonymous user, who has nothing to
    /// go on with.
    pub(crate) fn visitor_shown(&self) -> Option<Value> {
        let user = &self.visitor.as_ref().filter(|visitor| !visitor.user.is_anonymous)?.user;
        let email = user.primary().map(|channel| channel.value.to_string());
        Some(context! { name => self.visitor_name(), email => email })
    }

    /// Keeps the session in the cookie, for as long as it can last.
    pub(crate) fn keep_session(&self, refresh_token: &str) {
        self.set_cookie(self.cookies.set(Cookie::Session, refresh_token, Some(self.project.config.sessions.life())));
    }

    /// Removes the session from the browser.
    pub(crate) fn forget_session(&self) {
        self.set_cookie(self.cookies.set(Cookie::Session, "", Some(SignedDuration::ZERO)));
    }
}
