//! The front end of the console, which shows and changes a project in a browser.
//!
//! It consists of the ES modules and the stylesheet in `web/`, which a browser runs as they are:
//! `web/core` has what knows nothing of the page (client of the API, router, formatting, comparison
//! of values), `web/components` the parts that pages are built from, `web/views` one module per
//! page, and `web/texts.js` every text. The modules import each other by relative URLs, so all of
//! them are below one path that contains the version of the whole.
//!
//! The front end uses the API alone. The gateway adds the page's frame and, on the machine it runs
//! on, the keys of its first project.

use std::sync::LazyLock;

use crypto::digest::Digest;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The path below which the files are served; a request has the version, then the file's name.
pub const BASE: &str = "/console/assets";
/// The module that a page loads first.
pub const ENTRY: &str = "main.js";
/// The stylesheet of a page, besides the one of all pages.
pub const STYLE: &str = "console.css";

/// The beginning of the digest of all files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = FILES.iter().map(|(name, content)| format!("{name}\0{content}\0")).collect();
    Digest::of(&all).as_str().chars().take(12).collect()
});

/// A file of the front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    pub media_type: &'static str,
    pub content: &'static str,
}

impl Asset {
    /// The file with this name, such as `core/api.js`.
    pub fn find(name: &str) -> Option<Self> {
        let (name, content) = FILES.iter().find(|(known, _)| *known == name)?;
        let media_type = if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        Some(Self { media_type, content })
    }
}

/// The version of all files, which changes with the content of any of them.
pub fn version() -> &'static str {
    &VERSION
}

/// The URL of a file, by which browsers may cache it forever.
pub fn url(name: &str) -> String {
    format!("{BASE}/{}/{name}", version())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most that the front end may weigh, in bytes, together with the 26 kB that every page has.
    const MOST: usize = 150_000;

    #[test]
    fn the_page_has_its_entry_and_its_stylesheet_by_versioned_urls() {
        for name in [ENTRY, STYLE] {
            assert!(Asset::find(name).is_some(), "{name}");
            assert_eq!(url(name), format!("/console/assets/{}/{name}", version()));
        }
        assert_eq!(Asset::find("texts.js").unwrap().media_type, "text/javascript; charset=utf-8");
        assert_eq!(Asset::find("../src/lib.rs"), None);
    }

    #[test]
    fn files_are_modules_or_styles_that_load_nothing_from_elsewhere() {
        for (name, content) in FILES {
            assert!(std::path::Path::new(name).extension().is_some_and(|end| end == "js" || end == "css"), "{name}");
            for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "url(http", "@import"] {
                assert!(!content.contains(forbidden), "{name} contains {forbidden}");
            }
        }
    }

    #[test]
    fn the_first_page_and_any_view_weigh_less_than_150_kilobytes() {
        let total = |is_counted: &dyn Fn(&str) -> bool| -> usize {
            FILES.iter().filter(|(name, _)| is_counted(name)).map(|(_, content)| content.len()).sum()
        };
        let frame = total(&|name| !name.starts_with("views/"));
        let largest = FILES.iter().filter(|(name, _)| name.starts_with("views/")).map(|(_, content)| content.len()).max().unwrap_or(0);
        // Style, theme and features of every page, which the gateway serves.
        assert!(frame + largest + 26_000 < MOST, "{frame} bytes, and {largest} of the largest view");
    }
}
