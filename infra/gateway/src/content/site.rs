//! `site.toml`: the identity of the site.

use model::content::{Resources, Site};
use serde::Deserialize;
use toml::Spanned;

use super::illustrations::Illustrations;
use super::links::Links;
use super::source::{Place, PublishError, Source};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SiteFile {
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    image: Option<Spanned<String>>,
    #[serde(default)]
    resources: ResourcesTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResourcesTable {
    docs: Option<Spanned<String>>,
    docs_api_reference: Option<Spanned<String>>,
    llms_txt: Option<Spanned<String>>,
    llms_full_txt: Option<Spanned<String>>,
    index_md: Option<Spanned<String>>,
    feed_xml: Option<Spanned<String>>,
    mcp_discovery: Option<Spanned<String>>,
    mcp: Option<Spanned<String>>,
    agent_card: Option<Spanned<String>>,
    cli_package: Option<Spanned<String>>,
    openapi: Option<Spanned<String>>,
}

pub(super) fn parse(source: &Source, links: &Links, illustrations: &mut Illustrations) -> Result<Site, PublishError> {
    let file: SiteFile = source.toml(0..source.text.len())?;
    let place = Place { source, start: 0 };
    let image = illustrations.find(&place, file.image.as_ref())?;
    for page in ["/docs", "/blog", "/apps"] {
        illustrations.show_at(page, image.clone());
    }
    Ok(Site {
        name: place.required(file.name.as_ref(), "name", 0)?,
        description: place.required(file.description.as_ref(), "description", 0)?,
        url: links.site_url.clone(),
        resources: resources(&file.resources, &place, links)?,
    })
}

fn resources(table: &ResourcesTable, place: &Place<'_>, links: &Links) -> Result<Resources, PublishError> {
    let mut resources = Resources::following(&links.site_url);
    for (given, url) in [
        (&table.docs, &mut resources.docs),
        (&table.docs_api_reference, &mut resources.docs_api_reference),
        (&table.llms_txt, &mut resources.llms_txt),
        (&table.llms_full_txt, &mut resources.llms_full_txt),
        (&table.index_md, &mut resources.index_md),
        (&table.feed_xml, &mut resources.feed_xml),
        (&table.mcp_discovery, &mut resources.mcp_discovery),
        (&table.mcp, &mut resources.mcp),
        (&table.agent_card, &mut resources.agent_card),
        (&table.cli_package, &mut resources.cli_package),
        (&table.openapi, &mut resources.openapi),
    ] {
        if given.is_some() {
            *url = links.or_default(place, given.as_ref(), "")?;
        }
    }
    Ok(resources)
}
