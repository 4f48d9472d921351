//! Redirects to the account's page, from the page's forms and from the pages that lead back to it.

use api::http::{Describe, Description};
use axum::extract::FromRequestParts;
use flows::App;
use http::request::Parts;
use jiff::SignedDuration;

use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::cookies::Cookie;

/// The name of the account's page.
pub(crate) const ACCOUNT: &str = "account-settings";

/// The sections of the account's page, in order.
pub(crate) const SECTIONS: [&str; 13] = [
    "profile",
    "emails",
    "password",
    "passkeys",
    "second-step",
    "sessions",
    "grants",
    "providers",
    "teams",
    "keys",
    "activity",
    "data",
    "deletion",
];

/// The time for which the text about a change is kept until the page shows it.
const DONE_LIFE: SignedDuration = SignedDuration::from_secs(60);

/// A request for the account's page. Unlike other pages, it has a route of its own, without a
/// parameter for the page's name.
pub struct AccountVisit(pub(crate) Visit);

impl FromRequestParts<App> for AccountVisit {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Answer> {
        let visit = Visit::from_request_parts(parts, app).await?;
        Ok(Self(Visit { page: ACCOUNT.to_owned(), ..visit }))
    }
}

impl Describe for AccountVisit {
    fn describe(_: &mut Description) {}
}

impl Visit {
    /// Loads the account's page again after a change, and scrolls to a section. A cookie keeps the
    /// text about the change (`account.done` in the catalog), so that no link can make the page
    /// report a change that was not made.
    pub(crate) fn account_changed(&self, section: &str, text: &str) -> Answer {
        let section = known(section);
        self.set_cookie(self.cookies.set(Cookie::Done, &format!("{section}.{text}"), Some(DONE_LIFE)));
        self.account_anew(section)
    }

    /// Loads the account's page again, and scrolls to a section. A link cannot reload the page,
    /// because the browser is already at its URL.
    pub(crate) fn account_anew(&self, section: &str) -> Answer {
        let url = self.place.url(ACCOUNT, &self.way_back());
        Answer::redirect(&format!("{url}#{}", known(section)))
    }

    /// The section and the name of the text about the change that was just made. Each change is
    /// returned only once.
    pub(crate) fn take_change(&self) -> Option<(&str, &str)> {
        let change = self.cookies.get(Cookie::Done)?.split_once('.')?;
        self.set_cookie(self.cookies.set(Cookie::Done, "", Some(SignedDuration::ZERO)));
        Some(change)
    }
}

/// The section with this name. Empty if there is no such section.
fn known(section: &str) -> &'static str {
    SECTIONS.into_iter().find(|known| *known == section).unwrap_or_default()
}
