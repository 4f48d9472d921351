//! The files that pages load. Each URL contains a version that depends on the file's content, so
//! browsers may cache the file forever.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::{Error, ErrorKind};
use site::look::{ICON, STYLE, version};

/// A file that pages load, with its name, media type and content.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub name: &'static str,
    pub media_type: &'static str,
    pub content: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($name:literal is $media_type:expr),* $(,)?) => {
        [Asset { name: "icon.svg", media_type: "image/svg+xml", content: ICON }, Asset { name: "style.css", media_type: CSS, content: STYLE }, $(
            Asset { name: $name, media_type: $media_type, content: include_str!(concat!("../../pages/", $name)) }
        ),*]
    };
}

/// The files that pages load, except for the pictures of documents and the files of the console.
pub const ASSETS: [Asset; 6] = assets![
    "live.js" is JAVASCRIPT,
    "page.js" is JAVASCRIPT,
    "reference.js" is JAVASCRIPT,
    "theme.js" is JAVASCRIPT,
];

/// The version of each asset by name, which is the beginning of the digest of its content.
static VERSIONS: LazyLock<BTreeMap<&str, String>> =
    LazyLock::new(|| ASSETS.iter().map(|asset| (asset.name, version(asset.content))).collect());

impl Asset {
    pub fn find(name: &str) -> Option<&'static Self> {
        static FOUND: [Asset; ASSETS.len()] = ASSETS;
        FOUND.iter().find(|asset| asset.name == name)
    }

    /// The version of the asset, which changes whenever its content changes.
    pub fn version(&self) -> &'static str {
        VERSIONS.get(self.name).map_or("", String::as_str)
    }
}

/// The URL of an asset, for use in templates.
pub(super) fn url(name: &str) -> Result<String, Error> {
    let asset = Asset::find(name).ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("unknown asset {name}")))?;
    Ok(format!("/assets/{name}?v={}", asset.version()))
}
