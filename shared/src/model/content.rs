//! The public content of a site (SPEC.md, Interface A): exactly these fields.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A public app of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct App {
    /// Stable public identifier; also the path value of getApp.
    pub id: String,
    pub display_name: String,
    pub subtitle: String,
    #[schema(format = Uri)]
    pub url: String,
}

/// The metadata of a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlogPost {
    pub slug: String,
    pub title: String,
    /// RFC 3339, UTC, with seconds.
    #[schema(format = DateTime)]
    pub published_at: String,
    /// Plain text, at most 200 characters.
    pub excerpt: String,
    #[schema(format = Uri)]
    pub url: String,
}

/// The identity of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    pub name: String,
    pub description: String,
    #[schema(format = Uri)]
    pub url: String,
    pub resources: Resources,
}

/// Where the documentation of a site is, for people and for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resources {
    #[schema(format = Uri)]
    pub docs: String,
    #[schema(format = Uri)]
    pub docs_api_reference: String,
    #[schema(format = Uri)]
    pub llms_txt: String,
    #[schema(format = Uri)]
    pub llms_full_txt: String,
    #[schema(format = Uri)]
    pub index_md: String,
    #[schema(format = Uri)]
    pub feed_xml: String,
    #[schema(format = Uri)]
    pub mcp_discovery: String,
    #[schema(format = Uri)]
    pub mcp: String,
    #[schema(format = Uri)]
    pub agent_card: String,
    #[schema(format = Uri)]
    pub cli_package: String,
    #[schema(format = Uri)]
    pub openapi: String,
}

/// Everything that a site shows, as one publication writes it.
///
/// It is one item of the table, so a publication replaces all of it at once for every reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub site: Site,
    /// Visible apps alone, in the order of their file.
    pub apps: Vec<App>,
    /// Newest first.
    pub blog_posts: Vec<BlogPost>,
}
