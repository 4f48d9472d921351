//! The images that the content uses, in the texts of posts and as pictures of pages.

use std::collections::{BTreeMap, BTreeSet};

use model::content::image::ImageName;
use site::images::{redirected, references};
use toml::Spanned;

use super::gallery::{Gallery, is_named_like_an_image, is_relative};
use super::source::{Place, PublishError, Source};

/// The images used by the content that has been read so far.
pub(super) struct Illustrations {
    pub(super) gallery: Gallery,
    /// The pictures of pages, by the page's path.
    pub(super) pictures: BTreeMap<String, String>,
    /// The names of all images to publish.
    pub(super) images: BTreeSet<String>,
    pub(super) warnings: Vec<String>,
}

impl Illustrations {
    /// The text of a post, which starts at offset `start` of its file, with the paths of images
    /// replaced by their paths on the site. Also returns the images' names.
    pub(super) fn replace_paths(&mut self, source: &Source, start: usize, text: &str) -> Result<(String, Vec<ImageName>), PublishError> {
        let folder = source.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (mut changes, mut names) = (Vec::new(), Vec::new());
        for reference in references(text) {
            let at = start + reference.start;
            if reference.alt.as_ref().is_some_and(|alt| alt.trim().is_empty()) {
                let warning = source.error(at, "an image has no description: say what it shows in the brackets of `![…]`");
                self.warnings.push(warning.to_string());
            }
            let is_image = reference.alt.is_some() || is_named_like_an_image(&reference.destination);
            if is_image && is_relative(&reference.destination) {
                let name = self.gallery.find(folder, &reference.destination).map_err(|message| source.error(at, message))?;
                changes.push((reference.range, name.path()));
                names.push(name);
            }
        }
        Ok((redirected(text, changes), names))
    }

    /// The image whose path is a TOML value; `None` without a value.
    pub(super) fn find(&mut self, place: &Place<'_>, given: Option<&Spanned<String>>) -> Result<Option<ImageName>, PublishError> {
        let Some(given) = given else { return Ok(None) };
        let folder = place.source.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !is_relative(given.get_ref()) {
            let message = format!("`{}` is not the path of an image in the folder, such as `images/cover.png`", given.get_ref());
            return Err(place.error(given, message));
        }
        let found = self.gallery.find(folder, given.get_ref());
        found.map(Some).map_err(|message| place.error(given, message))
    }

    /// Adds images to publish.
    pub(super) fn show(&mut self, names: &[ImageName]) {
        self.images.extend(names.iter().map(ImageName::to_string));
    }

    /// If a page has a picture, adds it to the images to publish.
    pub(super) fn show_at(&mut self, page: &str, picture: Option<ImageName>) {
        if let Some(name) = picture {
            self.pictures.insert(page.to_owned(), name.path());
            self.images.insert(name.to_string());
        }
    }
}
