//! The common appearance of all pages: content, documentation, gateway, console, and the pages
//! behind links in emails.

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The light and the dark color of a token.
    fn colours(name: &str) -> [String; 2] {
        let value = TOKENS.split_once(&format!("--{name}: light-dark(")).unwrap().1;
        let (light, dark) = value.split_once(')').unwrap().0.split_once(", ").unwrap();
        [light.to_owned(), dark.to_owned()]
    }

    /// The relative luminance of a color (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn every_colour_of_text_can_be_read_on_every_background() {
        let texts = ["text", "muted", "accent", "done", "waiting", "failed", "aside", "code-value", "code-name"];
        for (text, back) in texts.iter().flat_map(|text| ["back", "panel"].map(|back| (text, back))) {
            for (text_colour, back_colour) in colours(text).iter().zip(colours(back)) {
                let (one, other) = (luminance(text_colour), luminance(&back_colour));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= 4.5, "{text} on {back}: {contrast}");
            }
        }
    }
}
