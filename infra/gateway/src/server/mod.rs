//! Accepts connections and serves HTTP/1.1, both for the API and for the DynamoDB port.
//!
//! `axum::serve` supports neither timeouts nor a limit on connections. This server has timeouts for
//! headers, bodies and idle connections ([`timeouts`]), and a limit on open connections
//! ([`connections`]). Clients that open connections and send nothing can therefore not block the
//! gateway or its database, which also needs file descriptors. Clients that do not read their
//! responses ([`answer`]) or do not finish their bodies cannot fill the gateway's memory.
//!
//! A request runs to its end even if its client disconnects, because clients could otherwise
//! prevent a provider's response from being stored, or their requests from being counted.

mod answer;
mod body;
mod connection;
mod connections;
mod proxies;
#[cfg(test)]
mod tests;
mod timeouts;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use answer::UnwrittenBody;
use api::http::client::PeerAddress;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse as _, Response};
use body::TimedBody;
use connection::WatchedStream;
use connections::Place;
use http::{Request, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::ServiceExt as _;

pub(crate) use connections::Connections;
pub(crate) use proxies::{Network, Proxies};
pub(crate) use timeouts::Timeouts;

/// The size of a connection's read buffer in bytes, which also limits the size of headers. API
/// Gateway allows 10 KB of headers.
const READ_BUFFER: usize = 64 << 10;
/// The pause after the operating system has failed to accept a connection.
const COOLDOWN: Duration = Duration::from_millis(100);

/// A router that is served on a port.
pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    pub(crate) router: Router,
    /// The open connections of all ports, which share the process's descriptors.
    pub(crate) connections: Arc<Connections>,
    pub(crate) proxies: Proxies,
}

impl Server {
    /// Serves until `stop` is true, and then until all running requests have been handled.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        // Connections hold a receiver, so the channel is closed once all connections have ended.
        let (open, _) = watch::channel(());
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stopped(&mut stop) => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // There is no limit per address for trusted proxies, because all users of a
                    // proxy share its address.
                    let counted = Some(peer.ip()).filter(|address| !self.proxies.contains(*address));
                    // If there is no place, the stream is dropped, which closes the connection.
                    if let Some(place) = self.connections.admit(counted).await {
                        let (router, proxies) = (self.router.clone(), self.proxies.clone());
                        let client = Arc::new(Client { peer, place, router, proxies, _open: open.subscribe() });
                        tokio::spawn(client.serve(stream, stop.clone()));
                    }
                }
                // The client has already disconnected.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    self.connections.make_room().await;
                    tokio::time::sleep(COOLDOWN).await;
                }
            }
        }
        drop(self.listener);
        open.closed().await;
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // If the sender no longer exists, the process is ending, so an error also means that the server
    // must stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// The peer of a connection, and the router that handles its requests.
struct Client {
    peer: SocketAddr,
    place: Place,
    router: Router,
    proxies: Proxies,
    /// Keeps the server running until the connection and its requests have ended.
    _open: watch::Receiver<()>,
}

impl Client {
    async fn serve(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin, mut stop: watch::Receiver<bool>) {
        let connection = &self.place.connection;
        let service = service_fn(|request| self.answer(request));
        let io = TokioIo::new(WatchedStream::new(stream, Arc::clone(connection)));
        let mut served = std::pin::pin!(http1::Builder::new().max_buf_size(READ_BUFFER).serve_connection(io, service));
        let mut overdue = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let mut stopping = std::pin::pin!(stopped(&mut stop));
        let mut is_stopping = false;
        // Polling the connection changes its deadline, so the connection and the deadline are
        // polled together.
        let served = std::future::poll_fn(|context| {
            if !is_stopping && stopping.as_mut().poll(context).is_ready() {
                is_stopping = true;
                served.as_mut().graceful_shutdown();
            }
            // It is not an error if a client disconnects.
            if served.as_mut().poll(context).is_ready() {
                return std::task::Poll::Ready(());
            }
            // A request with an incomplete header does not count as running.
            if is_stopping && connection.is_in_header() {
                return std::task::Poll::Ready(());
            }
            let Some(deadline) = connection.deadline() else { return std::task::Poll::Pending };
            if overdue.deadline() != deadline {
                overdue.as_mut().reset(deadline);
            }
            overdue.as_mut().poll(context)
        });
        tokio::select! {
            () = served => {}
            () = connection.evicted() => {}
        }
    }

    async fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Result<Response, Infallible> {
        let connection = &self.place.connection;
        let is_whole = request.body().is_end_stream();
        connection.head_is_read(is_whole);
        let client = PeerAddress(self.proxies.client(self.peer.ip(), request.headers()));
        let mut request = request.map(|body| if is_whole { Body::empty() } else { Body::new(TimedBody::new(body, &self.place)) });
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(client);
        let answer = self.run(request).await;
        if connection.answered() {
            // If a body is incomplete, this response replaces the operation's response.
            return Ok((StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response());
        }
        Ok(answer.map(|body| Body::new(UnwrittenBody::new(body, &self.place))))
    }

    /// Runs a request in a separate task, which keeps the place of its connection.
    async fn run(self: &Arc<Self>, request: Request<Body>) -> Response {
        let held = Arc::clone(self);
        let answer = self.router.clone().oneshot(request);
        let running = tokio::spawn(async move {
            let answer = answer.await;
            drop(held);
            answer
        });
        match running.await {
            Ok(Ok(answer)) => answer,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The process is ending.
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}
