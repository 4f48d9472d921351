//! Requests whose end is ambiguous (RFC 9112 §11.2). A proxy in front of the gateway could take a
//! part of one client's request for the request of another client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Gateway, gateway};

/// Everything that the server sends until it closes the connection or, after `expected` responses,
/// sends nothing for a second.
fn answers(port: u16, request: &str, expected: usize) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (mut received, mut buffer) = (String::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        received.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if statuses(&received).len() >= expected {
            stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        }
    }
    received
}

fn statuses(answers: &str) -> Vec<&str> {
    answers.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)).collect()
}

/// Checks the cases at the same time, because each one waits for more responses.
fn at_once<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}

/// A request that is hidden in the body of another request. If the hidden request were executed, it
/// would get the status 200.
const HIDDEN: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[test]
fn a_request_with_ambiguous_length_is_rejected() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]));
    let table: u16 = gateway.line("DynamoDB").rsplit_once(':').unwrap().1.parse().unwrap();
    let length = HIDDEN.len();
    let head = "POST /api/v1/auth/password/sign-in HTTP/1.1\r\nhost: localhost\r\n";
    let refused = [
        ("two lengths", format!("{head}content-length: 0\r\ncontent-length: {length}\r\n\r\n{HIDDEN}")),
        ("two lengths in one field", format!("{head}content-length: 0, {length}\r\n\r\n{HIDDEN}")),
        ("a length with a sign", format!("{head}content-length: +{length}\r\n\r\n{HIDDEN}")),
        ("an unknown transfer coding", format!("{head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("chunked, but not as the last coding", format!("{head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("a space before the colon", format!("{head}content-length : {length}\r\n\r\n{HIDDEN}")),
        ("a header that continues on the next line", format!("{head}x-a: b\r\n content-length: {length}\r\n\r\n{HIDDEN}")),
        ("a size that is not a number", format!("{head}transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n{HIDDEN}")),
    ];
    let all = [gateway.port(), table].into_iter().flat_map(|port| refused.iter().map(move |(what, request)| (what, port, request)));
    at_once(all, |(what, port, request)| {
        let answers = answers(port, request, 1);
        assert!(!statuses(&answers).contains(&"200"), "{what}: the hidden request is answered: {answers}");
        assert!(statuses(&answers).len() <= 1, "{what}: {answers}");
    });
    // If a request has both a length and chunks, the chunks count (RFC 9112 §6.3), and the
    // connection is closed after the response.
    let both = format!("{head}content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}", length + 5);
    let answers = answers(gateway.port(), &both, 1);
    assert!(!statuses(&answers).contains(&"200"), "{answers}");
}

#[test]
fn a_body_is_never_parsed_as_a_request() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0"]));
    let head = "POST /api/v1/auth/password/sign-in HTTP/1.1\r\nhost: localhost\r\n";
    let (length, chunk) = (HIDDEN.len(), format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len()));
    let requests = [format!("{head}content-length: {length}\r\n\r\n{HIDDEN}"), format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}")];
    at_once(requests, |request| {
        let alone = answers(gateway.port(), &request, 1);
        assert_eq!(statuses(&alone).len(), 1, "{alone}");
        let followed = answers(gateway.port(), &format!("{request}{HIDDEN}"), 2);
        let found = statuses(&followed);
        assert!(found.len() == 2 && found[0].starts_with('4') && found[1] == "200", "{followed}");
    });
}
