//! What is tried a second time, and what is not.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::outgoing::{Fault, Outgoing};

/// What a server does with a connection.
#[derive(Clone, Copy)]
enum Deed {
    Answers(&'static str),
    /// Closes the connection after the request.
    Closes,
    /// Does not answer for this time.
    Waits(Duration),
}

const OK: Deed = Deed::Answers("200 OK");

/// A server that does something else at each connection, and counts them.
fn server(deeds: Vec<Deed>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for deed in deeds {
            let (mut stream, _) = listener.accept().expect("a connection");
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                match deed {
                    Deed::Answers(status) => {
                        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                        let _ = stream.write_all(answer.as_bytes());
                    }
                    Deed::Closes => {}
                    Deed::Waits(time) => std::thread::sleep(time),
                }
            });
        }
    });
    (url, count)
}

fn outgoing(patience: Duration) -> Outgoing<'static> {
    Outgoing::of_tests(patience, Instant::now() + Duration::from_secs(20))
}

const PATIENCE: Duration = Duration::from_secs(10);

async fn get(url: &str) -> Result<Value, Fault> {
    outgoing(PATIENCE).get(url, None, None).await
}

async fn post(url: &str) -> Result<(u16, Value), Fault> {
    outgoing(PATIENCE).post(url, &[("code", "x")], None).await
}

#[tokio::test]
async fn a_reading_request_that_fails_is_made_a_second_time() {
    for deed in [Deed::Answers("502 Bad Gateway"), Deed::Closes] {
        let (url, count) = server(vec![deed, OK]);
        assert_eq!(get(&url).await.expect("an answer"), json!({}));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
    let (url, count) = server(vec![Deed::Waits(Duration::from_secs(60)), OK]);
    let answer: Value = outgoing(Duration::from_millis(500)).get(&url, None, None).await.expect("an answer");
    assert_eq!((answer, count.load(Ordering::SeqCst)), (json!({}), 2));
    let (url, count) = server(vec![Deed::Closes, Deed::Closes, OK]);
    assert!(matches!(get(&url).await, Err(Fault::Unavailable(_))));
    assert_eq!(count.load(Ordering::SeqCst), 2, "and no third time");
}

#[tokio::test]
async fn what_was_refused_or_throttled_is_not_repeated() {
    for status in ["429 Too Many Requests", "403 Forbidden", "404 Not Found", "302 Found"] {
        let (url, count) = server(vec![Deed::Answers(status), OK]);
        assert!(get(&url).await.is_err(), "{status}");
        assert_eq!(count.load(Ordering::SeqCst), 1, "{status}");
    }
}

/// The server may have used the code.
#[tokio::test]
async fn a_code_is_not_sent_twice_once_it_may_have_arrived() {
    for deed in [Deed::Answers("502 Bad Gateway"), Deed::Closes] {
        let (url, count) = server(vec![deed, OK]);
        assert!(matches!(post(&url).await, Err(Fault::Unavailable(_))));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

/// Nobody listens at first, so nothing can have arrived.
#[tokio::test]
async fn a_code_that_certainly_did_not_arrive_is_sent_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        let listener = TcpListener::bind(address).expect("the same port");
        let (mut stream, _) = listener.accept().expect("the second attempt");
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    });
    let answer = post(&format!("http://{address}/")).await.expect("an answer");
    assert_eq!(answer, (200, json!({})));
    late.join().expect("the server");
}

#[tokio::test]
async fn all_calls_of_a_request_end_together() {
    let (url, count) = server(vec![Deed::Waits(Duration::from_secs(60)); 3]);
    let outgoing = Outgoing::of_tests(PATIENCE, Instant::now() + Duration::from_millis(300));
    for _ in 0..2 {
        assert!(matches!(outgoing.get::<Value>(&url, None, None).await, Err(Fault::Unavailable(_))));
    }
    assert!(count.load(Ordering::SeqCst) <= 2, "without a second attempt");
}
