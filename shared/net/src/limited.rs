//! A time limit for all steps before a request: resolving the name, TCP, a proxy, TLS. A request
//! that fails during these steps was certainly not sent; a request that fails later may have been
//! sent.

use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use tokio::time::timeout;
use tower::Service;

type BoxError = Box<dyn StdError + Send + Sync>;

/// A connector with a time limit, which fails with [`io::ErrorKind::TimedOut`].
#[derive(Debug, Clone)]
pub struct TimeoutConnector<C> {
    connector: C,
    limit: Duration,
}

impl<C> TimeoutConnector<C> {
    /// A connector whose connections may take up to `limit`.
    pub fn new(connector: C, limit: Duration) -> Self {
        Self { connector, limit }
    }
}

impl<C> Service<Uri> for TimeoutConnector<C>
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = timeout(self.limit, self.connector.call(uri));
        Box::pin(async move { connecting.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?.map_err(Into::into) })
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use hyper_util::client::legacy::connect::HttpConnector;
    use hyper_util::client::legacy::connect::dns::Name;

    use super::*;

    /// A resolver that never responds.
    #[derive(Clone)]
    struct SilentResolver;

    impl Service<Name> for SilentResolver {
        type Response = std::vec::IntoIter<SocketAddr>;
        type Error = io::Error;
        type Future = std::future::Pending<io::Result<Self::Response>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Name) -> Self::Future {
            std::future::pending()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_for_a_connection_includes_resolving_the_name() {
        let mut connector = TimeoutConnector::new(HttpConnector::new_with_resolver(SilentResolver), Duration::from_secs(7));
        let error = connector.call(Uri::from_static("http://dynamodb.example/")).await.expect_err("nobody answers");
        assert!(error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut), "{error}");
    }
}
