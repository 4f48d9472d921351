//! The session of a visit: the visitor's session, or a session that the request has started.

use jiff::SignedDuration;
use minijinja::{Value, context};
use model::project::redirect::RedirectUrl;
use model::session::token::Subject;
use secrecy::SecretString;

use crate::visit::cookies::Cookie;
use crate::visit::visitor::{Visitor, read};
use crate::visit::{SignedIn, Visit};

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

    /// The name with which the page addresses the visitor: the display name, otherwise the email
    /// address, and otherwise the id.
    pub(crate) fn visitor_name(&self) -> Option<String> {
        let Visitor { user, .. } = self.visitor.as_ref()?;
        let email = || user.primary().map(|channel| channel.value.to_string());
        Some(user.display_name.clone().filter(|name| !name.is_empty()).or_else(email).unwrap_or_else(|| user.id.to_string()))
    }

    /// The visitor, for a template. `None` if nobody is signed in, or if the user is anonymous and
    /// therefore has no account with which to continue.
    pub(crate) fn visitor_shown(&self) -> Option<Value> {
        let user = &self.visitor.as_ref().filter(|visitor| !visitor.user.is_anonymous)?.user;
        let email = user.primary().map(|channel| channel.value.to_string());
        Some(context! { name => self.visitor_name(), email => email })
    }

    /// Stores the session in a cookie that lasts as long as the session can.
    pub(crate) fn keep_session(&self, refresh_token: &str) {
        self.set_cookie(self.cookies.set(Cookie::Session, refresh_token, Some(self.project.config.sessions.life())));
    }

    /// Removes the session from the browser.
    pub(crate) fn forget_session(&self) {
        self.set_cookie(self.cookies.set(Cookie::Session, "", Some(SignedDuration::ZERO)));
    }

    /// Reads the visitor again after a change, so that the page can show the change. If reading
    /// fails, the page shows the earlier state.
    pub(crate) async fn read_again(&mut self) {
        if let Ok(Some((_, _, Some(visitor)))) = read(&self.app, &self.parts, &self.project.id).await {
            self.visitor = Some(visitor);
        }
    }

    /// Whether the URL is on a host of hosted pages, of this project or another project.
    pub(crate) fn is_at_own_host(&self, url: &RedirectUrl) -> bool {
        let pages = &self.app.settings.own_pages;
        let url = url.url();
        let authority = url.authority();
        url.origin().ascii_serialization() == pages.api() || pages.project_of(authority).is_some()
    }

    /// Makes a session that has just begun the visitor's session.
    pub(crate) fn begin_session(&mut self, access_token: &str, refresh_token: &str) {
        self.keep_session(refresh_token);
        self.signed_in =
            Some(SignedIn { access_token: access_token.to_owned(), refresh_token: SecretString::from(refresh_token.to_owned()) });
    }
}
