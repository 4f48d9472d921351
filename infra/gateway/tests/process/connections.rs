//! Clients that are slow, that send nothing, or that open too many connections.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;

use crate::support::{Gateway, gateway};

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const HALF: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n";
const UPLOAD: &[u8] =
    b"POST /api/v1/auth/password/sign-in HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";

fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).unwrap()
}

/// Starts a gateway with the given timeouts for headers, bodies and idle connections, in seconds.
/// Also returns the port of the gateway's table.
fn impatient(timeouts: &str) -> (Gateway, u16) {
    let mut command = gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]);
    let gateway = Gateway::spawn(command.env("GATELET_TIMEOUTS", timeouts));
    let table = gateway.line("DynamoDB").rsplit_once(':').unwrap().1.parse().unwrap();
    (gateway, table)
}

/// Sends `first`, and then `drip` every tenth of a second until the connection ends, which must
/// take at least `seconds`. Returns the received data.
fn received_until_closed(port: u16, first: &[u8], drip: &[u8], seconds: u64) -> String {
    // The time is measured from before the connection, because the gateway counts from when it
    // accepts the connection, possibly before the client notices.
    let (begin, mut stream, mut received) = (Instant::now(), connect(port), Vec::new());
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    stream.write_all(first).unwrap();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // After the gateway has closed the connection, writing causes a reset, which the
                // next read reports.
                let _ = stream.write_all(drip);
            }
            Err(_) => break,
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "the connection stays");
    }
    assert!(begin.elapsed() >= Duration::from_secs(seconds), "closed after {:?}", begin.elapsed());
    String::from_utf8_lossy(&received).into_owned()
}

/// Sends the rest of a request on an open connection; returns the response.
fn answer(stream: &mut TcpStream, rest: &[u8]) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(rest).unwrap();
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

/// A connection on which `first` has been sent.
fn held(port: u16, first: &[u8]) -> TcpStream {
    let mut stream = connect(port);
    stream.write_all(first).unwrap();
    stream
}

/// Each of three gateways has one timeout of two seconds. All other timeouts are an hour, longer
/// than any run of this test. `server::tests` tests the default timeouts.
#[test]
fn headers_bodies_and_idle_connections_time_out() {
    let upload_to_table = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n";
    let [(headers, of_headers), (bodies, of_bodies), (pauses, _)] = ["2,3600,3600", "3600,2,3600", "3600,3600,2"].map(impatient);
    let mut kept = [held(headers.port(), UPLOAD), held(headers.port(), REQUEST), held(bodies.port(), HALF), held(pauses.port(), HALF)];
    assert!(answer(&mut kept[1], b"").starts_with("HTTP/1.1 200 "));
    let case = |what: &'static str, port: u16, first: &'static [u8], drip: &'static [u8], expected: &'static str| {
        (what, thread::spawn(move || received_until_closed(port, first, drip, 2)), expected)
    };
    let waiting = [
        case("a header that drips", headers.port(), HALF, b"x", ""),
        case("a header that stops", headers.port(), HALF, b"", ""),
        case("silence", headers.port(), b"", b"", ""),
        case("a header at the table", of_headers, HALF, b"x", ""),
        case("a body that drips", bodies.port(), UPLOAD, b" ", "HTTP/1.1 408 "),
        case("a body at the table", of_bodies, upload_to_table, b"", "HTTP/1.1 408 "),
        case("an idle connection", pauses.port(), REQUEST, b"", "HTTP/1.1 200 "),
    ];
    for (what, closed, expected) in waiting {
        let received = closed.join().unwrap();
        assert!(received.starts_with(expected) && received.is_empty() == expected.is_empty(), "{what}: {received}");
    }
    // Connections in other phases are still served, even after a pause that is longer than a header
    // may take.
    let rest = [" ".repeat(999).into_bytes(), REQUEST.to_vec(), b"\r\n".to_vec(), b"\r\n".to_vec()];
    for ((mut stream, rest), status) in kept.into_iter().zip(rest).zip(["400", "200", "200", "200"]) {
        let answer = answer(&mut stream, &rest);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

/// Sends a request on a new connection; returns the status, or an empty text if the connection
/// fails before the response.
fn status_of(port: u16, request: &str) -> String {
    let (mut stream, mut received) = (connect(port), [0; 12]);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // If the gateway responds early and closes the connection, writing fails.
    let _ = stream.write_all(request.as_bytes());
    match stream.read_exact(&mut received) {
        Ok(()) => String::from_utf8_lossy(&received[9..]).into_owned(),
        Err(_) => String::new(),
    }
}

#[test]
fn a_header_is_accepted_up_to_a_size() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0"]));
    let header = |length: usize| format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "x".repeat(length));
    assert_eq!(status_of(gateway.port(), &header(60 << 10)), "200");
    // If a part of a request is not read, the connection is reset, possibly before the response
    // arrives.
    let refused = status_of(gateway.port(), &header(300 << 10));
    assert!(["431", ""].contains(&refused.as_str()), "{refused}");
}

#[test]
fn a_body_may_arrive_in_chunks_of_one_byte() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0"]));
    let request = |body: &str| {
        let chunks: String = body.chars().flat_map(|byte| ["1\r\n".to_owned(), format!("{byte}\r\n")]).collect();
        format!(
            "POST /api/v1/check-version HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"
        )
    };
    assert_eq!(status_of(gateway.port(), &request("{\"clientVersion\":\"1.2.3\"}")), "200");
    let too_large = status_of(gateway.port(), &request(&" ".repeat((256 << 10) + 1)));
    assert!(["413", ""].contains(&too_large.as_str()), "{too_large}");
}

/// Starts a gateway that may open only 128 descriptors.
fn confined() -> Gateway {
    let mut command = Command::new("sh");
    let script = "ulimit -n 128; exec \"$0\" --memory --listen 127.0.0.1:0";
    command.args(["-c", script, env!("CARGO_BIN_EXE_gateway")]).env_clear();
    Gateway::spawn(&mut command)
}

/// Opens a connection from an address of this machine, and sends `bytes`.
async fn open(gateway: &Gateway, from: [u8; 4], bytes: &[u8]) -> tokio::net::TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(([127, 0, 0, 1], gateway.port()).into()).await.unwrap();
    // If there is no place, the gateway closes the connection immediately.
    let _ = stream.write_all(bytes).await;
    stream
}

/// Asserts that users can still sign up.
async fn works(gateway: &Gateway) {
    for number in 0..5 {
        assert_eq!(gateway.get("/health").await.status(), 200);
        let body = json!({ "email": format!("ada{number}@example.com"), "password": "correct horse battery",
            "verification_callback_url": "http://localhost:3000/verify" });
        let (status, answer) = gateway.client(&gateway.line("Project"), Method::POST, "/api/v1/auth/password/sign-up", Some(body)).await;
        assert_eq!(status, 200, "{answer}");
    }
}

#[tokio::test]
async fn two_hundred_connections_do_not_block_a_gateway_with_128_descriptors() {
    for (what, bytes) in [("silent", &b""[..]), ("half-open", HALF), ("uploading", UPLOAD), ("idle", REQUEST)] {
        let gateway = confined();
        let mut held = Vec::new();
        for _ in 0..200 {
            held.push(open(&gateway, [127, 0, 0, 1], bytes).await);
        }
        works(&gateway).await;
        assert_eq!(held.len(), 200, "{what}");
    }
}

#[tokio::test]
async fn connections_from_many_addresses_are_evicted_too() {
    let gateway = confined();
    let mut held = Vec::new();
    for number in 0..300_u16 {
        let bytes = if number % 2 == 0 { HALF } else { UPLOAD };
        held.push(open(&gateway, [127, 0, 1, u8::try_from(number % 100).unwrap() + 1], bytes).await);
    }
    works(&gateway).await;
    assert_eq!(held.len(), 300);
}
