//! `apps.toml`: the directory of apps. Hidden apps are validated but not published.

use std::collections::HashSet;

use model::content::App;
use serde::Deserialize;
use toml::Spanned;

use super::illustrations::Illustrations;
use super::links::{Links, segment};
use super::source::{Place, PublishError, Source};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppsFile {
    #[serde(default)]
    apps: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Option<Spanned<String>>,
    display_name: Option<Spanned<String>>,
    subtitle: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
    image: Option<Spanned<String>>,
    #[serde(default = "visible")]
    visible: bool,
}

fn visible() -> bool {
    true
}

pub(super) fn parse(source: &Source, links: &Links, illustrations: &mut Illustrations) -> Result<Vec<App>, PublishError> {
    let file: AppsFile = source.toml(0..source.text.len())?;
    let place = Place { source, start: 0 };
    let (mut apps, mut ids) = (Vec::new(), HashSet::new());
    for entry in file.apps {
        let table = entry.span().start;
        let entry = entry.into_inner();
        let app = app(&entry, &place, links, table)?;
        if !ids.insert(app.id.clone()) {
            let at = entry.id.as_ref().map_or(table, |id| id.span().start);
            return Err(source.error(at, format!("the app `{}` already exists", app.id)));
        }
        let image = illustrations.find(&place, entry.image.as_ref())?;
        if entry.visible {
            illustrations.show_at(&format!("/apps/{}", app.id), image);
            apps.push(app);
        }
    }
    Ok(apps)
}

fn app(entry: &Entry, place: &Place<'_>, links: &Links, table: usize) -> Result<App, PublishError> {
    let id = entry.id.as_ref().ok_or_else(|| place.source.error(table, "`id` is missing"))?;
    segment(id.get_ref()).map_err(|message| place.error(id, message))?;
    Ok(App {
        display_name: place.required(entry.display_name.as_ref(), "display_name", table)?,
        subtitle: place.required(entry.subtitle.as_ref(), "subtitle", table)?,
        url: links.or_default(place, entry.url.as_ref(), &format!("/apps/{}", id.get_ref()))?,
        id: id.get_ref().clone(),
    })
}
