//! Converts the events of API Gateway to requests.

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName};
use lambda_http::request::LambdaRequest;

/// The header with the scheme of the client's request.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The request of an event, and whether its query is valid in a [`http::Uri`], which permits more
/// than RFC 3986. An invalid query is left out of the request.
///
/// The runtime builds a URI from the client's input, and panics if the URI is invalid, which would
/// end the instance. This function therefore removes an invalid query, as well as the client's host
/// and scheme, which operations never take from the URI.
pub(super) fn request(event: &[u8]) -> serde_json::Result<(lambda_http::Request, bool)> {
    let mut event = serde_json::from_slice(event)?;
    let (mut is_valid, mut own) = (true, HeaderMap::new());
    if let LambdaRequest::ApiGatewayV2(event) = &mut event {
        let query = event.raw_query_string.get_or_insert_default();
        is_valid = PathAndQuery::try_from(format!("/?{query}")).is_ok();
        if !is_valid {
            query.clear();
        }
        // Without a leading slash, the path would be part of the host.
        event.raw_path = event.raw_path.take().filter(|path| path.starts_with('/'));
        event.request_context.domain_name = None;
        for name in [HOST, FORWARDED_PROTO] {
            own.extend(event.headers.remove(&name).map(|value| (name, value)));
        }
    }
    let mut request = lambda_http::Request::from(event);
    request.headers_mut().extend(own);
    Ok((request, is_valid))
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    /// Parses a sample event to which `change` has been applied.
    fn changed(change: impl FnOnce(&mut serde_json::Value)) -> (lambda_http::Request, bool) {
        let mut event = serde_json::from_str(include_str!("../../../../events/users/me-read.json")).expect("an event");
        change(&mut event);
        request(event.to_string().as_bytes()).expect("a request")
    }

    #[test]
    fn a_query_that_is_part_of_no_uri_is_left_out() {
        let query = |query: &str| {
            let (request, is_valid) = changed(|event| event["rawQueryString"] = query.into());
            (request.uri().query().map(str::to_owned), is_valid)
        };
        for valid in ["limit=1&cursor=a%3Cb", "a=b\\c|{d}", "a=é", "a=b?c"] {
            assert_eq!(query(valid), (Some(valid.to_owned()), true));
        }
        assert_eq!(query(""), (None, true));
        assert!(["a=<", "a=b c", "a=\"", "a=\n"].iter().all(|invalid| query(invalid) == (None, false)));
    }

    #[test]
    fn no_header_or_path_of_a_client_ends_the_instance() {
        let headers =
            [("host", "a b"), ("host", "h:99999"), ("host", "["), ("host", ""), ("host", "münchen"), ("x-forwarded-proto", "a,https")];
        for (name, value) in headers.into_iter().chain([("x-forwarded-proto", ""), ("x-name", "Zoë"), ("cookie", "a=b")]) {
            let (request, is_valid) = changed(|event| event["headers"][name] = value.into());
            assert_eq!((request.uri().to_string().as_str(), is_valid), ("/api/v1/users/me", true), "{name}: {value}");
            assert_eq!(request.headers()[name].as_bytes(), value.as_bytes());
        }
        for (path, expected) in [
            ("/api/v1/users/Zo\u{eb} <a>", "/api/v1/users/Zo%C3%AB%20%3Ca%3E"),
            ("/api/v1/users/a?limit=1#b", "/api/v1/users/a"),
            ("/api/v1/users/../projects", "/api/v1/projects"),
            ("//evil.example/a", "//evil.example/a"),
            ("/%zz\u{7f}\u{0}|[]", "/%zz%7F%00|[]"),
            ("\\a", "/"),
            (":99999", "/"),
            ("", "/"),
        ] {
            assert_eq!(changed(|event| event["rawPath"] = path.into()).0.uri(), expected, "{path}");
        }
    }

    #[test]
    fn an_event_may_lack_what_a_request_lacks() {
        let (request, is_valid) = changed(|event| {
            for name in ["body", "cookies", "headers", "isBase64Encoded", "pathParameters", "rawPath", "rawQueryString", "stageVariables"] {
                event.as_object_mut().expect("an object").remove(name);
            }
        });
        assert_eq!((request.uri().path(), request.headers().len(), is_valid), ("/", 0, true));
        assert!(matches!(request.body(), lambda_http::Body::Empty));
        for event in ["", "{}", "[]", "null", r#"{"requestContext":{}}"#, "\u{0}"] {
            assert!(super::request(event.as_bytes()).is_err(), "{event}");
        }
    }

    #[test]
    fn cookies_and_binary_bodies_are_those_of_the_client() {
        let (request, _) = changed(|event| {
            event["cookies"] = serde_json::json!(["a=1", "b=2; c=3"]);
            event["body"] = "H4sIAAAA".into();
            event["isBase64Encoded"] = true.into();
        });
        assert_eq!(request.headers()[header::COOKIE], "a=1; b=2; c=3");
        assert!(matches!(request.body(), lambda_http::Body::Binary(body) if body.starts_with(b"\x1f\x8b\x08")));
    }
}
