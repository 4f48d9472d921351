//! Requests of the authorization endpoint, whose path names the project instead of a page.

use api::http::describe::SchemaParts;
use api::http::{Describe, Description};
use api::product::input::ProjectPath;
use axum::extract::FromRequestParts;
use flows::App;
use http::request::Parts;

use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::fields::Fields;

/// The name of the page to which the endpoint leads.
pub(crate) const AUTHORIZE: &str = "authorize";

/// A request of the authorization endpoint. The visit has none of its parameters: they are the
/// client's.
pub struct AuthorizationVisit {
    pub(crate) visit: Visit,
    /// The parameters, as in a query.
    pub(crate) parameters: String,
}

impl FromRequestParts<App> for AuthorizationVisit {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Answer> {
        let visit = Visit::from_request_parts(parts, app).await?;
        // A form has its parameters in the body (OpenID Connect Core §3.1.2.1).
        let parameters =
            if parts.method == http::Method::POST { visit.form.query() } else { parts.uri.query().unwrap_or_default().to_owned() };
        Ok(Self { visit: Visit { page: AUTHORIZE.to_owned(), query: Fields::default(), ..visit }, parameters })
    }
}

impl Describe for AuthorizationVisit {
    fn describe(description: &mut Description) {
        description.path = Some(SchemaParts::of::<ProjectPath>());
    }
}
