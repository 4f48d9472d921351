//! A content file, whose errors name the line.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;

use model::text::line::plain;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// The reason why content was not published: the file, the line if known, and the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishError {
    pub file: String,
    /// The line number, from 1; `None` if the error concerns the whole file.
    pub line: Option<usize>,
    pub message: String,
}

impl PublishError {
    pub(super) fn in_file(file: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { file: file.into(), line: None, message: message.to_string() }
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", plain(&self.file), plain(&self.message)),
            None => write!(f, "{}: {}", plain(&self.file), plain(&self.message)),
        }
    }
}

impl std::error::Error for PublishError {}

/// The maximum size of a text file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Reads a file that has at most `max` bytes.
pub(super) fn read_at_most(path: &Path, max: usize) -> Result<Vec<u8>, String> {
    opened(path).and_then(|file| contents(file, max))
}

/// Like [`read_at_most`], but for a file in the folder `root` whose path contains no symbolic
/// links.
pub(super) fn read_within(root: &Path, path: &Path, max: usize) -> Result<Vec<u8>, String> {
    let file = opened(path)?;
    check_place(&file, root, path)?;
    contents(file, max)
}

fn opened(path: &Path) -> Result<File, String> {
    // Opening a pipe would block until its other end is opened.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err("is not a file".to_owned());
    }
    File::open(path).map_err(unreadable)
}

/// Fails unless the open file is still the file at `path` in the folder. Somebody who may write to
/// the folder could have put a link in place of the file after the path was resolved.
fn check_place(file: &File, root: &Path, path: &Path) -> Result<(), String> {
    let place = path.canonicalize().map_err(unreadable)?;
    if place.starts_with(root) && is_same(&file.metadata().map_err(unreadable)?, &place.metadata().map_err(unreadable)?) {
        Ok(())
    } else {
        Err("has been replaced while it was being read: publish again".to_owned())
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On other systems, files have no device and inode numbers to compare.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.len(), one.created().ok()) == (other.len(), other.created().ok())
}

fn contents(file: File, max: usize) -> Result<Vec<u8>, String> {
    let size = file.metadata().map_err(unreadable)?.len();
    let mut bytes = Vec::new();
    // A file can grow while it is being read.
    let length = file.take(max as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if length > max {
        return Err(format!("has {} bytes; at most {max} can be published: make it smaller", size.max(length as u64)));
    }
    Ok(bytes)
}

fn unreadable(error: std::io::Error) -> String {
    format!("cannot be read: {error}")
}

/// The text of a file, and the file's name for messages, with `/` on every system.
pub(super) struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }

    /// Reads a file below `dir`; `None` if it does not exist. The file must not be a link to
    /// another folder, because authors must not be able to publish other files of the machine.
    pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Self>, PublishError> {
        let fail = |error: std::io::Error| PublishError::in_file(name, error);
        let path = match dir.join(name).canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        let root = dir.canonicalize().map_err(fail)?;
        if !path.starts_with(&root) {
            return Err(PublishError::in_file(name, "is a link to a file outside the folder: copy the file into the folder"));
        }
        let bytes = read_within(&root, &path, MAX_BYTES).map_err(|message| PublishError::in_file(name, message))?;
        Self::from_bytes(name, bytes).map(Some)
    }

    pub(super) fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, PublishError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = String::from_utf8_lossy(good).matches('\n').count() + 1;
            PublishError { file: name.to_owned(), line: Some(line), message: "the file is not UTF-8".to_owned() }
        })?;
        // Some editors write a byte order mark at the start of a file.
        Ok(Self::new(name, text.strip_prefix('\u{feff}').unwrap_or(&text)))
    }

    /// An error at this byte offset of the file.
    pub(super) fn error(&self, offset: usize, message: impl fmt::Display) -> PublishError {
        let before = self.text.get(..offset.min(self.text.len())).unwrap_or(&self.text);
        PublishError { file: self.name.clone(), line: Some(before.matches('\n').count() + 1), message: message.to_string() }
    }

    /// Parses the part of the file in `range` as TOML.
    pub(super) fn toml<T: DeserializeOwned>(&self, range: std::ops::Range<usize>) -> Result<T, PublishError> {
        let start = range.start;
        let text = self.text.get(range).unwrap_or_default();
        toml::from_str(text).map_err(|error| self.error(start + error.span().map_or(0, |span| span.start), error.message().trim()))
    }
}

/// The TOML part of a file. The spans of its values are relative to the start of the part.
pub(super) struct Place<'a> {
    pub source: &'a Source,
    pub start: usize,
}

impl Place<'_> {
    pub(super) fn error<T>(&self, value: &Spanned<T>, message: impl fmt::Display) -> PublishError {
        self.source.error(self.start + value.span().start, message)
    }

    /// Requires a nonempty string. If the string is missing, the error points to `table`, a byte
    /// offset from the start of the TOML part.
    pub(super) fn required(&self, value: Option<&Spanned<String>>, name: &str, table: usize) -> Result<String, PublishError> {
        let value = value.ok_or_else(|| self.source.error(self.start + table, format!("`{name}` is missing")))?;
        let text = collapsed(value.get_ref());
        if text.is_empty() { Err(self.error(value, format!("`{name}` is empty"))) } else { Ok(text) }
    }
}

/// The text on one line, with single spaces between words.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_only_if_it_is_the_one_at_its_path_in_the_folder() {
        let folder = std::env::temp_dir().canonicalize().unwrap().join(format!("gatelet-replaced-{}", std::process::id()));
        let (root, secret) = (folder.join("site"), folder.join("secret.md"));
        let path = root.join("hello.md");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(&path, "Hello").unwrap();
        std::fs::write(&secret, "Secret").unwrap();
        assert_eq!(read_within(&root, &path, 5).unwrap(), b"Hello");
        // The open file is another one, as if the path had been a link when the file was opened.
        assert!(check_place(&opened(&secret).unwrap(), &root, &path).unwrap_err().contains("replaced"));
        // Now the path is a link.
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&secret, &path).unwrap();
        assert!(read_within(&root, &path, 6).unwrap_err().contains("replaced"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_longer_than_its_size_is_refused() {
        let path = Path::new("/proc/self/status");
        assert_eq!(path.metadata().unwrap().len(), 0);
        assert!(read_at_most(path, 10).unwrap_err().starts_with("has 11 bytes; at most 10"));
        assert!(read_at_most(path, 1 << 20).is_ok());
    }
}
