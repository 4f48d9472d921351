//! The HTTP client of commands, for the URLs that the operator names.

use net::tls;
use reqwest::{Client, ClientBuilder, redirect};

/// A client that trusts the operator's certificates, too, and follows no redirect, which would take
/// tokens to another host.
#[expect(clippy::disallowed_methods, reason = "the operator names the URLs, which may be private")]
pub(crate) fn http_client() -> Result<ClientBuilder, wire::environment::Error> {
    Ok(Client::builder().tls_backend_preconfigured(tls::client(tls::roots()?)).redirect(redirect::Policy::none()))
}
