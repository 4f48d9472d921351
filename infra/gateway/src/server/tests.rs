//! Tests the exact timeouts of a connection, on a paused clock.
#![expect(clippy::disallowed_methods, reason = "the server is in this process")]

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::*;

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const HALF: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n";
const UPLOAD: &[u8] = b"POST /upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{";

/// Connects a client. Dropping the sender stops the server.
async fn connect() -> (DuplexStream, watch::Sender<bool>) {
    let router = Router::new().route("/health", get(async || "ok")).route("/upload", post(async |_: Bytes| "ok"));
    let place = Connections::new(8, Timeouts::default()).admit(None).await.unwrap();
    let (peer, open) = (([127, 0, 0, 1], 1).into(), watch::channel(()).1);
    let client = Arc::new(Client { peer, place, router, proxies: Proxies::default(), _open: open });
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(client.serve(theirs, stopped));
    (ours, stop)
}

/// A client must not be able to choose the step at which its request stops.
#[tokio::test]
async fn a_request_whose_client_hangs_up_runs_to_its_end_and_keeps_its_place() {
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let slow = {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        get(async move || {
            begun.notify_one();
            go_on.notified().await;
            ENDED.fetch_add(1, Ordering::SeqCst);
            "ok"
        })
    };
    let (address, connections, stop) = listen(Router::new().route("/health", slow), 1 << 20).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    begun.notified().await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!((ENDED.load(Ordering::SeqCst), connections.count()), (0, 1), "the request keeps the place");
    go_on.notify_one();
    until(|| connections.count() == 0).await;
    assert_eq!(ENDED.load(Ordering::SeqCst), 1);
    drop(stop);
}

/// Sends `first`, and then `drip` every second. Returns the number of seconds until the connection
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

/// Serves `router` on a local port. The connections together hold at most `max_held` bytes.
async fn listen(router: Router, max_held: usize) -> (SocketAddr, Arc<Connections>, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Connections::holding(max_held, 64, Timeouts::default());
    let server = Server { listener, router, connections: Arc::clone(&connections), proxies: Proxies::default() };
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(server.run(stopped));
    (address, connections, stop)
}

/// More bytes than the buffers of a socket hold.
const LARGE: usize = 32 << 20;

/// A router that returns large responses and counts them.
fn large(answers: &Arc<AtomicUsize>) -> Router {
    let answers = Arc::clone(answers);
    let answer = move || {
        answers.fetch_add(1, Ordering::SeqCst);
        async { vec![b'x'; LARGE] }
    };
    Router::new().route("/large", get(answer)).route("/health", get(async || "ok"))
}

const LARGE_REQUEST: &[u8] = b"GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n";

async fn until(mut holds: impl FnMut() -> bool) {
    tokio::time::timeout(Duration::from_secs(60), async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("it should be so within a minute");
}

#[tokio::test]
async fn a_connection_that_does_not_read_holds_one_answer() {
    let answers = Arc::default();
    let (address, connections, _stop) = listen(large(&answers), 8 * LARGE).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    silent.write_all(&LARGE_REQUEST.repeat(20)).await.unwrap();
    until(|| connections.held() == LARGE).await;
    // Meanwhile, the same runtime completely serves another client.
    for _ in 0..3 {
        let mut reader = TcpStream::connect(address).await.unwrap();
        reader.write_all(b"GET /large HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.unwrap();
        assert!(received.len() > LARGE);
    }
    assert_eq!((answers.load(Ordering::SeqCst), connections.held()), (4, LARGE));
    // The next request is handled once the client has read the first response.
    let mut received = vec![0; 2 * LARGE];
    silent.read_exact(&mut received).await.unwrap();
    until(|| answers.load(Ordering::SeqCst) > 5).await;
}

#[tokio::test]
async fn the_answers_that_nobody_reads_have_a_bound_for_the_whole_process() {
    let answers = Arc::default();
    let (address, connections, _stop) = listen(large(&answers), 2 * LARGE).await;
    let mut silent = Vec::new();
    for number in 1..=10 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(LARGE_REQUEST).await.unwrap();
        until(|| answers.load(Ordering::SeqCst) == number).await;
        assert!(connections.held() <= 2 * LARGE);
        silent.push(stream);
    }
    until(|| connections.held() == 2 * LARGE).await;
    // The connections that had not read for the longest time were closed in the middle of a
    // response.
    let mut received = Vec::new();
    let ended = silent.remove(0).read_to_end(&mut received).await;
    assert!(ended.is_err() || received.len() < LARGE, "{}", received.len());
    let mut reader = TcpStream::connect(address).await.unwrap();
    reader.write_all(REQUEST).await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"ok") {
        assert!(reader.read_buf(&mut received).await.unwrap() > 0, "closed");
    }
}

/// A router that reads the body before it responds.
fn upload() -> Router {
    Router::new().route("/upload", post(async |body: Bytes| body.len().to_string()))
}

async fn begin_upload(address: SocketAddr, announced: usize, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("POST /upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: {announced}\r\n\r\n").as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; sent]).await.unwrap();
    stream
}

#[tokio::test]
async fn the_bodies_that_nobody_ends_have_a_bound_for_the_whole_process() {
    const PART: usize = 100 << 10;
    let (address, connections, _stop) = listen(upload(), 4 * PART).await;
    let mut unfinished = Vec::new();
    for number in 1..=12 {
        unfinished.push(begin_upload(address, 2 * PART, PART).await);
        until(|| connections.held() == PART * number.min(4)).await;
    }
    // The first connections are closed without a response.
    let mut received = Vec::new();
    let ended = unfinished.remove(0).read_to_end(&mut received).await;
    assert!((ended.is_err() || ended.is_ok_and(|length| length == 0)) && received.is_empty());
    // The newest connection stays open, and bodies count only until they have arrived.
    let mut newest = unfinished.pop().unwrap();
    newest.write_all(&vec![b'x'; PART]).await.unwrap();
    while !received.ends_with(b"\r\n\r\n204800") {
        assert!(newest.read_buf(&mut received).await.unwrap() > 0, "closed");
    }
    drop(unfinished);
    until(|| connections.held() == 0).await;
}
