//! The public content of a site: exactly these fields.

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

impl Site {
    /// What a site is before anything is published: its address is all that is known of it.
    pub fn unpublished(site_url: &str) -> Self {
        let host = url::Url::parse(site_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let name = host.unwrap_or_else(|| site_url.to_owned());
        Self {
            description: format!("Apps, posts and documentation of {name}."),
            name,
            url: site_url.to_owned(),
            resources: Resources::following(site_url),
        }
    }
}

impl Resources {
    /// Where the resources of a site are unless it says otherwise: below its own URL, which has no trailing slash.
    pub fn following(site_url: &str) -> Self {
        let at = |path: &str| format!("{site_url}{path}");
        Self {
            docs: at("/docs"),
            docs_api_reference: at("/docs/api"),
            llms_txt: at("/llms.txt"),
            llms_full_txt: at("/llms-full.txt"),
            index_md: at("/index.md"),
            feed_xml: at("/feed.xml"),
            mcp_discovery: at("/.well-known/mcp.json"),
            mcp: at("/mcp"),
            agent_card: at("/.well-known/agent-card.json"),
            cli_package: at("/cli"),
            openapi: at("/openapi.json"),
        }
    }
}

/// A URL of the content at the site's URL: one that was published as a path follows it, any other is absolute already.
fn based(url: &mut String, site_url: &str) {
    if url.is_empty() || url.starts_with('/') {
        url.insert_str(0, site_url);
    }
}

impl Site {
    /// The site at this URL, which has no trailing slash.
    pub fn at(mut self, site_url: &str) -> Self {
        let resources = &mut self.resources;
        for url in [
            &mut self.url,
            &mut resources.docs,
            &mut resources.docs_api_reference,
            &mut resources.llms_txt,
            &mut resources.llms_full_txt,
            &mut resources.index_md,
            &mut resources.feed_xml,
            &mut resources.mcp_discovery,
            &mut resources.mcp,
            &mut resources.agent_card,
            &mut resources.cli_package,
            &mut resources.openapi,
        ] {
            based(url, site_url);
        }
        self
    }
}

impl App {
    /// The app of the site at this URL, which has no trailing slash.
    pub fn at(mut self, site_url: &str) -> Self {
        based(&mut self.url, site_url);
        self
    }
}

impl BlogPost {
    /// The post of the site at this URL, which has no trailing slash.
    pub fn at(mut self, site_url: &str) -> Self {
        based(&mut self.url, site_url);
        self
    }
}

/// Everything that a site shows, as one publication writes it: all of it is replaced at once for every reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub site: Site,
    /// Visible apps alone, in the order of their file.
    pub apps: Vec<App>,
    /// Newest first.
    pub blog_posts: Vec<BlogPost>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_without_a_publication_still_has_a_name_and_every_resource() {
        let site = serde_json::to_value(Site::unpublished("https://example.com")).unwrap();
        assert_eq!(site["name"], "example.com");
        let resources = site["resources"].as_object().unwrap();
        assert_eq!(resources.len(), 11);
        assert!(resources.values().all(|url| url.as_str().unwrap().starts_with("https://example.com/")));
    }

    #[test]
    fn paths_follow_the_site_and_absolute_urls_stay() {
        let own = Resources { docs: "https://docs.example.net/".to_owned(), ..Resources::following("") };
        let site = Site { url: String::new(), resources: own, ..Site::unpublished("https://example.com") };
        let site = site.at("http://localhost:9000");
        assert_eq!((&*site.url, &*site.resources.docs), ("http://localhost:9000", "https://docs.example.net/"));
        assert_eq!(site.resources.openapi, "http://localhost:9000/openapi.json");
        assert_eq!(Site::unpublished("https://example.com").at("http://localhost:9000"), Site::unpublished("https://example.com"));
    }
}
