//! The timeouts of a connection, exactly, in the time of a paused clock.

use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::Instant;

use super::*;

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const HALF: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n";
const UPLOAD: &[u8] = b"POST /upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{";

/// Connects a client. The sender stops the server when it is dropped.
async fn connect() -> (DuplexStream, watch::Sender<bool>) {
    let router = Router::new().route("/health", get(async || "ok")).route("/upload", post(async |_: Bytes| "ok"));
    let place = Connections::new(8, Timeouts::default()).admit(None).await.unwrap();
    let client = Client { peer: ([127, 0, 0, 1], 1).into(), place, router, proxies: Proxies::default() };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(client.serve(theirs, stopped));
    (ours, stop)
}

/// Sends `first`, and then `drip` each second. Returns the number of seconds until the connection
/// ended, and the received data.
async fn seconds_until_closed(first: &[u8], drip: &[u8]) -> (u64, String) {
    let (begin, (mut stream, _stop), mut received) = (Instant::now(), connect().await, Vec::new());
    stream.write_all(first).await.unwrap();
    loop {
        match tokio::time::timeout(Duration::from_secs(1), stream.read_buf(&mut received)).await {
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(_)) => {}
            Err(_) => {
                let _ = stream.write_all(drip).await;
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(600), "the connection stays");
    }
    (begin.elapsed().as_secs(), String::from_utf8(received).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_header_may_take_ten_seconds_a_body_thirty_and_a_pause_seventy_five() {
    for (what, first, drip, seconds, answer) in [
        ("a header that drips", HALF, &b"x"[..], 10, ""),
        ("a header that stops", HALF, b"", 10, ""),
        ("silence", b"", b"", 10, ""),
        ("a body that drips", UPLOAD, b" ", 30, "HTTP/1.1 408 "),
        ("a body that stops", UPLOAD, b"", 30, "HTTP/1.1 408 "),
        ("an idle connection", REQUEST, b"", 75, "HTTP/1.1 200 "),
    ] {
        let (after, received) = seconds_until_closed(first, drip).await;
        assert_eq!(after, seconds, "{what}: {received}");
        assert!(received.starts_with(answer) && received.is_empty() == answer.is_empty(), "{what}: {received}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_serves_many_requests_with_pauses_between_them() {
    let (mut stream, _stop) = connect().await;
    for pause in [15, 20, 74, 74, 0] {
        stream.write_all(REQUEST).await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\nok") {
            assert!(stream.read_buf(&mut received).await.unwrap() > 0, "closed");
        }
        assert!(received.starts_with(b"HTTP/1.1 200 "));
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_that_begins_after_a_pause_has_its_own_ten_seconds() {
    let (mut stream, _stop) = connect().await;
    stream.write_all(REQUEST).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let begin = Instant::now();
    stream.write_all(HALF).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 10);
}
