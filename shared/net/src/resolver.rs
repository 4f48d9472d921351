//! The resolver for requests to providers and webhook endpoints. The resolver returns only allowed
//! addresses, one of which the connection then uses. The name is not resolved again after this
//! check, so an attacker cannot change the address before the connection (DNS rebinding).

use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

use crate::lookups::{Lookups, SystemNames};
use crate::public_address::{among, rule};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Resolves names to allowed IP addresses.
#[derive(Debug, Clone)]
pub(crate) struct PublicResolver<R = SystemNames> {
    /// The resolver that finds the addresses to check.
    pub(crate) names: R,
    /// Whether an address is allowed.
    pub(crate) may_call: fn(IpAddr) -> bool,
}

impl PublicResolver {
    /// Resolves names with `lookups`, which limit the system's lookups.
    pub(crate) fn new(allow_private: bool, lookups: &'static Lookups) -> Self {
        Self { names: SystemNames(lookups), may_call: rule(allow_private) }
    }
}

impl<R> Service<Name> for PublicResolver<R>
where
    R: Service<Name>,
    R::Response: Iterator<Item = SocketAddr>,
    R::Error: Into<BoxError>,
    R::Future: Send + 'static,
{
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.names.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (host, may_call) = (name.as_str().to_owned(), self.may_call);
        let found = self.names.call(name);
        Box::pin(async move { Ok(among(&host, found.await.map_err(Into::into)?, may_call)?.into_iter()) })
    }
}
