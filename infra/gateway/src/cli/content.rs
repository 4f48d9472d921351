//! `gateway content`: publishes the site's content, lists earlier publications, and rolls back to
//! one of them.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Subcommand;
use model::text::line::plain;
use store::Store;
use store::content::images::Shelf;
use store::content::{KEPT, PublishResult};

use super::tools::{Target, Tools};
use crate::aws::Aws;
use crate::content::{self, PublishSummary};
use crate::say::say;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Replace all content with that of a folder: site.toml, apps.toml, blog/*.md, and the images
    /// they refer to. Only changes are written. Posts with `draft = true` are checked but not
    /// published; posts with a future date appear on that date
    Publish {
        folder: PathBuf,
        /// URL of the site, with which links in its content begin. Default: the URL that serves the
        /// content
        #[arg(long, env = "GATELET_SITE_URL", value_name = "URL")]
        site_url: Option<String>,
        /// The S3 bucket for images when publishing to an AWS table: the stack's output
        /// `ImagesBucket`
        #[arg(long, env = "GATELET_IMAGES", value_name = "BUCKET")]
        images: Option<String>,
    },
    /// List the kept publications, newest first
    History,
    /// Restore the previous publication
    Rollback {
        /// Restore the publication with this number, as listed by `gateway content history`
        #[arg(long, value_name = "NUMBER")]
        to: Option<u64>,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::Publish { folder, site_url, images } => publish(target, &folder, site_url, images).await,
            Self::History => history(&Tools::open(target).await?.store).await,
            Self::Rollback { to } => roll_back(&Tools::open(target).await?, to).await,
        }
    }
}

async fn publish(target: &Target, folder: &Path, site_url: Option<String>, bucket: Option<String>) -> anyhow::Result<()> {
    let site_url = site_url.filter(|url| !url.is_empty());
    let site_url = site_url.map(|url| settings::base_url("GATELET_SITE_URL", &url)).transpose()?;
    let folder = content::read_directory(folder, site_url.as_deref())?;
    for warning in &folder.warnings {
        say!("Warning: {}", plain(warning));
    }
    let tools = Tools::open(target).await?;
    let now = tools.clock.now();
    let shelf = match (&target.table, bucket.filter(|bucket| !bucket.is_empty())) {
        (None, _) => Some(Shelf::Table(tools.store.clone())),
        (Some(_), Some(bucket)) => Some(Shelf::Bucket(Aws::find().await?.bucket(&bucket)?)),
        (Some(_), None) => None,
    };
    let PublishSummary { published: PublishResult { number, written }, stored, deleted } =
        folder.publish(&tools.store, shelf.as_ref(), now).await?;
    if shelf.is_none() {
        say!("Link previews have no images. To add images, pass `--images BUCKET` with the bucket in the stack's output ImagesBucket");
    }
    let Some(written) = written else {
        say!("Nothing has changed since publication {number}");
        return Ok(());
    };
    let place = site_url.map_or_else(|| "at the URL that serves the site".to_owned(), |url| format!("at {url}"));
    let later = folder.content.blog_posts.iter().filter(|post| !post.is_public(now)).count();
    let later = if later == 0 { String::new() } else { format!(" ({later} of the posts will appear later)") };
    let (apps, posts) = (folder.content.apps.len(), folder.content.blog_posts.len());
    let images = format!("{stored} images stored, {deleted} deleted");
    say!("Published {apps} apps and {posts} posts {place}{later}: publication {number}, {written} items written, {images}");
    Ok(())
}

async fn history(store: &Store) -> anyhow::Result<()> {
    for kept in store.publications().await? {
        let shown = if kept.is_current { "  shown" } else { "" };
        say!("{:>6}  {}{shown}", kept.number, kept.at.strftime("%Y-%m-%d %H:%M:%S UTC"));
    }
    Ok(())
}

async fn roll_back(tools: &Tools, to: Option<u64>) -> anyhow::Result<()> {
    match (tools.store.roll_back(to, tools.clock.now()).await?, to) {
        (Some(kept), _) => {
            say!("Restored publication {} from {}", kept.number, kept.at.strftime("%Y-%m-%d %H:%M:%S UTC"));
            Ok(())
        }
        (None, Some(number)) => bail!("publication {number} is not among the last {KEPT}: run `gateway content history` to list them"),
        (None, None) => bail!("there is no earlier publication to restore: publish the content that you want"),
    }
}
