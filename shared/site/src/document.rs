//! A document with its media type and its lifetime in caches.

/// A document as served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The value of `Content-Type`.
    pub media_type: &'static str,
    /// The text of the document.
    pub body: String,
    /// How long caches may reuse the document without revalidation, in seconds.
    pub max_age: u32,
}

/// How long caches may reuse a document that contains content, in seconds.
pub const CONTENT_AGE: u32 = 300;
/// How long caches may reuse a document that changes only with a release, in seconds.
pub const RELEASE_AGE: u32 = 3600;

/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";
/// The media type of plain texts.
pub const PLAIN: &str = "text/plain; charset=utf-8";
/// The media type of Markdown (RFC 7763).
pub const MARKDOWN: &str = "text/markdown; charset=utf-8";

impl Document {
    pub(crate) fn from_content(media_type: &'static str, body: String) -> Self {
        Self { media_type, body, max_age: CONTENT_AGE }
    }

    pub(crate) fn from_release(media_type: &'static str, body: impl Into<String>) -> Self {
        Self { media_type, body: body.into(), max_age: RELEASE_AGE }
    }
}
