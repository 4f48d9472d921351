//! Reads the body of a request into one buffer.
//!
//! The body's frames are copied, not kept: every chunk is a frame, even a single byte. A frame
//! takes many times the memory of its data, and keeps the connection's read buffer allocated.

use axum::body::{Body, HttpBody as _};
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;

/// The maximum number of characters of an encoding's name that an error repeats.
const MAX_NAME: usize = 40;

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The body, or its announced length, exceeds the limit.
    TooLarge,
    /// The connection failed, or the client was too slow.
    EndedEarly,
}

/// Reads a body of at most `max` bytes.
pub(crate) async fn read(mut body: Body, max: usize) -> Result<Vec<u8>, BodyError> {
    // The announced length only serves to refuse a body early: memory is allocated only for the
    // data that has arrived.
    if body.size_hint().lower() > max as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        // Trailers are ignored.
        let Ok(data) = frame.map_err(|_| BodyError::EndedEarly)?.into_data() else { continue };
        if data.len() > max - whole.len() {
            return Err(BodyError::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole)
}

/// The encoding of a body, such as `gzip` (RFC 9110 §8.4); `None` if the body is not encoded.
/// Bodies are never decoded: a few kilobytes can become gigabytes.
pub(crate) fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut names = values.flat_map(|value| value.to_str().unwrap_or("unreadable").split(',')).map(str::trim);
    let name = names.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))?;
    Some(name.chars().take(MAX_NAME).collect())
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use axum::body::Bytes;
    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    /// A body that arrives in these frames without an announced length, and fails after the last
    /// frame if `fails` is set.
    fn frames(frames: &[&'static str], fails: bool) -> Body {
        let frames: Vec<_> = frames.iter().map(|frame| Ok(Bytes::from_static(frame.as_bytes()))).collect();
        let end = fails.then(|| Err(Error::from(ErrorKind::ConnectionReset)));
        Body::from_stream(stream::iter(frames).chain(stream::iter(end)))
    }

    #[tokio::test]
    async fn frames_become_one_buffer_of_limited_size() {
        assert_eq!(read(frames(&["ab", "", "c"], false), 3).await.as_deref(), Ok("abc".as_bytes()));
        assert_eq!(read(frames(&["ab", "cd"], false), 3).await, Err(BodyError::TooLarge));
        assert_eq!(read(frames(&["ab"], true), 3).await, Err(BodyError::EndedEarly));
        assert_eq!(read(Body::empty(), 0).await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn a_body_that_announces_too_many_bytes_is_refused_unread() {
        let announced = Body::from("abcd");
        assert_eq!(announced.size_hint().exact(), Some(4));
        assert_eq!(read(announced, 3).await, Err(BodyError::TooLarge));
    }
}
