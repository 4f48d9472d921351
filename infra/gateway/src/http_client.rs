//! The HTTP client of commands, for URLs that the operator has named.

use net::tls;
use reqwest::{Client, ClientBuilder, redirect};

/// A client that also trusts the certificates that the operator has configured. The client follows
/// no redirects, because they could leak tokens to another host.
#[expect(clippy::disallowed_methods, reason = "the operator names the URLs, which may be private")]
pub(crate) fn http_client() -> Result<ClientBuilder, wire::environment::Error> {
    Ok(Client::builder().tls_backend_preconfigured(tls::client(tls::roots()?)).redirect(redirect::Policy::none()))
}
