//! Lambda's Runtime API, where a function gets its events and sends its responses
//! (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>).
//!
//! All requests use one connection, one request after the other. The crate `lambda_runtime` passes
//! each event through a connection pool, layers and a separate task, which took a fifth of a warm
//! response's CPU time (`infra/README.md`, "How functions are built").

use std::error::Error as StdError;
use std::fmt::Display;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tracing::Instrument as _;
use wire::environment::{self, required};

/// Why the Runtime API cannot be used; ends the instance.
pub type Error = Box<dyn StdError + Send + Sync>;

/// The path of the API's version.
const VERSION: &str = "/2018-06-01/runtime/invocation";
/// The header with the id of an event.
const ID: &str = "lambda-runtime-aws-request-id";
/// The header with Lambda's deadline for the response.
const DEADLINE: &str = "lambda-runtime-deadline-ms";
/// The header that the response repeats, so that Lambda does not mistake it for the response to an
/// earlier event.
const INVOCATION: &str = "lambda-runtime-invocation-id";
/// The header with the kind of an error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";

/// An event for the function to handle.
#[derive(Debug)]
pub struct Event {
    /// The id of the invocation, as in Lambda's own log lines.
    pub id: String,
    /// Lambda's deadline for the response, in milliseconds since the Unix epoch.
    pub deadline: i64,
    /// The event, as JSON.
    pub body: Bytes,
    invocation: Option<HeaderValue>,
}

/// Runs the `main` of a function on the current thread alone, because an instance handles one event
/// at a time.
///
/// # Errors
/// `main` fails, or the system does not provide what the reactor needs.
pub fn block_on(main: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    Builder::new_current_thread().enable_all().build()?.block_on(main)
}

/// Handles events until the instance ends. If `handle` fails, reports the error to Lambda and goes
/// on with the next event.
///
/// # Errors
/// The environment does not name a Runtime API, or the API cannot be used.
pub async fn run<E: Display>(handle: impl AsyncFn(&Event) -> Result<Vec<u8>, E>) -> Result<(), Error> {
    RuntimeApi::from_env()?.run(handle).await
}

struct RuntimeApi {
    /// The host and the port.
    address: String,
    /// The prefix of paths; empty at AWS. `cargo lambda watch` serves one API for each function.
    prefix: String,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl RuntimeApi {
    fn from_env() -> Result<Self, environment::Error> {
        Ok(Self::at(&required("AWS_LAMBDA_RUNTIME_API")?))
    }

    /// The API at a host and port, with an optional path.
    fn at(address: &str) -> Self {
        let address = address.trim_start_matches("http://").trim_end_matches('/');
        let (address, prefix) = address.split_at(address.find('/').unwrap_or(address.len()));
        Self { address: address.to_owned(), prefix: prefix.to_owned(), connection: None }
    }

    async fn run<E: Display>(mut self, handle: impl AsyncFn(&Event) -> Result<Vec<u8>, E>) -> Result<(), Error> {
        loop {
            let event = self.next().await?;
            // The span adds the event's id to log lines that are not in any other span.
            let span = tracing::info_span!("event", requestId = %event.id);
            let handled = handle(&event).instrument(span.clone()).await;
            match handled {
                Ok(answer) => self.answer(&event, answer).instrument(span).await?,
                Err(error) => self.fail(&event, &error.to_string()).instrument(span).await?,
            }
        }
    }

    /// Waits for the next event.
    async fn next(&mut self) -> Result<Event, Error> {
        let (parts, body) = loop {
            let response = self.exchange(Method::GET, "/next", HeaderMap::new(), Bytes::new()).await?;
            // An emulator may respond before there is an event.
            if response.status() != StatusCode::NO_CONTENT {
                break response.into_parts();
            }
        };
        if !parts.status.is_success() {
            return Err(format!("the Runtime API has no event: {}", parts.status).into());
        }
        let header = |name| parts.headers.get(name).ok_or_else(|| format!("an event has no header {name}"));
        let deadline = header(DEADLINE)?.to_str()?.parse()?;
        let invocation = parts.headers.get(INVOCATION).cloned();
        Ok(Event { id: header(ID)?.to_str()?.to_owned(), deadline, body, invocation })
    }

    async fn answer(&mut self, event: &Event, answer: Vec<u8>) -> Result<(), Error> {
        self.post(event, "response", HeaderMap::new(), answer).await
    }

    async fn fail(&mut self, event: &Event, message: &str) -> Result<(), Error> {
        tracing::error!(error = message, "an event was not handled");
        let kind = HeaderValue::from_static("HandlerError");
        let body = serde_json::json!({ "errorType": "HandlerError", "errorMessage": message, "stackTrace": [] });
        self.post(event, "error", HeaderMap::from_iter([(ERROR_TYPE.parse()?, kind)]), serde_json::to_vec(&body)?).await
    }

    async fn post(&mut self, event: &Event, kind: &str, mut headers: HeaderMap, body: Vec<u8>) -> Result<(), Error> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(invocation) = &event.invocation {
            headers.insert(INVOCATION, invocation.clone());
        }
        let response = self.exchange(Method::POST, &format!("/{}/{kind}", event.id), headers, body.into()).await?;
        if !response.status().is_success() {
            // For example, the function's response is too large or too late. In these cases, Lambda
            // has already responded to the caller.
            let (status, body) = (response.status().as_u16(), String::from_utf8_lossy(response.body()).into_owned());
            tracing::error!(status, body, "Lambda did not accept an answer");
        }
        Ok(())
    }

    /// Sends a request and reads the response, over the previous request's connection or, if that
    /// was closed, over a new one.
    async fn exchange(&mut self, method: Method, path: &str, headers: HeaderMap, body: Bytes) -> Result<Response<Bytes>, Error> {
        let kept = self.connection.take().filter(|connection| !connection.is_closed());
        let is_kept = kept.is_some();
        let request = || {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = format!("{}{VERSION}{path}", self.prefix).parse()?;
            *request.headers_mut() = headers.clone();
            request.headers_mut().insert(HOST, HeaderValue::from_str(&self.address)?);
            request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(crate::USER_AGENT));
            Ok::<_, Error>(request)
        };
        let mut connection = match kept {
            Some(kept) => kept,
            None => connect(&self.address).await?,
        };
        let response = match answered(&mut connection, request()?).await {
            Err(_) if is_kept => {
                connection = connect(&self.address).await?;
                answered(&mut connection, request()?).await?
            }
            response => response?,
        };
        self.connection = Some(connection);
        Ok(response)
    }
}

async fn connect(address: &str) -> Result<SendRequest<Full<Bytes>>, Error> {
    #[expect(clippy::disallowed_methods, reason = "the address is that of the Lambda runtime")]
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn answered(connection: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, hyper::Error> {
    connection.ready().await?;
    let (parts, body) = connection.send_request(request).await?.into_parts();
    Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Reads a request; returns the head in lower case, and the body.
    async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
                if body.len() >= length {
                    return Some((head, body.to_owned()));
                }
            }
            let mut part = [0; 4096];
            match stream.read(&mut part).await.unwrap_or(0) {
                0 => return None,
                count => bytes.extend_from_slice(&part[..count]),
            }
        }
    }

    fn event(number: usize) -> String {
        let body = format!("{{\"event\":{number}}}");
        format!(
            "HTTP/1.1 200 OK\r\n{ID}: id-{number}\r\n{DEADLINE}: 17000\r\n{INVOCATION}: wire-{number}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    /// Serves `events` events, and then responds with errors. Closes the connection after each
    /// request whose number is in `closing`. Returns the connections made and the posts received.
    async fn given(events: usize, closing: &[usize], post: &str, prefix: &str) -> (usize, Vec<(String, String)>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api = RuntimeApi::at(&format!("{}{prefix}", listener.local_addr().unwrap()));
        let handled = Mutex::new(0);
        let run = api.run(async |event: &Event| {
            *handled.lock().unwrap() += 1;
            assert_eq!((event.id.as_str(), event.deadline), (format!("id-{}", handled.lock().unwrap()).as_str(), 17000));
            if event.body.ends_with(b"2}") { Err("the second one fails") } else { Ok(b"\"done\"".to_vec()) }
        });
        let (mut connections, mut posts, mut given, mut requests) = (0, Vec::new(), 0, 0);
        let serve = async {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                connections += 1;
                while let Some((head, body)) = request(&mut stream).await {
                    requests += 1;
                    let answer = if head.starts_with("post") {
                        posts.push((head, body));
                        post.to_owned()
                    } else if given < events {
                        given += 1;
                        event(given)
                    } else {
                        "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n".to_owned()
                    };
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    if closing.contains(&requests) {
                        break;
                    }
                }
            }
        };
        let error = tokio::select! { ended = run => ended.unwrap_err().to_string(), () = serve => unreachable!() };
        (connections, posts, error)
    }

    const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";

    #[tokio::test]
    async fn events_are_answered_over_one_connection_with_their_ids() {
        for prefix in ["", "/.rt/a-function"] {
            let (connections, posts, error) = given(3, &[], ACCEPTED, prefix).await;
            assert_eq!(connections, 1);
            assert!(error.contains("500"), "{error}");
            let firsts: Vec<&str> = posts.iter().map(|(head, _)| head.lines().next().unwrap()).collect();
            let path = |number: usize, kind: &str| format!("post {prefix}/2018-06-01/runtime/invocation/id-{number}/{kind} http/1.1");
            assert_eq!(firsts, [path(1, "response"), path(2, "error"), path(3, "response")]);
            for (number, (head, _)) in posts.iter().enumerate() {
                assert!(head.contains(&format!("{INVOCATION}: wire-{}", number + 1)), "{head}");
            }
            assert_eq!(posts[0].1, "\"done\"");
            assert!(posts[1].0.contains("handlererror") && posts[1].1.contains("the second one fails"), "{posts:?}");
        }
    }

    #[tokio::test]
    async fn a_closed_connection_is_replaced_and_a_refused_answer_is_not_the_end() {
        let (connections, posts, _) = given(3, &[1, 4], ACCEPTED, "").await;
        assert_eq!((connections, posts.len()), (3, 3));
        let (connections, posts, error) = given(2, &[], "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\n\r\n{}", "").await;
        assert_eq!((connections, posts.len()), (1, 2));
        assert!(error.contains("no event"), "{error}");
    }
}
