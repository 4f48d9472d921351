//! Responses that are not completely written yet.
//!
//! An operation responds immediately, but its client may read slowly or not at all. The bytes of
//! pending responses and incomplete request bodies are therefore limited in total. Above the limit,
//! a connection whose client does not read is closed ([`connections`](super::connections)). A
//! connection holds one response. The next request of a pipeline (RFC 9112 §9.3.2) waits until the
//! whole response has been passed on in small parts, as fast as the connection accepts them.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::connections::{HeldBytes, Place};

/// The size of a part of a response, in bytes. The buffer of the connection holds four parts.
const PART: usize = 16 << 10;

/// The rest of a response's body that is not written yet.
pub(super) struct UnwrittenBody {
    body: Body,
    /// The unwritten rest of the current frame.
    rest: Bytes,
    /// Counts the bytes until the body has been passed on.
    held: Option<HeldBytes>,
}

impl UnwrittenBody {
    pub(super) fn new(body: Body, place: &Place) -> Self {
        let bytes = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        Self { body, rest: Bytes::new(), held: (bytes > 0).then(|| place.hold(bytes)) }
    }

    /// Copies the next part of the frame. Because of the copy, the frame can be freed once its last
    /// part is passed on, before the client has read that part.
    fn part(&mut self) -> Bytes {
        let part = self.rest.split_to(PART.min(self.rest.len()));
        let part = Bytes::copy_from_slice(&part);
        if self.rest.is_empty() {
            self.rest = Bytes::new();
        }
        part
    }
}

impl HttpBody for UnwrittenBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                other => {
                    self.held = None;
                    return Poll::Ready(other);
                }
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let part = self.part();
        if self.is_end_stream() {
            self.held = None;
        }
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
