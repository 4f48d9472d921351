//! The names of the site's images. A name contains a digest and the image's size and format. The
//! size is therefore known without reading the image, and caches may keep the image forever.

use std::fmt;
use std::str::FromStr;

use crypto::digest::Digest;

/// The path below which images are served.
pub const PATH: &str = "/images/";
/// The largest image, in bytes. Lambda limits responses to 6 MB, and base64 makes the image a third
/// longer.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The longest side of an image, in pixels.
pub const MAX_SIDE: u32 = 16_384;

/// Formats that every browser displays and that cannot contain scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// AVIF.
    Avif,
    /// GIF.
    Gif,
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

impl Format {
    const ALL: [Self; 5] = [Self::Avif, Self::Gif, Self::Jpeg, Self::Png, Self::Webp];

    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Avif => "image/avif",
            Self::Gif => "image/gif",
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }

    /// The extension at the end of the name.
    fn extension(self) -> &'static str {
        self.media_type().strip_prefix("image/").unwrap_or_default()
    }
}

/// The name of an image, such as `<digest>-1200x630.png`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageName {
    /// The digest of the image or, for a generated picture, of all its inputs.
    pub digest: Digest,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The format.
    pub format: Format,
}

impl ImageName {
    /// Parses the path of an image; `None` for any other path.
    pub fn from_path(path: &str) -> Option<Self> {
        path.strip_prefix(PATH)?.parse().ok()
    }

    /// The path of the image, below the URL of the site.
    pub fn path(&self) -> String {
        format!("{PATH}{self}")
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}x{}.{}", self.digest, self.width, self.height, self.format.extension())
    }
}

/// The text is not the name of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageNameError;

impl FromStr for ImageName {
    type Err = ImageNameError;

    fn from_str(text: &str) -> Result<Self, ImageNameError> {
        let parsed = || {
            let (rest, extension) = text.rsplit_once('.')?;
            let (digest, size) = rest.rsplit_once('-')?;
            let (width, height) = size.split_once('x')?;
            let format = Format::ALL.into_iter().find(|format| format.extension() == extension)?;
            Some(Self { digest: Digest::parse(digest)?, width: width.parse().ok()?, height: height.parse().ok()?, format })
        };
        // Each image has exactly one name, so alternative spellings of the numbers, such as `01`,
        // are refused.
        parsed().filter(|name| name.to_string() == text).ok_or(ImageNameError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_others_are_none() {
        let digest = Digest::of("x");
        for format in Format::ALL {
            let name = ImageName { digest: digest.clone(), width: 1200, height: 630, format };
            assert_eq!(ImageName::from_path(&name.path()), Some(name));
        }
        for text in ["", "x.png", "-1x1.png", &format!("{digest}-1x1.svg"), &format!("{digest}-01x1.png"), &format!("{digest}-+1x1.png")] {
            assert_eq!(text.parse::<ImageName>(), Err(ImageNameError), "{text}");
        }
        assert_eq!(ImageName::from_path(&format!("/images/../{digest}-1x1.png")), None);
    }
}
