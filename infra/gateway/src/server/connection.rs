//! The phases of a connection, and their timeouts.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::timeouts::Timeouts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The connection is idle between two requests, or a response is being written.
    Idle,
    Header,
    Body,
    /// The body took longer than its timeout. The operation got an error in place of the rest of
    /// the body, but has not responded yet.
    Late,
    /// The request is complete, and its operation is running.
    Operation,
}

/// The state of a connection, which its stream, its body and its server share.
#[derive(Debug)]
pub(super) struct Connection {
    timeouts: Timeouts,
    state: Mutex<State>,
    evict: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
}

impl Connection {
    pub(super) fn new(timeouts: Timeouts) -> Self {
        let state = Mutex::new(State { phase: Phase::Header, since: Instant::now() });
        Self { timeouts, state, evict: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        *self.state() = State { phase, since: Instant::now() };
    }

    /// The time when the connection is closed unless something happens on it. `None` while an
    /// operation is running or a body is arriving. A body has a separate deadline, after which the
    /// client still gets a response ([`super::body`]).
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        match state.phase {
            Phase::Idle => Some(state.since + self.timeouts.idle),
            Phase::Header => Some(state.since + self.timeouts.header),
            Phase::Body | Phase::Late | Phase::Operation => None,
        }
    }

    pub(super) fn is_in_header(&self) -> bool {
        self.state().phase == Phase::Header
    }

    /// The time when the connection began to wait for its client; `None` while its operation is
    /// running.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        let state = self.state();
        matches!(state.phase, Phase::Idle | Phase::Header | Phase::Body).then_some(state.since)
    }

    /// Asks the connection to close, in order to make room for another connection.
    pub(super) fn evict(&self) {
        self.evict.notify_one();
    }

    pub(super) async fn evicted(&self) {
        self.evict.notified().await;
    }

    pub(super) fn head_is_read(&self, is_whole: bool) {
        self.enter(if is_whole { Phase::Operation } else { Phase::Body });
    }

    /// The deadline for the body of a request that has just begun.
    pub(super) fn body_deadline(&self) -> Instant {
        Instant::now() + self.timeouts.body
    }

    pub(super) fn body_is_late(&self) {
        self.enter(Phase::Late);
    }

    pub(super) fn body_is_read(&self) {
        self.enter(Phase::Operation);
    }

    /// Records that the operation has responded; returns whether the body was late.
    pub(super) fn answered(&self) -> bool {
        let was_late = self.state().phase == Phase::Late;
        self.enter(Phase::Idle);
        was_late
    }

    fn has_read(&self) {
        if self.state().phase == Phase::Idle {
            self.enter(Phase::Header);
        }
    }

    fn has_written(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            state.since = Instant::now();
        }
    }
}

/// A stream that reports reads and writes to its connection.
pub(super) struct WatchedStream<S> {
    stream: S,
    connection: Arc<Connection>,
}

impl<S> WatchedStream<S> {
    pub(super) fn new(stream: S, connection: Arc<Connection>) -> Self {
        Self { stream, connection }
    }

    fn written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(_))) {
            self.connection.has_written();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.connection.has_read();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
