//! Accepts connections and serves them over HTTP/1.1, for the API and for the DynamoDB port.
//!
//! `axum::serve` waits for ever and for everybody. Here a request's header, its body and an idle connection have their time
//! ([`connection`]), and there is a cap on how many connections are open ([`connections`]), so that clients who open connections
//! and say nothing stop neither the gateway nor its database, which needs descriptors as well.

mod connection;
mod connections;
mod proxies;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::http::client::PeerAddress;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse as _, Response};
use connection::{Connection, TimedBody, Watched};
use connections::Place;
use http::{Request, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt as _;

pub(crate) use connections::Connections;
pub(crate) use proxies::{Network, Proxies};

/// How long nothing is accepted after the machine refused a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// A router at a port.
pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    pub(crate) router: Router,
    /// Shared by all ports, as the process's descriptors are.
    pub(crate) connections: Arc<Connections>,
    pub(crate) proxies: Proxies,
}

impl Server {
    /// Serves until `stop` is true, and then until all requests that were running have been answered.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        // Every connection holds a receiver.
        let (open, _) = watch::channel(());
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stopped(&mut stop) => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // All users of a proxy come from its address.
                    let counted = Some(peer.ip()).filter(|address| !self.proxies.contains(*address));
                    // Without a place for it, the connection is closed here.
                    if let Some(place) = self.connections.admit(counted).await {
                        let serving = serve(stream, peer, self.router.clone(), self.proxies.clone(), place, stop.clone());
                        let held = open.subscribe();
                        tokio::spawn(async move {
                            serving.await;
                            drop(held);
                        });
                    }
                }
                // The client has gone already.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    self.connections.make_room().await;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        drop(self.listener);
        open.closed().await;
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // Whoever would say so has gone, too.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn serve(stream: TcpStream, peer: SocketAddr, router: Router, proxies: Proxies, place: Place, mut stop: watch::Receiver<bool>) {
    let connection = &place.connection;
    let service = service_fn(|request| answer(router.clone(), &proxies, connection, peer, request));
    let io = TokioIo::new(Watched::new(stream, Arc::clone(connection)));
    let mut served = std::pin::pin!(http1::Builder::new().serve_connection(io, service));
    let mut overdue = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
    let mut stopping = std::pin::pin!(stopped(&mut stop));
    let mut is_stopping = false;
    // The deadline moves while the connection is polled, so both are polled by the same hand.
    let served = std::future::poll_fn(|context| {
        if !is_stopping && stopping.as_mut().poll(context).is_ready() {
            is_stopping = true;
            served.as_mut().graceful_shutdown();
        }
        // A client that breaks off is nobody's failure.
        if served.as_mut().poll(context).is_ready() {
            return std::task::Poll::Ready(());
        }
        // Half a header is no running request.
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

async fn answer(
    router: Router,
    proxies: &Proxies,
    connection: &Arc<Connection>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let is_whole = request.body().is_end_stream();
    connection.head_is_read(is_whole);
    let client = PeerAddress(proxies.client(peer.ip(), request.headers()));
    let mut request = request.map(|body| if is_whole { Body::empty() } else { Body::new(TimedBody::new(body, Arc::clone(connection))) });
    request.extensions_mut().insert(ConnectInfo(peer));
    request.extensions_mut().insert(client);
    let answer = router.oneshot(request).await;
    if connection.answered() {
        // Whatever the operation made of half a body.
        return Ok((StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response());
    }
    answer
}
