//! The number of connections left open after calls to many hosts.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use rustls::RootCertStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::lookups::WEBHOOKS;
use crate::outgoing::{IDLE_TIMEOUT, MAX_IDLE, client};
use crate::resolver::PublicResolver;
use crate::test_time::{jump, until};

const HOSTS: usize = 40;
/// The number of concurrent requests to each host.
const AT_ONCE: usize = MAX_IDLE * 2;

/// A server that keeps its connections open, and responds once [`AT_ONCE`] of them have a request;
/// returns its port. `open` counts the connections of all servers.
async fn server(open: &Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (open, all) = (Arc::clone(open), Arc::new(Barrier::new(AT_ONCE)));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            open.fetch_add(1, Ordering::SeqCst);
            let (open, all) = (Arc::clone(&open), Arc::clone(&all));
            tokio::spawn(async move {
                while stream.read(&mut [0; 4096]).await.is_ok_and(|length| length > 0) {
                    all.wait().await;
                    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
                }
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    port
}

#[tokio::test]
async fn few_connections_stay_open_after_calls_to_many_hosts_and_none_for_long() {
    let open = Arc::new(AtomicUsize::new(0));
    let client = client(PublicResolver::new(true, &WEBHOOKS), RootCertStore::empty(), None);
    for _ in 0..HOSTS {
        let (port, mut requests) = (server(&open).await, JoinSet::new());
        for _ in 0..AT_ONCE {
            let request = http::Request::post(format!("http://127.0.0.1:{port}/")).body(Full::<Bytes>::default()).expect("a request");
            requests.spawn(client.request(request));
        }
        for answer in requests.join_all().await {
            assert_eq!(answer.expect("an answer").status(), 204);
        }
    }
    until("connections beyond the limit are closed", || open.load(Ordering::SeqCst) == HOSTS * MAX_IDLE).await;
    jump(IDLE_TIMEOUT * 2).await;
    until("unused connections are closed", || open.load(Ordering::SeqCst) == 0).await;
}
