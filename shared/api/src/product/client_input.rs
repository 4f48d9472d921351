//! The input of an operation that authenticates OAuth clients. A client sends `client_id` and
//! `client_secret` in the body or, with HTTP Basic, in a header (RFC 6749 §2.3.1). The operation
//! always finds the credentials in the body.

use axum::extract::{FromRequest, Request};
use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use deserr::Deserr;
use errors::KnownError;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::http::describe::{Describe, Description};
use crate::product::input::{Input, Nothing, ParsedBody};
use crate::product::oauth_error::OauthErrorCode;

/// The body of a request by an OAuth client, and the path parameters.
#[derive(Debug)]
pub struct ClientInput<B, P = Nothing> {
    /// The body, with the client's credentials.
    pub body: B,
    /// The path parameters.
    pub path: P,
}

/// The longest decoded id and secret, in bytes.
const MAX_CREDENTIALS: usize = 2048;

impl<B: Deserr<Problems>, P: Deserr<Problems>, S: Send + Sync> FromRequest<S> for ClientInput<B, P> {
    type Rejection = KnownError;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, KnownError> {
        if let Some(credentials) = basic(request.headers()) {
            let malformed = || KnownError::InvalidOauthClientIdOrSecret { client_id: None };
            let (id, secret) = decode(credentials).ok_or_else(malformed)?;
            let (json, bytes) = request.extensions_mut().remove::<ParsedBody>().map_or((None, 0), |body| (body.json, body.bytes));
            let body = json.unwrap_or_else(|| Value::Object(Map::new()));
            let (method, path) = (request.method().as_str().to_owned(), request.uri().path().to_owned());
            let body = with_credentials(body, id, secret).map_err(|problem| KnownError::schema(&problem, &method, &path))?;
            request.extensions_mut().insert(ParsedBody { json: Some(body), bytes });
        }
        Input::<B, Nothing, P>::from_request(request, state).await.map(|Input { body, path, .. }| Self { body, path })
    }
}

impl<B: ToSchema, P: ToSchema> Describe for ClientInput<B, P> {
    fn describe(description: &mut Description) {
        Input::<B, Nothing, P>::describe(description);
    }
}

/// The credentials of HTTP Basic (RFC 7617 §2); `None` if the request has no credentials or uses
/// another scheme.
fn basic(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then(|| credentials.trim())
}

/// The client's id and secret, each of which is form-encoded (RFC 6749 §2.3.1).
fn decode(credentials: &str) -> Option<(String, String)> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = LENIENT.decode(credentials).ok().filter(|text| text.len() <= MAX_CREDENTIALS)?;
    let (id, secret) = std::str::from_utf8(&text).ok()?.split_once(':')?;
    let decode = |text: &str| {
        // The id and the secret are each decoded as the value of one form field, so `&` must not
        // separate fields.
        let form = format!("v={}", text.replace('&', "%26"));
        url::form_urlencoded::parse(form.as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    Some((decode(id)?, decode(secret)?))
}

/// Adds the credentials from the header to the body. A client must not authenticate in two ways at
/// once (RFC 6749 §2.3).
fn with_credentials(mut body: Value, id: String, secret: String) -> Result<Value, Problems> {
    let Value::Object(fields) = &mut body else { return Ok(body) };
    if fields.get("client_secret").is_some_and(|secret| !secret.is_null()) {
        return Err(Problems::one("body.client_secret", "must be absent, because the header `Authorization` has the client's secret"));
    }
    if fields.get("client_id").is_some_and(|own| own.as_str() != Some(&id)) {
        return Err(Problems::one("body.client_id", "must be absent, or the client id of the header `Authorization`"));
    }
    fields.insert("client_id".to_owned(), id.into());
    fields.insert("client_secret".to_owned(), secret.into());
    Ok(body)
}

/// The status and header of the response that refuses a client's HTTP Basic credentials (RFC 6749
/// §5.2); `None` for any other response.
pub(crate) fn challenge(request: &HeaderMap, error: OauthErrorCode) -> Option<(StatusCode, HeaderValue)> {
    let is_refused = error == OauthErrorCode::InvalidClient && basic(request).is_some();
    is_refused.then(|| (StatusCode::UNAUTHORIZED, HeaderValue::from_static("Basic realm=\"Gatelet\", charset=\"UTF-8\"")))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn id_and_secret_are_decoded_as_values_of_a_form() {
        let decoded = |text: &str| decode(&STANDARD.encode(text));
        assert_eq!(decoded("id:secret"), Some(("id".to_owned(), "secret".to_owned())));
        assert_eq!(decoded("a%23main:s%3A%2B%25%26%3D+x"), Some(("a#main".to_owned(), "s:+%&= x".to_owned())));
        assert_eq!(decoded("id:a:b&c=d"), Some(("id".to_owned(), "a:b&c=d".to_owned())), "not encoded");
        assert_eq!(decoded("id:"), Some(("id".to_owned(), String::new())));
        assert_eq!(decode(STANDARD.encode("id:secret").trim_end_matches('=')), decoded("id:secret"));
        for text in ["", "%%%", "id"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!((decoded("no colon"), decode(&STANDARD.encode(b"\xff:x"))), (None, None));
    }

    #[test]
    fn only_the_scheme_basic_is_read() {
        let of = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))]);
            basic(&headers).map(str::to_owned)
        };
        assert_eq!(of("basic  abc").as_deref(), Some("abc"));
        assert_eq!((of("Bearer abc"), of("Basic"), of("Basicabc")), (None, None, None));
    }
}
