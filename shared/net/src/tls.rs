//! TLS for outgoing connections, such as those to AWS, OAuth providers, webhook endpoints and mail
//! servers: rustls on ring, the only TLS stack.

use std::fs;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use wire::environment::{Error, variable};

/// The configuration of a client without a certificate. The client trusts these roots, and supports
/// TLS 1.2 and 1.3.
#[expect(clippy::expect_used, reason = "ring has cipher suites for the versions that rustls thinks safe")]
pub fn client(roots: RootCertStore) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    config.expect("ring speaks TLS 1.2 and 1.3").with_root_certificates(roots).with_no_client_auth()
}

/// Mozilla's root certificates. Linking the roots makes a function a thirtieth larger.
pub fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// The public roots and the operator's roots. Fails if the operator's roots cannot be read or
/// parsed.
pub fn roots() -> Result<RootCertStore, Error> {
    let mut roots = public_roots();
    trust_operator(&mut roots)?;
    Ok(roots)
}

/// Adds certificates (PEM) to the roots. Fails if one of the certificates cannot be parsed.
pub fn trust(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), Error> {
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| Error::InvalidCertificates)?;
        roots.add(certificate).map_err(|_| Error::InvalidCertificates)?;
    }
    Ok(())
}

/// Adds the certificates (PEM) in the file named by `SSL_CERT_FILE` to the roots; does nothing if
/// the variable is not set. Fails if the file cannot be read or parsed.
pub fn trust_operator(roots: &mut RootCertStore) -> Result<(), Error> {
    match variable("SSL_CERT_FILE") {
        Some(path) => trust(roots, &fs::read(path).map_err(|_| Error::InvalidCertificates)?),
        None => Ok(()),
    }
}
