//! Compresses public responses for clients that accept gzip.
//!
//! Only responses that any cache may store are compressed. Cacheable responses contain neither
//! secrets nor client input, so their size reveals nothing (BREACH).

use std::io::Write as _;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt as _;

/// The minimum size for compression, in bytes; a smaller response fits in one packet without
/// compression.
const MIN_BYTES: u64 = 1024;

/// Compresses the response if it is public text and long enough, and the client accepts gzip. A
/// compressed response has a weak validator, because its bytes differ from the bytes of the
/// document (RFC 9110 §8.8.1).
pub(crate) async fn compressed(request: Request, next: Next) -> Response {
    let accepts = accepts_gzip(request.headers());
    let known = weak_validators(request.headers());
    let is_head = request.method() == Method::HEAD;
    let mut response = next.run(request).await;
    if !is_public(response.headers()) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    match response.status() {
        // A client that has the compressed response sends and keeps a weak validator.
        StatusCode::NOT_MODIFIED if accepts => {
            if let Some(weak) = weakened(response.headers()).filter(|weak| known.contains(weak)) {
                response.headers_mut().insert(header::ETAG, weak);
            }
            response
        }
        StatusCode::OK if accepts && is_text(response.headers()) && length(&response) >= MIN_BYTES => {
            if is_head {
                // A response to HEAD has no body that could be compressed, so the compressed length
                // is unknown.
                response.headers_mut().remove(header::CONTENT_LENGTH);
                mark(response.headers_mut());
                return response;
            }
            gzip(response).await
        }
        _ => response,
    }
}

async fn gzip(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    // The body is complete in memory, so reading it cannot fail.
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let whole = body.clone();
    let Ok(Ok(smaller)) = tokio::task::spawn_blocking(move || smaller(&body)).await else {
        return Response::from_parts(parts, Body::from(whole));
    };
    mark(&mut parts.headers);
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(smaller.len()));
    Response::from_parts(parts, Body::from(smaller))
}

/// Compresses with gzip. The output has no timestamp, so the same input always gives the same
/// bytes. Even at the fastest level, the OpenAPI document becomes 90 % smaller.
fn smaller(body: &Bytes) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

fn mark(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    if let Some(weak) = weakened(headers) {
        headers.insert(header::ETAG, weak);
    }
}

fn weakened(headers: &HeaderMap) -> Option<HeaderValue> {
    let strong = text(headers, header::ETAG).filter(|strong| strong.starts_with('"'))?;
    HeaderValue::try_from(format!("W/{strong}")).ok()
}

/// The weak validators in `If-None-Match`.
fn weak_validators(headers: &HeaderMap) -> Vec<HeaderValue> {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let listed = lists.flat_map(|list| list.split(',')).map(str::trim).filter(|one| one.starts_with("W/"));
    listed.filter_map(|one| HeaderValue::from_str(one).ok()).collect()
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn is_public(headers: &HeaderMap) -> bool {
    let is_listed = |list: &str| list.split(',').any(|one| one.trim() == "public");
    text(headers, header::CACHE_CONTROL).is_some_and(is_listed) && !headers.contains_key(header::CONTENT_ENCODING)
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = text(headers, header::CONTENT_TYPE).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    media_type.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|kind| media_type.ends_with(kind))
}

/// The size of the response in bytes. A response to HEAD has no body, but its header states the
/// size.
fn length(response: &Response) -> u64 {
    let stated = text(response.headers(), header::CONTENT_LENGTH).and_then(|length| length.parse().ok());
    stated.unwrap_or_else(|| response.body().size_hint().lower())
}

/// Whether `Accept-Encoding` allows gzip, either by name or by a wildcard (RFC 9110 §12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let codings: Vec<(String, bool)> = lists.flat_map(|list| list.split(',')).map(coding).collect();
    let of = |name: &str| codings.iter().find(|(coding, _)| coding == name).map(|(_, is_allowed)| *is_allowed);
    of("gzip").or_else(|| of("x-gzip")).or_else(|| of("*")).unwrap_or(false)
}

/// A coding in lowercase, and whether the client's weight allows it.
fn coding(part: &str) -> (String, bool) {
    let (name, parameters) = part.split_once(';').unwrap_or((part, ""));
    let weight = parameters.trim().strip_prefix("q=").or_else(|| parameters.trim().strip_prefix("Q="));
    let is_allowed = weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0));
    (name.trim().to_ascii_lowercase(), is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_by_name_or_by_a_wildcard_unless_it_is_forbidden() {
        let accepts =
            |value: &'static str| accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]));
        for value in ["gzip", "br, GZIP", "gzip;q=0.5", "*", "deflate, *;q=0.1", "x-gzip", "identity;q=0, gzip; q=1"] {
            assert!(accepts(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip;q=0.0, *", "*;q=0", "identity", "gzipped", "gzip;q=x"] {
            assert!(!accepts(value), "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
