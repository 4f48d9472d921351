//! `gateway content publish DIR`: replaces the site's content with that of a folder.

use std::path::PathBuf;

use clap::Subcommand;

use super::tools::{Target, Tools};
use crate::content;
use crate::say::say;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Replace all content with that of a folder: site.toml, apps.toml, blog/*.md
    Publish {
        folder: PathBuf,
        /// The site's URL, which is the base of the URLs in its content. Default: the URL at which
        /// the content is served
        #[arg(long, env = "GATELET_SITE_URL", value_name = "URL")]
        site_url: Option<String>,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let Self::Publish { folder, site_url } = self;
        let site_url = site_url.filter(|url| !url.is_empty());
        let site_url = site_url.map(|url| settings::base_url("GATELET_SITE_URL", &url)).transpose()?;
        let content = content::read_directory(&folder, site_url.as_deref())?;
        let tools = Tools::open(target).await?;
        tools.store.publish(&content).await?;
        let place = site_url.map_or_else(|| "at the URL from which it is served".to_owned(), |url| format!("at {url}"));
        say!("Published {} apps and {} posts {place}", content.apps.len(), content.blog_posts.len());
        Ok(())
    }
}
