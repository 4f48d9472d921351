//! Requests whose end two readers see in different places (RFC 9112 §11.2): a proxy in front would hand the rest to somebody else.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Gateway, gateway};

/// What comes back until the server ends the connection or says nothing more for a second.
fn answers(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (mut received, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        received.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&received).into_owned()
}

fn statuses(answers: &str) -> Vec<&str> {
    answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect()
}

/// Hidden in what may be the body of another; it would be answered 200.
const HIDDEN: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[test]
fn a_request_with_two_ends_is_refused_or_has_one() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]));
    let table: u16 = gateway.line("DynamoDB").rsplit_once(':').unwrap().1.parse().unwrap();
    let length = HIDDEN.len();
    let head = "POST /api/v1/auth/password/sign-in HTTP/1.1\r\nhost: localhost\r\n";
    let refused = [
        ("two lengths", format!("{head}content-length: 0\r\ncontent-length: {length}\r\n\r\n{HIDDEN}")),
        ("two lengths in one field", format!("{head}content-length: 0, {length}\r\n\r\n{HIDDEN}")),
        ("a length with a sign", format!("{head}content-length: +{length}\r\n\r\n{HIDDEN}")),
        ("a transfer coding that nobody has", format!("{head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("chunked, and not last", format!("{head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("a space before the colon", format!("{head}content-length : {length}\r\n\r\n{HIDDEN}")),
        ("a header that goes on in the next line", format!("{head}x-a: b\r\n content-length: {length}\r\n\r\n{HIDDEN}")),
        ("a size that is no number", format!("{head}transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n{HIDDEN}")),
    ];
    for port in [gateway.port(), table] {
        for (what, request) in &refused {
            let answers = answers(port, request);
            assert!(!statuses(&answers).contains(&"200"), "{what}: the hidden request is answered: {answers}");
            assert!(statuses(&answers).len() <= 1, "{what}: {answers}");
        }
    }
    // Both lengths: the chunks count (RFC 9112 §6.3), and the connection ends after them.
    let both = format!("{head}content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}", length + 5);
    let answers = answers(gateway.port(), &both);
    assert!(!statuses(&answers).contains(&"200"), "{answers}");
}

#[test]
fn what_is_in_a_body_is_no_request_and_what_follows_it_is_the_next() {
    let gateway = Gateway::spawn(&mut gateway(&["--memory", "--listen", "127.0.0.1:0"]));
    let head = "POST /api/v1/auth/password/sign-in HTTP/1.1\r\nhost: localhost\r\n";
    let (length, chunk) = (HIDDEN.len(), format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len()));
    for request in [format!("{head}content-length: {length}\r\n\r\n{HIDDEN}"), format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}")] {
        let alone = answers(gateway.port(), &request);
        assert_eq!(statuses(&alone).len(), 1, "{alone}");
        let followed = answers(gateway.port(), &format!("{request}{HIDDEN}"));
        let found = statuses(&followed);
        assert!(found.len() == 2 && found[0].starts_with('4') && found[1] == "200", "{followed}");
    }
}
