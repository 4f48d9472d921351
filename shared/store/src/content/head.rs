//! The item that readers fetch first: it contains the site and the keys of the publication's other
//! items.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::content::Site;
use serde::{Deserialize, Serialize};

use crate::content::layout::{APPS, SITE, key};
use crate::table::{Contention as _, Error, Item, Store, Write, entity, integer, number, string};

/// The attribute with the [`Publication`].
pub(super) const PUBLICATION: &str = "publication";
/// The attribute with the [`Turn`].
const TURN: &str = "turn";
/// The number of parts of the text index in earlier versions, which did not store empty parts.
const EARLIER_PARTS: usize = 16;

/// A publication, with the keys of all its items except site and apps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Publication {
    /// The number of the publication, which is higher than all earlier numbers.
    pub(super) number: u64,
    /// The digest of all content; content with the same digest need not be published again.
    pub(super) digest: String,
    /// When it was published.
    pub(super) at: Timestamp,
    /// The number of the publication shown before this one, which is the default target of a
    /// rollback. `None` if this is the first publication, or if the previous publication was
    /// written by an earlier version of this program.
    pub(super) previous: Option<u64>,
    /// The sort keys of the pages of posts, newest first.
    pub(super) pages: Vec<String>,
    /// The number of posts on each page; empty in publications from earlier versions.
    #[serde(default)]
    pub(super) counts: Vec<usize>,
    /// The sort keys of the parts of the text index, in order.
    pub(super) parts: Vec<String>,
    /// The sort keys of the publication's image lists, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<String>,
    /// The pictures of all pages except posts, by page path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pictures: BTreeMap<String, String>,
    /// The sort keys of the chunks with the newest texts, newest first; `None` in publications from
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chunks: Option<Vec<String>>,
}

/// Which publications are kept, and when readers were last switched to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The highest publication number so far.
    pub(super) latest: u64,
    /// The numbers of the kept publications, ascending.
    pub(super) kept: Vec<u64>,
    /// The time when readers were switched to the current publication.
    pub(super) since: Timestamp,
}

/// The site and its publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) site: Site,
    pub(super) publication: Publication,
    pub(super) turn: Turn,
    /// The attribute `version`, if an earlier version of this program wrote the publication and
    /// replaced all items except texts; `None` for all later versions.
    pub(super) earlier: Option<String>,
}

impl Head {
    pub(super) fn from_item(mut item: Item) -> Result<Self, Error> {
        let (publication, turn) = (item.remove(PUBLICATION), item.remove(TURN));
        let (Some(publication), Some(turn)) = (publication, turn) else { return Self::earlier(item) };
        Ok(Self {
            publication: serde_dynamo::from_attribute_value(publication)?,
            turn: serde_dynamo::from_attribute_value(turn)?,
            site: entity(item)?,
            earlier: None,
        })
    }

    /// The head of a publication written by an earlier version. The first versions had unnumbered
    /// publications, no stored texts, and different defaults for the URLs of the site.
    fn earlier(item: Item) -> Result<Self, Error> {
        let (pages, latest) = (number(&item, "post_items").unwrap_or(0_usize), number(&item, "number").unwrap_or(0));
        let version = item.get("version").and_then(|version| version.as_s().ok()).cloned().unwrap_or_default();
        let site: Site = entity(item)?;
        let parts = if latest == 0 { 0 } else { EARLIER_PARTS };
        Ok(Self {
            site: if latest == 0 { site.with_current_defaults() } else { site },
            publication: Publication {
                number: latest,
                pages: (0..pages).map(|page| format!("POSTS#{page:04}")).collect(),
                parts: (0..parts).map(|part| format!("SLUGS#{part:02}")).collect(),
                ..Publication::default()
            },
            turn: Turn { latest, kept: Vec::new(), since: Timestamp::UNIX_EPOCH },
            earlier: Some(version),
        })
    }

    /// Whether this head belongs to the content with this digest, and lists all items that this
    /// version of the program stores.
    pub(super) fn is_of(&self, digest: &str) -> bool {
        self.publication.digest == digest && self.publication.chunks.is_some()
    }

    /// Writes this head on the condition that `old` is still the current head.
    pub(super) fn replace(&self, old: Option<&Self>) -> Result<Write, Error> {
        let write = marked(Write::put(key(SITE), &self.site)?, &self.publication, &self.turn);
        let write = write.attribute(PUBLICATION, serde_dynamo::to_attribute_value(&self.publication)?);
        let write = write.attribute(TURN, serde_dynamo::to_attribute_value(&self.turn)?);
        Ok(match old {
            None => write.on("attribute_not_exists(pk)"),
            Some(Self { earlier: Some(version), .. }) => {
                write.on("version = :version AND attribute_not_exists(turn)").value(":version", string(version))
            }
            Some(Self { publication, turn, .. }) => {
                let write = write.on("#number = :number AND latest = :latest").name("#number", "number");
                write.value(":number", integer(publication.number)).value(":latest", integer(turn.latest))
            }
        })
    }
}

/// Adds the attributes that tell readers which publication an item belongs to.
pub(super) fn marked(write: Write, publication: &Publication, turn: &Turn) -> Write {
    let write = write.attribute("version", string(&publication.digest));
    write.attribute("number", integer(publication.number)).attribute("latest", integer(turn.latest))
}

/// The attributes that identify a publication, as `marked` writes them. Items written by earlier
/// versions have only some of these attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    version: Option<String>,
    number: Option<u64>,
    latest: Option<u64>,
}

impl Edition {
    pub(super) fn of(item: &Item) -> Self {
        let version = item.get("version").and_then(|version| version.as_s().ok()).cloned();
        Self { version, number: number(item, "number"), latest: number(item, "latest") }
    }
}

impl Store {
    /// The current head; `None` before the first publication. Costs one unit for each 4 KB, which
    /// is about 60 pages of posts.
    pub(super) async fn head(&self) -> Result<Option<Head>, Error> {
        self.get(&key(SITE)).await?.map(Head::from_item).transpose()
    }

    /// The current edition, its head and the item with its apps. Fails with a conflict if the site
    /// and the apps belong to different publications, because another one was shown in the
    /// meantime.
    pub(super) async fn head_with_apps(&self) -> Result<Option<(Edition, Head, Option<Item>)>, Error> {
        let mut items = self.get_many([key(SITE), key(APPS)]).await?;
        let Some(site) = items.take(&key(SITE)) else { return Ok(None) };
        let (edition, apps) = (Edition::of(&site), items.take(&key(APPS)));
        if apps.as_ref().is_none_or(|apps| Edition::of(apps) != edition) {
            return Err(Error::conflict());
        }
        Ok(Some((edition, Head::from_item(site)?, apps)))
    }
}
