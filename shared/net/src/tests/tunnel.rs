//! Calls through a proxy, with certificates of a private CA. All servers are on this machine.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::answer::{AnswerError, unavailable};
use crate::lookups::{Lookups, SystemNames};
use crate::outgoing::client;
use crate::proxy::Proxy;
use crate::resolver::PublicResolver;
use crate::tls;

/// Resolves the names in the tests; `public.example` represents a public host.
fn names(host: &str) -> std::io::Result<std::vec::IntoIter<SocketAddr>> {
    let found = |address: IpAddr| Ok(vec![SocketAddr::from((address, 0))].into_iter());
    match host {
        "public.example" => found(IpAddr::from([127, 0, 0, 1])),
        "private.example" => found(IpAddr::from([10, 0, 0, 1])),
        _ => Err(std::io::Error::other("no such name")),
    }
}

static LOOKUPS: Lookups = Lookups::new(8, names);

fn resolver() -> PublicResolver {
    PublicResolver { names: SystemNames(&LOOKUPS), may_call: |address| address.is_loopback() }
}

/// A TLS server with a self-signed certificate for these names; returns its port and the
/// certificate.
fn tls_server(names: &[&str]) -> (u16, Vec<u8>) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certified = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certified.cert.der().clone()], key).expect("a key"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut tls = StreamOwned::new(connection, stream);
            let _ = tls.read(&mut [0; 1024]);
            let _ = tls.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
            tls.conn.send_close_notify();
            let _ = tls.flush();
        }
    });
    (port, certified.cert.pem().into_bytes())
}

/// A proxy that tunnels all connections to `port`; returns the proxy's URL and the requests that it
/// received.
fn proxy(port: u16) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://ada:secret@{}", listener.local_addr().expect("an address"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    std::thread::spawn(move || {
        for mut inside in listener.incoming().flatten() {
            let mut head = [0; 1024];
            let length = inside.read(&mut head).unwrap_or_default();
            seen.lock().expect("a lock").push(String::from_utf8_lossy(&head[..length]).into_owned());
            #[expect(clippy::disallowed_methods, reason = "the server is on this machine")]
            let Ok(outside) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
            let _ = inside.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            for (from, to) in [(&inside, &outside), (&outside, &inside)] {
                let (mut from, mut to) = (from.try_clone().expect("a stream"), to.try_clone().expect("a stream"));
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    (url, requests)
}

async fn call(url: &str, pem: &[u8], proxy: Option<Proxy>) -> Result<u16, AnswerError> {
    let mut roots = RootCertStore::empty();
    tls::trust(&mut roots, pem).expect("a certificate");
    let request = http::Request::get(url).body(Full::<Bytes>::default()).expect("a request");
    let answer = client(resolver(), roots, proxy).request(request).await;
    answer.map(|answer| answer.status().as_u16()).map_err(|error| unavailable(&error))
}

#[tokio::test]
async fn a_host_is_called_through_the_proxy_by_its_name() {
    let (port, pem) = tls_server(&["public.example", "elsewhere.example"]);
    let (url, requests) = proxy(port);
    let through = Proxy::new(&url, "").expect("a proxy");
    assert_eq!(call("https://public.example:8443/x", &pem, Some(through.clone())).await.expect("an answer"), 204);
    let request = requests.lock().expect("a lock").remove(0);
    assert!(request.starts_with("CONNECT public.example:8443 HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("proxy-authorization: basic ywrhonnly3jlda==") && !request.contains("/x"), "{request}");
    // A name that only the proxy can resolve.
    assert_eq!(call("https://elsewhere.example/", &pem, Some(through)).await.expect("an answer"), 204);
    let direct = Proxy::new(&url, "public.example").expect("a proxy");
    assert_eq!(call(&format!("https://public.example:{port}/"), &pem, Some(direct)).await.expect("an answer"), 204);
    assert_eq!(requests.lock().expect("a lock").len(), 1, "the last one was direct");
}

#[tokio::test]
async fn a_name_with_private_addresses_is_not_called_through_the_proxy_either() {
    let (port, pem) = tls_server(&["private.example"]);
    let (url, requests) = proxy(port);
    let fault = call("https://private.example/", &pem, Some(Proxy::new(&url, "").expect("a proxy"))).await.expect_err("a private host");
    assert!(matches!(&fault, AnswerError::Unavailable(text) if text.contains("no public address")), "{fault}");
    assert!(requests.lock().expect("a lock").is_empty());
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_refused_like_a_private_one() {
    // Nobody listens on this port, so the proxy closes the tunnel.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port").local_addr().expect("an address").port();
    let (url, requests) = proxy(port);
    let through = Proxy::new(&url, "").expect("a proxy");
    let (_, pem) = tls_server(&["elsewhere.example"]);
    let fault = call("https://elsewhere.example/", &pem, Some(through.clone())).await.expect_err("no tunnel");
    assert!(fault.to_string().contains("no public address"), "{fault}");
    let fault = call("https://public.example/", &pem, Some(through)).await.expect_err("no tunnel");
    assert!(!fault.to_string().contains("no public address"), "{fault}");
    assert_eq!(requests.lock().expect("a lock").len(), 2);
}

#[tokio::test]
async fn a_certificate_of_a_private_ca_is_accepted_only_if_the_operator_trusts_it() {
    let (port, pem) = tls_server(&["public.example"]);
    let (_, other) = tls_server(&["public.example"]);
    let url = format!("https://public.example:{port}/");
    assert_eq!(call(&url, &pem, None).await.expect("an answer"), 204);
    assert!(matches!(call(&url, &other, None).await, Err(AnswerError::Unavailable(_))));
}
