//! The HTTP client for calls to AWS ([`crate`]): HTTP/1.1, the only version that DynamoDB and SES
//! support, over TLS with rustls on ring.
//!
//! The SDK's HTTP client includes HTTP/2 and the system's certificates. No function needs HTTP/2 or
//! these certificates, which slow down every cold start. This client trusts the root certificates
//! of AWS's endpoints (`roots.pem`) and those of the operator, and uses the operator's proxy.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use net::connector::Connector;
use net::limited::TimeoutConnector;
use net::proxy::Proxy;
use net::tls;
use rustls::RootCertStore;
use wire::environment::Error;

/// The five roots of Amazon Trust Services: Amazon Root CA 1 to 4, and the root of Starfield
/// Services.
const ROOTS: &[u8] = include_bytes!("roots.pem");

/// The time limit for a TCP connection, short because a function's endpoints are in its region.
const CONNECT: Duration = Duration::from_secs(1);
/// The time limit for resolving the name, TCP and TLS together. The system tries a second name
/// server after five seconds.
const CONNECTION: Duration = Duration::from_secs(7);

/// An HTTP client for AWS's endpoints and for plain HTTP; clones share a pool of connections.
#[derive(Debug, Clone)]
pub struct AwsHttp(Client<TimeoutConnector<HttpsConnector<Connector>>, SdkBody>);

impl AwsHttp {
    /// The client for a process. The client trusts the operator's certificates (`SSL_CERT_FILE`) as
    /// well as AWS's roots, and calls HTTPS endpoints through the operator's proxy (`HTTPS_PROXY`).
    /// Fails if the operator's certificates cannot be read or parsed, or if the proxy cannot be
    /// used.
    #[expect(clippy::disallowed_methods, reason = "the endpoints are those of AWS, or named by the operator")]
    pub fn from_env() -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        tls::trust(&mut roots, ROOTS)?;
        tls::trust_operator(&mut roots)?;
        let connector = Connector::new(Proxy::from_env()?, CONNECT).with_tls(roots);
        let connector = TimeoutConnector::new(connector, CONNECTION);
        Ok(Self(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)))
    }
}

impl HttpConnector for AwsHttp {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = self.0.clone();
        HttpConnectorFuture::new(async move {
            let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            let answer = client.request(request).await.map_err(|error| ConnectorError::io(error.into()))?;
            HttpResponse::try_from(answer.map(SdkBody::from_body_1_x)).map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    /// The certificates come from Mozilla, through a crate that is kept up to date; with
    /// `UPDATE_EXPECT=1`, this test updates the file from the crate.
    #[test]
    fn the_roots_are_those_of_amazon_trust_services() {
        let is_amazons = |der: &&[u8]| {
            let contains = |name: &[u8]| der.windows(name.len()).any(|window| window == name);
            contains(b"Amazon Root CA") || contains(b"Starfield Services Root Certificate Authority - G2")
        };
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref).filter(is_amazons);
        let roots: Vec<String> = roots.map(pem).collect();
        assert_eq!(roots.len(), 5);
        expect_test::expect_file!["roots.pem"].assert_eq(&roots.concat());
    }

    fn pem(der: &[u8]) -> String {
        let text = STANDARD.encode(der);
        let lines: Vec<&str> = (0..text.len()).step_by(64).map(|start| &text[start..text.len().min(start + 64)]).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }
}
