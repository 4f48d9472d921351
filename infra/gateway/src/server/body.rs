//! The body of a request while it arrives.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::BoxError;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep_until};

use super::connection::Connection;
use super::connections::{HeldBytes, Place};

/// A body with a deadline. The bytes of the body count towards the bytes that its connection holds.
pub(super) struct TimedBody {
    body: Incoming,
    connection: Arc<Connection>,
    overdue: Pin<Box<Sleep>>,
    held: HeldBytes,
    /// The bytes that have arrived so far.
    arrived: usize,
}

impl TimedBody {
    pub(super) fn new(body: Incoming, place: &Place) -> Self {
        let connection = Arc::clone(&place.connection);
        let overdue = Box::pin(sleep_until(connection.body_deadline()));
        Self { body, connection, overdue, held: place.hold(0), arrived: 0 }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // The deadline is checked first, because a body that arrives slowly but steadily always has
        // data ready.
        if self.overdue.as_mut().poll(context).is_ready() {
            self.connection.body_is_late();
            return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            self.arrived = self.arrived.saturating_add(frame.data_ref().map_or(0, Bytes::len));
            self.held.set(self.arrived);
        }
        if frame.is_none() || self.body.is_end_stream() {
            self.connection.body_is_read();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
