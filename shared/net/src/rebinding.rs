//! Tests that DNS rebinding fails: attacks that change a name's address between the check and the
//! connection. The tests use the complete client.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::connect::dns::Name;
use rustls::RootCertStore;
use tower::Service;

use crate::answer::unavailable;
use crate::outgoing::{AnswerError, Client, client};
use crate::resolver::PublicResolver;

/// Two addresses of this machine: the first one represents a public address, the second one a
/// private address.
const PUBLIC: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PRIVATE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The resolver of an attacker's domain, which can return different addresses each time.
#[derive(Clone)]
struct ChangingResolver(Arc<Mutex<VecDeque<Vec<Ipv4Addr>>>>);

impl Service<Name> for ChangingResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        let answer = self.0.lock().expect("a lock").pop_front().expect("an answer for each resolution");
        ready(Ok(answer.into_iter().map(|address| SocketAddr::from((address, 0))).collect::<Vec<_>>().into_iter()))
    }
}

/// Counts the connections to an address, and closes each one after a response.
fn count(listener: TcpListener) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        }
    });
    count
}

fn client_of(answers: &[&[Ipv4Addr]]) -> (Client<ChangingResolver>, ChangingResolver) {
    let names = ChangingResolver(Arc::new(Mutex::new(answers.iter().map(|answer| answer.to_vec()).collect())));
    let resolver = PublicResolver { names: names.clone(), may_call: |address| address == PUBLIC };
    (client(resolver, RootCertStore::empty(), None), names)
}

async fn call(client: &Client<ChangingResolver>, port: u16) -> Result<u16, AnswerError> {
    let request = http::Request::get(format!("http://rebinding.example:{port}/")).body(Full::<Bytes>::default()).expect("a request");
    client.request(request).await.map(|answer| answer.status().as_u16()).map_err(|error| unavailable(&error))
}

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_checked() {
    let outside = TcpListener::bind((PUBLIC, 0)).expect("a port");
    let port = outside.local_addr().expect("an address").port();
    let inside = count(TcpListener::bind((PRIVATE, port)).expect("the same port at another address"));
    let outside = count(outside);
    let (client, names) = client_of(&[&[PUBLIC], &[PRIVATE], &[PRIVATE, PUBLIC], &[PUBLIC]]);
    assert_eq!(call(&client, port).await.expect("an answer"), 204);
    assert_eq!(names.0.lock().expect("a lock").len(), 3, "one answer is both checked and used");
    let fault = call(&client, port).await.expect_err("the address has changed to a private one");
    assert!(matches!(&fault, AnswerError::Unavailable(text) if text.contains("no public address")), "{fault}");
    for _ in 0..2 {
        assert_eq!(call(&client, port).await.expect("an answer"), 204);
    }
    assert_eq!((outside.load(Ordering::SeqCst), inside.load(Ordering::SeqCst)), (3, 0));
}

#[tokio::test]
async fn a_private_address_is_not_tried_after_a_public_one_fails() {
    let inside = TcpListener::bind((PRIVATE, 0)).expect("a port");
    let port = inside.local_addr().expect("an address").port();
    let inside = count(inside);
    let (client, _) = client_of(&[&[PUBLIC, PRIVATE]]);
    let fault = call(&client, port).await.expect_err("nobody listens at the public address");
    assert!(matches!(fault, AnswerError::Unavailable(_)), "{fault}");
    assert_eq!(inside.load(Ordering::SeqCst), 0);
}
