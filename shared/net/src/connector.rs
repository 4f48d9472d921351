//! Connections of the HTTP clients, either direct or through the operator's [`Proxy`].
//!
//! With a proxy, the proxy chooses the address to call, so the filter against calls into the
//! operator's network ([`crate::public_address`]) sees only the name. For this reason, this process
//! resolves the name first, and refuses it if all its addresses are private. Names that do not
//! resolve in this process are left to the proxy, because networks with a proxy often cannot
//! resolve public names. The proxy must refuse private destinations itself. If the proxy refuses a
//! destination, the error is the same as for a name with private addresses, so that projects cannot
//! find out which names exist in the network.

use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use tokio::net::TcpStream;
use tower::Service;

use crate::proxy::Proxy;
use crate::public_address::NotPublic;
use crate::tls;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Opens TCP connections.
#[derive(Debug, Clone)]
pub struct Connector<R = GaiResolver> {
    direct: HttpConnector<R>,
    /// For connections to the proxy, whose address the operator chose.
    to_proxy: HttpConnector,
    proxy: Option<Proxy>,
    /// Resolves the names that the proxy is asked to connect to, in order to check them; `None` if
    /// no check is needed.
    checking: Option<R>,
}

impl Connector {
    /// A connector to hosts that the operator chose. After the name is resolved, a TCP connection
    /// may take `timeout`; [`TimeoutConnector`](crate::limited::TimeoutConnector) limits the
    /// remaining steps.
    pub fn new(proxy: Option<Proxy>, timeout: Duration) -> Self {
        let mut connector = Self::with(HttpConnector::new(), proxy, None);
        connector.direct.set_nodelay(true);
        connector.direct.set_connect_timeout(Some(timeout));
        connector
    }
}

impl<R: Clone> Connector<R> {
    /// A connector to hosts whose addresses `resolver` checks.
    pub(crate) fn checked(resolver: R, proxy: Option<Proxy>) -> Self {
        Self::with(HttpConnector::new_with_resolver(resolver.clone()), proxy, Some(resolver))
    }

    fn with(mut direct: HttpConnector<R>, proxy: Option<Proxy>, checking: Option<R>) -> Self {
        let mut to_proxy = HttpConnector::new();
        direct.enforce_http(false);
        to_proxy.enforce_http(false);
        Self { direct, to_proxy, proxy, checking }
    }

    /// The connector for http and https.
    pub fn with_tls(self, roots: RootCertStore) -> HttpsConnector<Self> {
        HttpsConnectorBuilder::new().with_tls_config(tls::client(roots)).https_or_http().enable_http1().wrap_connector(self)
    }
}

impl<R> Service<Uri> for Connector<R>
where
    R: Service<Name, Response: Iterator<Item = SocketAddr>, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + 'static,
{
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(through) = self.proxy.as_ref().and_then(|proxy| proxy.intercept(&uri)) else {
            let connecting = self.direct.call(uri);
            return Box::pin(async move { connecting.await.map_err(Into::into) });
        };
        let mut tunnel = Tunnel::new(through.uri().clone(), self.to_proxy.clone());
        if let Some(login) = through.basic_auth() {
            tunnel = tunnel.with_auth(login.clone());
        }
        let checking = self.checking.clone();
        Box::pin(async move {
            let host = uri.host().unwrap_or_default().to_owned();
            let is_known = match checking {
                Some(resolver) => check(resolver, &host).await?,
                None => true,
            };
            let unknown = |error| format!("{host} has no public address known here, and the proxy does not connect to it: {error}");
            tunnel.call(uri).await.map_err(|error| if is_known { error.into() } else { unknown(error).into() })
        })
    }
}

/// Refuses a name with only private addresses; otherwise, returns whether the name resolves. IP
/// addresses have already been checked with their URL.
async fn check<R>(mut resolver: R, host: &str) -> Result<bool, BoxError>
where
    R: Service<Name, Error: Into<BoxError>>,
{
    if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Ok(true);
    }
    let name: Name = host.parse().map_err(|_| NotPublic(host.to_owned()))?;
    match resolver.call(name).await.map_err(Into::<BoxError>::into) {
        Ok(_) => Ok(true),
        Err(error) if error.is::<NotPublic>() => Err(error),
        Err(_) => Ok(false),
    }
}
