//! The image files of a site: finds the files that the content uses, and checks that they can be
//! published.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crypto::digest::Digest;
use imagesize::{Compression, ImageType};
use model::content::image::{Format, ImageName, MAX_BYTES, MAX_SIDE};
use percent_encoding::percent_decode_str;

use super::source::{PublishError, read_at_most, read_within};

/// The folder with the image files, and the image files that the content read so far uses.
pub(super) struct Gallery {
    /// The folder's path, with symbolic links resolved; `None` for content without a folder.
    root: Option<PathBuf>,
    known: BTreeMap<PathBuf, ImageName>,
}

impl Gallery {
    /// The images in a folder.
    pub(super) fn open(dir: &Path) -> Result<Self, PublishError> {
        let root = dir.canonicalize().map_err(|error| PublishError::in_file(dir.display().to_string(), error))?;
        Ok(Self { root: Some(root), known: BTreeMap::new() })
    }

    /// A gallery without images.
    pub(super) fn empty() -> Self {
        Self { root: None, known: BTreeMap::new() }
    }

    /// The image at a path that is written in a file of `folder`.
    pub(super) fn find(&mut self, folder: &str, written: &str) -> Result<ImageName, String> {
        let name = joined(folder, written)?;
        let missing = || format!("there is no image `{name}`: add the file, or correct the path `{written}`");
        let root = self.root.as_ref().ok_or_else(missing)?;
        let path = root.join(&name).canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => missing(),
            _ => format!("the image `{name}` cannot be read: {error}"),
        })?;
        if !path.starts_with(root) {
            return Err(format!("`{name}` is a link to a file outside the folder: copy the image into the folder"));
        }
        if let Some(known) = self.known.get(&path) {
            return Ok(known.clone());
        }
        let found = read_within(root, &path, MAX_BYTES)
            .and_then(|bytes| examined(&bytes))
            .map_err(|message| format!("the image `{name}` {message}"))?;
        self.known.insert(path, found.clone());
        Ok(found)
    }

    /// The files by image name.
    pub(super) fn into_files(self) -> BTreeMap<String, PathBuf> {
        self.known.into_iter().map(|(path, name)| (name.to_string(), path)).collect()
    }
}

/// The path of a file, relative to the folder of the site. `written` is percent-encoded as in a
/// URL, where a space is `%20`.
fn joined(folder: &str, written: &str) -> Result<String, String> {
    let invalid = |reason: &str| format!("`{written}` {reason}");
    let decoded = percent_decode_str(written).decode_utf8().map_err(|_| invalid("is not UTF-8"))?;
    if decoded.contains(|character: char| character == '\\' || character.is_control()) {
        return Err(invalid("is not a path: it has a backslash or a control character"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(decoded.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or_else(|| invalid("leads out of the folder: copy the image into the folder"))?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Reads the file of an image for the second time. The caller compares the digest of the bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_at_most(path, MAX_BYTES)
}

/// Determines the type of an image from its content, whatever its name.
fn examined(bytes: &[u8]) -> Result<ImageName, String> {
    let format = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => Format::Png,
        Ok(ImageType::Jpeg) => Format::Jpeg,
        Ok(ImageType::Gif) => Format::Gif,
        Ok(ImageType::Webp) => Format::Webp,
        Ok(ImageType::Heif(Compression::Av1)) => Format::Avif,
        _ if is_svg(bytes) => return Err("is an SVG, which may contain scripts: publish it as PNG or WebP".to_owned()),
        _ => return Err("is not a PNG, JPEG, GIF, WebP or AVIF file, judging by its content".to_owned()),
    };
    let size = imagesize::blob_size(bytes).map_err(|_| "is damaged: its size cannot be read".to_owned())?;
    let side = |length: usize| u32::try_from(length).ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let (Some(width), Some(height)) = (side(size.width), side(size.height)) else {
        return Err(format!("has {} × {} pixels; each side may have 1 to {MAX_SIDE}", size.width, size.height));
    };
    Ok(ImageName { digest: Digest::from_bytes(bytes), width, height, format })
}

fn is_svg(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(4096)].windows(4).any(|window| window.eq_ignore_ascii_case(b"<svg"))
}

/// Whether a link's destination is the path of a file, rather than a URL, a path of the site, or a
/// section.
pub(super) fn is_relative(destination: &str) -> bool {
    let scheme = destination.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)));
    !destination.is_empty() && !destination.starts_with(['/', '#', '?']) && !has_scheme
}

/// Whether a relative link points to an image, judging by the file's name.
pub(super) fn is_named_like_an_image(path: &str) -> bool {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    ["avif", "gif", "jpeg", "jpg", "png", "svg", "webp"].contains(&end.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_folder() {
        for (written, path) in [("a.png", "blog/a.png"), ("../images/a%20b.png", "images/a b.png"), ("./x/.././a.png", "blog/a.png")] {
            assert_eq!(joined("blog", written).as_deref(), Ok(path), "{written}");
        }
        for written in ["../../a.png", "%2e%2e/../a.png", "..\\a.png", "a%00.png", "%ff.png", "x/../../../etc/passwd"] {
            assert!(joined("blog", written).is_err(), "{written}");
        }
    }

    #[test]
    fn urls_and_paths_of_the_site_are_not_files() {
        assert!(["a.png", "../a.png", "a b.png", "blog/a:b.png"].iter().all(|one| is_relative(one)));
        assert!(["", "/a.png", "//h/a.png", "#a", "?a", "https://h/a.png", "data:image/png;base64,x"].iter().all(|one| !is_relative(one)));
    }
}
