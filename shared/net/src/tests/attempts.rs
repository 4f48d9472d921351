//! Tests which failed requests are repeated, and which are not.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::outgoing::{AnswerError, BACKOFF, Outgoing};
use crate::test_time::{jump, until};

/// How a server treats a connection.
#[derive(Clone, Copy)]
enum Deed {
    Answers(&'static str),
    /// Closes the connection after the request.
    Closes,
    /// Never answers.
    Waits,
}

const OK: Deed = Deed::Answers("200 OK");

/// A server that treats its connections as `deeds` says, in order, and counts the connections on
/// which data arrived.
fn server(deeds: Vec<Deed>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for deed in deeds {
            let (mut stream, _) = listener.accept().expect("a connection");
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                counted.fetch_add(1, Ordering::SeqCst);
                match deed {
                    Deed::Answers(status) => {
                        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                        let _ = stream.write_all(answer.as_bytes());
                    }
                    Deed::Closes => {}
                    // Waits until the client closes the connection.
                    Deed::Waits => while stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {},
                }
            });
        }
    });
    (url, count)
}

/// The time limit for one attempt and for all attempts together: only deliberate delays take this
/// long.
const TIMEOUT: Duration = Duration::from_secs(600);
const TOGETHER: Duration = Duration::from_secs(1500);

fn outgoing() -> Outgoing<'static> {
    Outgoing::for_tests(TIMEOUT, Instant::now() + TOGETHER)
}

async fn get(url: &str) -> Result<Value, AnswerError> {
    outgoing().get(url, None, None).await
}

async fn post(url: &str) -> Result<(u16, Value), AnswerError> {
    outgoing().post(url, &[("code", "x")], None).await
}

/// Makes `call`, which times out once `requests` requests have arrived.
async fn too_late<T>(call: impl Future<Output = T>, count: &AtomicUsize, requests: usize) -> T {
    let time = async {
        until("a request arrives", || count.load(Ordering::SeqCst) == requests).await;
        jump(TIMEOUT).await;
    };
    tokio::join!(call, time).0
}

#[tokio::test]
async fn a_reading_request_that_fails_is_made_a_second_time() {
    for deed in [Deed::Answers("502 Bad Gateway"), Deed::Closes] {
        let (url, count) = server(vec![deed, OK]);
        assert_eq!(get(&url).await.expect("an answer"), json!({}));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
    let (url, count) = server(vec![Deed::Waits, OK]);
    let answer = too_late(get(&url), &count, 1).await.expect("an answer");
    assert_eq!((answer, count.load(Ordering::SeqCst)), (json!({}), 2));
    let (url, count) = server(vec![Deed::Closes, Deed::Closes, OK]);
    assert!(matches!(get(&url).await, Err(AnswerError::Unavailable(_))));
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
        assert!(matches!(post(&url).await, Err(AnswerError::Unavailable(_))));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
    let (url, count) = server(vec![Deed::Waits, OK]);
    assert!(matches!(too_late(post(&url), &count, 1).await, Err(AnswerError::Unavailable(_))));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// At first, nobody listens, so nothing arrives.
#[tokio::test]
async fn a_code_that_certainly_did_not_arrive_is_sent_again() {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    let late = async {
        // While the clock stands still, there is no second attempt.
        tokio::time::pause();
        spawn_blocking(|| std::thread::sleep(Duration::from_millis(50))).await.expect("the first attempt");
        let listener = socket.listen(8).expect("a listener");
        tokio::time::advance(BACKOFF).await;
        tokio::time::resume();
        let (mut stream, _) = listener.accept().await.expect("the second attempt");
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").await;
    };
    let (answer, ()) = tokio::join!(post(&url), late);
    assert_eq!(answer.expect("an answer"), (200, json!({})));
}

/// A code cannot be sent before the TLS handshake is complete.
#[tokio::test]
async fn a_code_is_sent_again_if_the_connection_is_not_established_in_time_or_breaks() {
    let (url, count) = server(vec![Deed::Waits, Deed::Closes]);
    let url = url.replace("http:", "https:");
    assert!(matches!(too_late(post(&url), &count, 1).await, Err(AnswerError::Unavailable(_))));
    assert_eq!(count.load(Ordering::SeqCst), 2);
    let (url, count) = server(vec![Deed::Closes, Deed::Closes, Deed::Closes]);
    assert!(matches!(post(&url.replace("http:", "https:")).await, Err(AnswerError::Unavailable(_))));
    assert_eq!(count.load(Ordering::SeqCst), 2, "and no third time");
}

#[tokio::test]
async fn all_calls_of_a_request_end_together() {
    let (url, count) = server(vec![Deed::Waits; 3]);
    let outgoing = Outgoing::for_tests(TIMEOUT, Instant::now() + TIMEOUT);
    let call = async || outgoing.get::<Value>(&url, None, None).await;
    assert!(matches!(too_late(call(), &count, 1).await, Err(AnswerError::Unavailable(_))));
    assert_eq!(count.load(Ordering::SeqCst), 1, "without a second attempt");
    assert!(matches!(call().await, Err(AnswerError::Unavailable(_))));
    assert!(count.load(Ordering::SeqCst) <= 2);
}
