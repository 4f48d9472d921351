//! The published content, with absolute URLs.

use api::content::Problem;
use flows::App;
use model::content::{Content, Site};

/// The content of the site without the texts of its posts.
pub(crate) async fn content(app: &App) -> Result<Content, Problem> {
    let site_url = &app.settings.site_url;
    let published = app.store.content().await?;
    Ok(published.map_or_else(|| Content::unpublished(site_url), |content| content.at(site_url)))
}

/// The identity of the site.
pub(crate) async fn site(app: &App) -> Result<Site, Problem> {
    let site_url = &app.settings.site_url;
    let published = app.store.site().await?;
    Ok(published.map_or_else(|| Site::unpublished(site_url), |site| site.at(site_url)))
}
