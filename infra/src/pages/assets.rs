//! The files that pages load, each under a path that names its content: what was loaded once is never asked for again.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crypto::digest::Digest;
use minijinja::{Error, ErrorKind};

/// A file with its name, media type and content.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub name: &'static str,
    pub media_type: &'static str,
    pub content: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Functions have the tokens and the icon too, for the page behind a link of an email, and nothing of this crate.
const ICON: &str = include_str!("../../../shared/api/src/http/icon.svg");
const STYLE: &str = concat!(include_str!("../../../shared/api/src/http/tokens.css"), include_str!("../../pages/style.css"));

macro_rules! assets {
    ($($name:literal is $media_type:expr),* $(,)?) => {
        [Asset { name: "icon.svg", media_type: "image/svg+xml", content: ICON }, Asset { name: "style.css", media_type: CSS, content: STYLE }, $(
            Asset { name: $name, media_type: $media_type, content: include_str!(concat!("../../pages/", $name)) }
        ),*]
    };
}

/// All of them.
pub const ASSETS: [Asset; 6] = assets![
    "live.js" is JAVASCRIPT,
    "page.js" is JAVASCRIPT,
    "reference.js" is JAVASCRIPT,
    "theme.js" is JAVASCRIPT,
];

/// Versions by name: the beginning of the digest of the content.
static VERSIONS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    let version = |asset: &Asset| Digest::of(asset.content).as_str().chars().take(12).collect();
    ASSETS.iter().map(|asset| (asset.name, version(asset))).collect()
});

impl Asset {
    pub fn find(name: &str) -> Option<&'static Self> {
        static FOUND: [Asset; ASSETS.len()] = ASSETS;
        FOUND.iter().find(|asset| asset.name == name)
    }

    /// Changes with the content.
    pub fn version(&self) -> &'static str {
        VERSIONS.get(self.name).map_or("", String::as_str)
    }
}

/// The path of an asset in templates.
pub(super) fn url(name: &str) -> Result<String, Error> {
    let asset = Asset::find(name).ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("there is no asset {name}")))?;
    Ok(format!("/assets/{name}?v={}", asset.version()))
}
