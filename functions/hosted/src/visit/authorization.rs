//! Requests to the authorization endpoint and the end-session endpoint, whose paths name the
//! project instead of a page.

use std::sync::Mutex;

use api::http::describe::SchemaParts;
use api::http::{Describe, Description};
use api::product::input::ProjectPath;
use axum::extract::FromRequestParts;
use flows::App;
use http::request::Parts;

use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::fields::Fields;

/// The name of the page to which the authorization endpoint redirects.
pub(crate) const AUTHORIZE: &str = "authorize";
/// The name of the page to which the end-session endpoint redirects.
pub(crate) const LOGOUT: &str = "logout";

/// A request to the authorization endpoint or the end-session endpoint. The query of the visit is
/// left empty, because the parameters belong to the client.
pub struct AuthorizationVisit {
    pub(crate) visit: Visit,
    /// The client's parameters, in the form of a query.
    pub(crate) parameters: String,
}

impl FromRequestParts<App> for AuthorizationVisit {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Answer> {
        let visit = Visit::from_request_parts(parts, app).await?;
        // A request that is sent as a form has its parameters in the body (OpenID Connect Core
        // §3.1.2.1).
        let parameters =
            if parts.method == http::Method::POST { visit.form.query() } else { parts.uri.query().unwrap_or_default().to_owned() };
        // The form may come from another site. The browser then sends the form without the cookies
        // of the pages, and the response must not replace them.
        let visit = Visit { page: AUTHORIZE.to_owned(), query: Fields::default(), set: Mutex::default(), ..visit };
        Ok(Self { visit, parameters })
    }
}

impl Describe for AuthorizationVisit {
    fn describe(description: &mut Description) {
        description.path = Some(SchemaParts::of::<ProjectPath>());
    }
}
