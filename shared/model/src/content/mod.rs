//! The public content of a site. The API returns exactly the fields of [`App`], [`BlogPost`] and
//! [`Site`].

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub mod image;
pub mod search;

/// A public app in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct App {
    /// The stable public identifier, which is the path parameter of `getApp`.
    pub id: String,
    /// The name to display.
    pub display_name: String,
    /// One line about the app.
    pub subtitle: String,
    /// Absolute URL of the app's page, or a path below the site's URL.
    #[schema(format = Uri)]
    pub url: String,
}

/// The metadata of a blog post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlogPost {
    /// The last segment of the post's URL, which identifies the post.
    pub slug: String,
    /// The headline.
    pub title: String,
    /// When the post was published: RFC 3339, in UTC, with seconds.
    #[schema(format = DateTime)]
    pub published_at: String,
    /// An excerpt of the post: plain text of at most 200 characters.
    pub excerpt: String,
    /// Absolute URL of the post, or a path below the site's URL.
    #[schema(format = Uri)]
    pub url: String,
}

/// The identity of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The name of the site.
    pub name: String,
    /// A description of the site, in one sentence.
    pub description: String,
    /// Absolute URL of the site, without a trailing slash.
    #[schema(format = Uri)]
    pub url: String,
    /// The URLs of the site's documentation.
    pub resources: Resources,
}

/// The URLs of a site's documentation, for people and for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resources {
    /// The documentation.
    #[schema(format = Uri)]
    pub docs: String,
    /// The API reference.
    #[schema(format = Uri)]
    pub docs_api_reference: String,
    /// The index for language models (`llms.txt`).
    #[schema(format = Uri)]
    pub llms_txt: String,
    /// The full text for language models (`llms-full.txt`).
    #[schema(format = Uri)]
    pub llms_full_txt: String,
    /// The start page in Markdown.
    #[schema(format = Uri)]
    pub index_md: String,
    /// The feed of blog posts.
    #[schema(format = Uri)]
    pub feed_xml: String,
    /// The discovery document of the MCP server.
    #[schema(format = Uri)]
    pub mcp_discovery: String,
    /// The endpoint of the MCP server.
    #[schema(format = Uri)]
    pub mcp: String,
    /// The agent card (A2A).
    #[schema(format = Uri)]
    pub agent_card: String,
    /// The package of the command-line tool.
    #[schema(format = Uri)]
    pub cli_package: String,
    /// The OpenAPI document.
    #[schema(format = Uri)]
    pub openapi: String,
}

impl Site {
    /// A site's content before the first publication, when only its URL is known.
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
    /// The default URLs of a site's resources, below the site's URL, which must not end with a
    /// slash.
    pub fn following(site_url: &str) -> Self {
        let at = |path: &str| format!("{site_url}{path}");
        Self {
            docs: at("/docs"),
            docs_api_reference: at("/docs/api"),
            llms_txt: at("/llms.txt"),
            llms_full_txt: at("/llms-full.txt"),
            index_md: at("/index.md"),
            feed_xml: at("/feed.xml"),
            mcp_discovery: at("/.well-known/ai-catalog.json"),
            mcp: at("/mcp"),
            agent_card: at("/.well-known/agent-card.json"),
            cli_package: at("/cli/site.tgz"),
            openapi: at("/openapi.json"),
        }
    }
}

/// Makes a content URL absolute: appends a path, which may be empty, to the site's URL. Absolute
/// URLs remain unchanged.
fn based(url: &mut String, site_url: &str) {
    if url.is_empty() || url.starts_with('/') {
        url.insert_str(0, site_url);
    }
}

impl Site {
    /// Replaces former default URLs, which no longer work, with the current defaults.
    pub fn with_current_defaults(mut self) -> Self {
        let current = Resources::following(&self.url);
        let resources = &mut self.resources;
        for (former, url, current) in [
            ("/.well-known/mcp.json", &mut resources.mcp_discovery, current.mcp_discovery),
            ("/cli", &mut resources.cli_package, current.cli_package),
        ] {
            if url.strip_prefix(&self.url) == Some(former) {
                *url = current;
            }
        }
        self
    }

    /// Makes the site's URLs absolute. `site_url` is the base and must not end with a slash.
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
    /// Makes the app's URL absolute. `site_url` is the base and must not end with a slash.
    pub fn at(mut self, site_url: &str) -> Self {
        based(&mut self.url, site_url);
        self
    }
}

impl BlogPost {
    /// Whether the post has been published by `now`.
    pub fn is_public(&self, now: Timestamp) -> bool {
        self.published_at <= now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Makes the post's URL absolute. `site_url` is the base and must not end with a slash.
    pub fn at(mut self, site_url: &str) -> Self {
        based(&mut self.url, site_url);
        self
    }
}

/// The maximum size of a list of posts and, roughly, of all post texts in a document, in bytes.
/// Lambda limits responses to 6 MB of JSON, in which some characters take up more space.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of posts in a list, which limits the number of reads.
pub const MAX_POSTS: usize = 10_000;

/// A range of the public posts, sorted from newest to oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The number of newer posts that are skipped.
    pub skip: usize,
    /// The maximum number of posts in the window.
    pub max: usize,
}

impl Window {
    /// The newest posts, at most `max`.
    pub fn newest(max: usize) -> Self {
        Self { skip: 0, max }
    }
}

/// The content that a document of the site shows: the site, its apps and a range of its posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownContent {
    /// The content, with only the posts that are shown.
    pub content: Content,
    /// The number of newer posts that are skipped.
    pub skipped: usize,
    /// How many posts are public.
    pub total: usize,
}

impl ShownContent {
    /// The entire content, without skipping any posts.
    pub fn all(content: Content) -> Self {
        Self { skipped: 0, total: content.blog_posts.len(), content }
    }

    /// Makes all URLs absolute. `site_url` is the base and must not end with a slash.
    pub fn at(self, site_url: &str) -> Self {
        Self { content: self.content.at(site_url), ..self }
    }
}

/// All content that a site shows. A publication replaces all content for all readers at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The site itself.
    pub site: Site,
    /// The visible apps, in the order of the content file.
    pub apps: Vec<App>,
    /// The blog posts, newest first.
    pub blog_posts: Vec<BlogPost>,
    /// The Markdown texts of posts by slug. A post without an entry does not have a text.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
    /// The images in link previews: for each page, the path of the page and the path of its image.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<String, String>,
    /// The names of all images used in texts and pages.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub images: BTreeSet<String>,
}

impl Content {
    /// A site's content before the first publication.
    pub fn unpublished(site_url: &str) -> Self {
        Self::from_site(Site::unpublished(site_url))
    }

    /// The content of a site without apps, posts and images.
    pub fn from_site(site: Site) -> Self {
        Self { site, apps: Vec::new(), blog_posts: Vec::new(), texts: BTreeMap::new(), pictures: BTreeMap::new(), images: BTreeSet::new() }
    }

    /// The path of a page's image in link previews; `None` if the page does not have an image.
    pub fn picture(&self, page: &str) -> Option<&str> {
        self.pictures.get(page).map(String::as_str)
    }

    /// Makes all URLs absolute. `site_url` is the base and must not end with a slash.
    pub fn at(mut self, site_url: &str) -> Self {
        self.site = self.site.at(site_url);
        self.apps = self.apps.into_iter().map(|app| app.at(site_url)).collect();
        self.blog_posts = self.blog_posts.into_iter().map(|post| post.at(site_url)).collect();
        self
    }
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
    fn a_post_is_public_from_its_second_on() {
        let post = |published_at: &str| BlogPost {
            slug: String::new(),
            title: String::new(),
            published_at: published_at.to_owned(),
            excerpt: String::new(),
            url: String::new(),
        };
        let now = "2026-03-02T08:00:00.4Z".parse().unwrap();
        assert!(post("2026-03-02T08:00:00Z").is_public(now) && post("0999-12-31T00:00:00Z").is_public(now));
        assert!(!post("2026-03-02T08:00:01Z").is_public(now) && !post("9999-01-01T00:00:00Z").is_public(now));
    }

    #[test]
    fn former_defaults_are_replaced_and_other_urls_stay() {
        for url in ["", "https://example.com"] {
            let mut site = Site { url: url.to_owned(), ..Site::unpublished(url) };
            site.resources.cli_package = format!("{url}/cli");
            site.resources.mcp_discovery = "https://other.example/.well-known/mcp.json".to_owned();
            let site = site.with_current_defaults();
            assert_eq!(site.resources.cli_package, format!("{url}/cli/site.tgz"));
            assert_eq!(site.resources.mcp_discovery, "https://other.example/.well-known/mcp.json");
        }
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
