//! `gateway content publish DIR`: replaces what the site shows by what a folder says.

use std::path::PathBuf;

use clap::Subcommand;

use super::{Target, Tools};
use crate::content;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Replace all content by that of a folder: site.toml, apps.toml, blog/*.md
    Publish {
        folder: PathBuf,
        /// Where the site is, for the URLs in its content
        #[arg(long, env = "GATELET_SITE_URL", default_value = "http://localhost:8787")]
        site_url: String,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let Self::Publish { folder, site_url } = self;
        let site_url = shared::settings::base_url("GATELET_SITE_URL", &site_url)?;
        let content = content::read_directory(&folder, &site_url)?;
        let tools = Tools::open(target).await?;
        tools.store.publish(&content).await?;
        println!("Published {} apps and {} posts at {site_url}", content.apps.len(), content.blog_posts.len());
        Ok(())
    }
}
