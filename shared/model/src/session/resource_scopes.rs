//! The resources that a session of an OAuth client may use. A resource is a service, such as an API
//! or an MCP server, and is identified by its URL (RFC 8707 §2).

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;
use wire::host::is_loopback;
use wire::id::OauthResourceId;

use crate::session::client_name::derived_id;
use crate::session::scope::Scopes;

/// The maximum length of an identifier, in bytes.
const MAX_IDENTIFIER: usize = 512;

/// The URL that identifies a resource. The scheme and the host are in lower case. Otherwise, two
/// identifiers are the same resource only if every character is the same, including a final slash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceIdentifier(String);

/// The text cannot identify a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an https URL, or an http URL of localhost, 127.0.0.1 or [::1], without user, fragment and default port; at most {MAX_IDENTIFIER} bytes"
)]
pub struct IdentifierRefusal;

wire::deserr_from!(ResourceIdentifier, String, |text| Self::parse(&text));

impl ResourceIdentifier {
    /// Parses an identifier.
    pub fn parse(text: &str) -> Result<Self, IdentifierRefusal> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'#' | b'`'));
        let url = Url::parse(text).ok().filter(|_| text.len() <= MAX_IDENTIFIER && is_plain).ok_or(IdentifierRefusal)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || !(url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url))) {
            return Err(IdentifierRefusal);
        }
        let origin = text.split_once("://").map(|(scheme, rest)| scheme.len() + 3 + rest.find(['/', '?']).unwrap_or(rest.len()));
        let (origin, rest) = text.split_at(origin.ok_or(IdentifierRefusal)?);
        // A parser that reads a different URL would send the token to a different service.
        let identifier = format!("{}{rest}", origin.to_ascii_lowercase());
        let is_same = url.as_str() == identifier || url.as_str().strip_suffix('/') == Some(&identifier);
        if is_same { Ok(Self(identifier)) } else { Err(IdentifierRefusal) }
    }

    /// The id of the resource with this identifier.
    pub fn id(&self) -> OauthResourceId {
        derived_id(&format!("resource {self}")).into()
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Resources, each with scopes: what a client requests, what a user grants, or what a session
/// permits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceScopes(Vec<(ResourceIdentifier, Scopes)>);

impl ResourceScopes {
    /// Whether there is no resource.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only resource; `None` if there is none, or more than one.
    pub fn only(&self) -> Option<(&ResourceIdentifier, &Scopes)> {
        let [(resource, scopes)] = self.0.as_slice() else { return None };
        Some((resource, scopes))
    }

    /// The scopes of a resource.
    pub fn find(&self, resource: &ResourceIdentifier) -> Option<&Scopes> {
        self.0.iter().find(|(own, _)| own == resource).map(|(_, scopes)| scopes)
    }

    /// Adds scopes of a resource.
    pub fn add(&mut self, resource: &ResourceIdentifier, scopes: &Scopes) {
        match self.0.iter_mut().find(|(own, _)| own == resource) {
            Some((_, own)) => *own = std::mem::take(own).and(scopes),
            None => self.0.push((resource.clone(), scopes.clone())),
        }
    }

    /// Both lists together.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        others.0.iter().for_each(|(resource, scopes)| self.add(resource, scopes));
        self
    }

    /// Whether the other list contains all resources of this list, with all their scopes.
    pub fn are_within(&self, others: &Self) -> bool {
        self.0.iter().all(|(resource, scopes)| others.find(resource).is_some_and(|granted| scopes.are_within(granted)))
    }

    /// Each resource with its scopes.
    pub fn iter(&self) -> impl Iterator<Item = (&ResourceIdentifier, &Scopes)> {
        self.0.iter().map(|(resource, scopes)| (resource, scopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_and_host_are_in_lower_case_and_everything_else_is_kept() {
        for (text, identifier) in [
            ("https://mcp.example.com", "https://mcp.example.com"),
            ("https://mcp.example.com/", "https://mcp.example.com/"),
            ("HTTPS://MCP.Example.com/Mcp?Tenant=A", "https://mcp.example.com/Mcp?Tenant=A"),
            ("https://mcp.example.com:8443/mcp", "https://mcp.example.com:8443/mcp"),
            ("http://localhost:9401/mcp", "http://localhost:9401/mcp"),
            ("http://127.0.0.1:9401", "http://127.0.0.1:9401"),
            ("http://[::1]:9401/", "http://[::1]:9401/"),
        ] {
            assert_eq!(ResourceIdentifier::parse(text).as_ref().map(ResourceIdentifier::as_str), Ok(identifier), "{text}");
        }
    }

    #[test]
    fn other_urls_identify_no_resource() {
        let long = format!("https://mcp.example.com/{}", "a".repeat(MAX_IDENTIFIER));
        for text in [
            "",
            "mcp.example.com",
            "http://mcp.example.com",
            "https://user@mcp.example.com",
            "https://mcp.example.com/#a",
            "https://mcp.example.com/a/../b",
            "https://mcp.example.com:443/a",
            "https:mcp.example.com",
            "https://mcp.example.com/a b",
            "https://mcp.exämple.com/",
            "urn:mcp:server",
            &long,
        ] {
            assert_eq!(ResourceIdentifier::parse(text), Err(IdentifierRefusal), "{text}");
        }
    }

    #[test]
    fn a_grant_covers_the_same_resources_with_the_same_or_fewer_scopes() {
        let [one, two] = ["https://a.example", "https://b.example"].map(|text| ResourceIdentifier::parse(text).expect("a resource"));
        let scopes = |text: &str| Scopes::parse(text).expect("scopes");
        let mut granted = ResourceScopes::default();
        granted.add(&one, &scopes("read"));
        granted.add(&one, &scopes("write"));
        let asked = |resource: &ResourceIdentifier, text: &str| ResourceScopes(vec![(resource.clone(), scopes(text))]);
        assert!(asked(&one, "write").are_within(&granted) && asked(&one, "").are_within(&granted));
        assert!(!asked(&one, "read admin").are_within(&granted) && !asked(&two, "").are_within(&granted));
        assert_eq!(granted.and(&asked(&two, "read")).iter().count(), 2);
        assert_ne!(one.id(), two.id());
    }
}
