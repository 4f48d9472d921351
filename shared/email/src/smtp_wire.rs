//! A connection to a mail server of a project. It reads a bounded number of bytes, so a server that
//! never ends a line cannot exhaust the memory.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many bytes are read from one connection, before STARTTLS and again after it; the replies to
/// one email take less than two thousand.
const MOST: usize = 64 * 1024;

/// Stands in for the greeting, which a server does not repeat after STARTTLS (RFC 3207 §4.2).
const GREETING: &[u8] = b"220 again\r\n";

#[derive(Debug)]
pub(crate) struct Wire<S> {
    stream: S,
    peer: SocketAddr,
    /// The bytes that are read before those of the server.
    before: &'static [u8],
    left: usize,
}

impl<S> Wire<S> {
    pub(crate) fn new(stream: S, peer: SocketAddr) -> Self {
        Self { stream, peer, before: &[], left: MOST }
    }

    /// A connection to a server that has already sent its greeting.
    pub(crate) fn greeted(stream: S, peer: SocketAddr) -> Self {
        Self { before: GREETING, ..Self::new(stream, peer) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.before.is_empty() {
            let (now, later) = self.before.split_at(self.before.len().min(buffer.remaining()));
            buffer.put_slice(now);
            self.before = later;
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        match self.left.checked_sub(buffer.filled().len() - before) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Err(io::Error::other("the server sent more than 64 KiB"))),
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug> AsyncTokioStream for Wire<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}
