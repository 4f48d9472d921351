//! The resource for which an access token is issued.

use errors::{Error, KnownError};
use model::openid::request::{AuthorizationError, Refusal};
use model::openid::resource::OauthResource;
use model::project::Project;
use model::session::resource_scopes::{ResourceIdentifier, ResourceScopes};
use model::session::scope::Scopes;

use crate::App;

/// A resource, and the scopes that a token gives there.
#[derive(Debug, Clone)]
pub struct TokenTarget {
    /// The resource.
    pub resource: OauthResource,
    /// The scopes.
    pub scopes: Scopes,
}

/// The error of a request that names no usable resource, in the form of the endpoints for clients.
fn invalid(reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    let Refusal { error, description } = Refusal::new(AuthorizationError::InvalidTarget, reason);
    KnownError::AuthorizationRequestInvalid { oauth_error: error.code().to_owned(), reason: description.into_owned() }.into()
}

/// The resource that a token request names with `resource`, among those that the user has granted.
/// Without `resource`, the only granted resource (RFC 8707 §2.2). `None` if no resource has been
/// granted: the token is then for the project or its userinfo endpoint.
pub async fn target(app: &App, project: &Project, named: Option<&str>, granted: &ResourceScopes) -> Result<Option<TokenTarget>, Error> {
    let identifier = match named {
        Some(text) if text.contains(' ') => return Err(invalid("resource must be given once: a token is valid for one resource")),
        Some(text) => ResourceIdentifier::parse(text).map_err(|error| invalid(format!("resource {error}")))?,
        None if granted.is_empty() => return Ok(None),
        None => match granted.only() {
            Some((identifier, _)) => identifier.clone(),
            None => return Err(invalid("resource is missing: several resources have been granted, and a token is valid for one")),
        },
    };
    let Some(scopes) = granted.find(&identifier) else {
        return Err(invalid(format!("{identifier} is not a resource that the user has granted in this session")));
    };
    let row = app.store.oauth_resource(&project.id, identifier.id()).await?;
    let Some(resource) = row.map(|row| row.resource) else {
        return Err(invalid(format!("{identifier} is not a resource of this project")));
    };
    // Scopes of the resource may have been removed since the user granted them.
    let scopes = scopes.only(&resource.names());
    Ok(Some(TokenTarget { resource, scopes }))
}
