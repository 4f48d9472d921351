//! Resources in requests and responses.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;

use deserr::Deserr;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::OauthResourceId;
use wire::problem::Problems;

use crate::openid::client_input::{ACCESS_TOKEN_SECONDS, NAME, seconds};
use crate::openid::resource::{MAX_SCOPES, OauthResource, ResourceScope};
use crate::project::signing_key::TokenAlgorithm;
use crate::session::resource_scopes::ResourceIdentifier;
use crate::session::scope::Scopes;
use crate::text::line;

/// Permitted lengths of the description of a scope, in characters.
const DESCRIPTION: RangeInclusive<usize> = 1..=200;
/// The maximum length of the name of a scope, in bytes.
const MAX_SCOPE_NAME: usize = 100;

/// The body that creates or changes a resource; in a change, absent fields keep their values.
#[wire::optional]
#[derive(Debug, Clone, Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ResourceInput {
    /// The URL that identifies the resource: an https URL, or an http URL of localhost. Clients
    /// send it as `resource`, and it is the audience of the access tokens. Required for a new
    /// resource; cannot be changed.
    #[schema(value_type = Option<String>, example = "https://mcp.example.com/mcp")]
    pub identifier: Option<ResourceIdentifier>,
    /// One line of 1 to 100 characters, shown to users. Required for a new resource.
    pub name: Option<String>,
    /// What clients can be permitted to do with the resource, at most 50 scopes. Replaces the
    /// entire list.
    pub scopes: Option<Vec<ScopeInput>>,
    /// The algorithm that signs the resource's access tokens. `RS256` requires an RSA key of the
    /// project. Default: `ES256`.
    pub signing_algorithm: Option<TokenAlgorithm>,
    /// How long access tokens are valid: 60 to 86,400 seconds. `null` for the client's setting.
    pub access_token_seconds: Change<u32>,
}

/// A scope of a resource.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ScopeInput {
    /// At most 100 printable ASCII characters without spaces, quotation marks and backslashes. The
    /// scopes that every project supports, such as `email`, cannot be used.
    #[schema(example = "notes:read")]
    pub name: String,
    /// One line of 1 to 200 characters that tells users what they permit.
    #[schema(example = "Read your notes")]
    pub description: String,
}

/// A problem with a field of the body.
fn problem(field: &str, message: impl Display) -> Problems {
    Problems::one(&format!("body.{field}"), message)
}

fn scopes(given: Vec<ScopeInput>) -> Result<Vec<ResourceScope>, Problems> {
    if given.len() > MAX_SCOPES {
        return Err(problem("scopes", format!("must have at most {MAX_SCOPES} elements")));
    }
    let mut seen = BTreeSet::new();
    let check = |(number, scope): (usize, ScopeInput)| {
        let wrong = |field: &str, message: &dyn Display| problem(&format!("scopes[{number}].{field}"), message);
        let is_one = Scopes::parse(&scope.name).is_ok_and(|parsed| parsed.names().eq([scope.name.as_str()]));
        if !is_one || scope.name.len() > MAX_SCOPE_NAME {
            let expected = "must be at most 100 printable ASCII characters without spaces, quotation marks and backslashes";
            return Err(wrong("name", &expected));
        }
        if Scopes::standard().has_name(&scope.name) {
            return Err(wrong("name", &"must not be a scope that every project supports"));
        }
        if !seen.insert(scope.name.clone()) {
            return Err(wrong("name", &"occurs twice in the list"));
        }
        line::check(&scope.description, DESCRIPTION).map_err(|error| wrong("description", &error))?;
        Ok(ResourceScope { name: scope.name, description: scope.description })
    };
    given.into_iter().enumerate().map(check).collect()
}

impl ResourceInput {
    /// Whether the request asks for RS256 as the algorithm of the resource's tokens.
    pub fn asks_for_rsa(&self) -> bool {
        self.signing_algorithm == Some(TokenAlgorithm::Rs256)
    }

    /// The new resource.
    pub fn into_resource(self, now: Timestamp) -> Result<OauthResource, Problems> {
        let identifier = self.identifier.clone().ok_or_else(|| problem("identifier", "is required"))?;
        let name = self.name.clone().ok_or_else(|| problem("name", "is required"))?;
        let resource = OauthResource {
            identifier,
            name,
            scopes: Vec::new(),
            signing_algorithm: TokenAlgorithm::default(),
            access_token_seconds: None,
            created_at: now,
            updated_at: now,
        };
        self.apply(resource, now)
    }

    /// The resource with the change applied.
    pub fn apply(self, mut resource: OauthResource, now: Timestamp) -> Result<OauthResource, Problems> {
        if self.identifier.is_some_and(|wanted| wanted != resource.identifier) {
            return Err(problem("identifier", "cannot be changed: create another resource"));
        }
        if let Some(name) = self.name {
            line::check(&name, NAME).map_err(|error| problem("name", error))?;
            resource.name = name;
        }
        if let Some(given) = self.scopes {
            resource.scopes = scopes(given)?;
        }
        resource.signing_algorithm = self.signing_algorithm.unwrap_or(resource.signing_algorithm);
        seconds("access_token_seconds", self.access_token_seconds, &ACCESS_TOKEN_SECONDS, &mut resource.access_token_seconds)?;
        resource.updated_at = now;
        Ok(resource)
    }
}

/// A resource in a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OauthResource)]
pub struct ResourceView {
    id: OauthResourceId,
    /// The URL that identifies the resource, which is the audience of its access tokens.
    #[schema(example = "https://mcp.example.com/mcp")]
    identifier: String,
    /// The name that users see.
    #[schema(example = "Notes")]
    name: String,
    /// What clients can be permitted to do with the resource.
    scopes: Vec<ScopeView>,
    /// The algorithm that signs the resource's access tokens.
    signing_algorithm: TokenAlgorithm,
    /// How long access tokens are valid, in seconds. `null` for the client's setting.
    access_token_seconds: Option<u32>,
    /// Milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// Milliseconds since the Unix epoch.
    updated_at_millis: i64,
}

/// A scope of a resource, with its description for users.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OauthResourceScope)]
pub struct ScopeView {
    #[schema(example = "notes:read")]
    name: String,
    /// What the scope permits.
    #[schema(example = "Read your notes")]
    description: String,
}

impl ScopeView {
    /// Those of the resource's scopes that are also in `names`.
    pub fn of(resource: &OauthResource, names: &Scopes) -> Vec<Self> {
        let chosen = resource.scopes.iter().filter(|scope| names.has_name(&scope.name));
        chosen.map(|scope| Self { name: scope.name.clone(), description: scope.description.clone() }).collect()
    }
}

impl ResourceView {
    /// A resource in a response.
    pub fn of(resource: &OauthResource) -> Self {
        Self {
            id: resource.identifier.id(),
            identifier: resource.identifier.to_string(),
            name: resource.name.clone(),
            scopes: ScopeView::of(resource, &resource.names()),
            signing_algorithm: resource.signing_algorithm,
            access_token_seconds: resource.access_token_seconds,
            created_at_millis: resource.created_at.as_millisecond(),
            updated_at_millis: resource.updated_at.as_millisecond(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(names: &[&str]) -> ResourceInput {
        let scope = |name: &&str| ScopeInput { name: (*name).to_owned(), description: "Read your notes".to_owned() };
        ResourceInput {
            identifier: ResourceIdentifier::parse("https://mcp.example.com").ok(),
            name: Some("Notes".to_owned()),
            scopes: Some(names.iter().map(scope).collect()),
            ..ResourceInput::default()
        }
    }

    #[test]
    fn scopes_are_single_words_of_their_own() {
        let now = Timestamp::UNIX_EPOCH;
        let resource = input(&["notes:read", "notes:write"]).into_resource(now).expect("a resource");
        assert_eq!(resource.names().to_string(), "notes:read notes:write");
        assert_eq!(resource.requested(&Scopes::parse("openid notes:write x").expect("scopes")).to_string(), "notes:write");
        for names in [&["email"][..], &["a b"], &[""], &["a", "a"], &["é"], &["a\"b"], &[&*"a".repeat(101)]] {
            assert!(input(names).into_resource(now).is_err(), "{names:?}");
        }
        let other = ResourceInput { identifier: ResourceIdentifier::parse("https://mcp.example.com/").ok(), ..ResourceInput::default() };
        assert!(other.apply(resource, now).is_err(), "the identifier cannot be changed");
    }
}
