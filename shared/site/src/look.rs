//! The appearance that all pages share: those of the content, the documentation, the gateway, and
//! the pages that links in emails open.

use std::sync::LazyLock;

use crypto::digest::Digest;

/// The design tokens, as CSS.
pub const TOKENS: &str = include_str!("tokens.css");
/// The stylesheet of pages: the tokens and the components.
pub const STYLE: &str = concat!(include_str!("tokens.css"), include_str!("style.css"));
/// The icon, as SVG.
pub const ICON: &str = include_str!("icon.svg");

/// The version of the stylesheet, which changes with its content.
pub fn style_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version(STYLE));
    &VERSION
}

/// The version of a file: the beginning of the digest of its content.
pub fn version(content: &str) -> String {
    Digest::of(content).as_str().chars().take(12).collect()
}
