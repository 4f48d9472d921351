//! A content file whose errors name the line.

use std::fmt;
use std::path::Path;

use model::text::line::plain;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// Why content was not published: the file, the line if known, and the error.
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

/// Reads a file of at most this many bytes.
pub(super) fn read_within(path: &Path, max: usize) -> Result<Vec<u8>, String> {
    let size = path.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !size.is_file() {
        return Err("is not a file".to_owned());
    }
    if size.len() > max as u64 {
        return Err(format!("has {} bytes; at most {max} can be published: make it smaller", size.len()));
    }
    std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}

/// A file's text, and its name for messages, with `/` on every system.
pub(super) struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }

    /// Reads a file below `dir`; `None` if it does not exist. It must not be a link to another
    /// folder: authors must not be able to publish other files on the machine.
    pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Self>, PublishError> {
        let fail = |error: std::io::Error| PublishError::in_file(name, error);
        let path = match dir.join(name).canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        if !path.starts_with(dir.canonicalize().map_err(fail)?) {
            return Err(PublishError::in_file(name, "is a link to a file outside the folder: copy the file into the folder"));
        }
        let bytes = read_within(&path, MAX_BYTES).map_err(|message| PublishError::in_file(name, message))?;
        Self::from_bytes(name, bytes).map(Some)
    }

    pub(super) fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, PublishError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = String::from_utf8_lossy(good).matches('\n').count() + 1;
            PublishError { file: name.to_owned(), line: Some(line), message: "the file is not UTF-8".to_owned() }
        })?;
        // Some editors write a byte order mark first.
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

/// The TOML part of a file. Its spans are relative to the part's start.
pub(super) struct Place<'a> {
    pub source: &'a Source,
    pub start: usize,
}

impl Place<'_> {
    pub(super) fn error<T>(&self, value: &Spanned<T>, message: impl fmt::Display) -> PublishError {
        self.source.error(self.start + value.span().start, message)
    }

    /// Requires a nonempty string. If it is missing, the error points to `table`, a byte offset
    /// from the start of this part.
    pub(super) fn required(&self, value: Option<&Spanned<String>>, name: &str, table: usize) -> Result<String, PublishError> {
        let value = value.ok_or_else(|| self.source.error(self.start + table, format!("`{name}` is missing")))?;
        let text = collapsed(value.get_ref());
        if text.is_empty() { Err(self.error(value, format!("`{name}` is empty"))) } else { Ok(text) }
    }
}

/// The text on one line, with single spaces.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
