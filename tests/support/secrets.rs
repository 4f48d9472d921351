//! Finds secrets in requests, responses and emails by the names of values.

use axum::body::Bytes;
use http::header::{AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, Uri, request, response};
use model::code::Code;
use serde_json::Value;

/// A value whose name contains one of these texts may be secret.
const NAMES: &[&str] = &["password", "secret", "token", "code", "otp", "key", "verifier", "nonce", "state", "cookie", "authorization"];
/// A value whose name contains one of these texts is not secret.
const HARMLESS: &[&str] = &["country_code", "countrycode", "code_challenge_method", "token_type", "authorization_endpoint"];
/// The minimum length of a value that counts as secret. Shorter values also occur by chance.
const MIN_LENGTH: usize = 6;

/// A secret, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub name: String,
    pub value: String,
}

impl Secret {
    /// The secret as a single line, even if its value contains line breaks.
    pub(crate) fn line(&self) -> String {
        serde_json::json!([self.name, self.value]).to_string()
    }

    pub fn from_line(line: &str) -> Self {
        let (name, value) = serde_json::from_str(line).unwrap();
        Self { name, value }
    }

    fn of(name: &str, value: &str) -> Option<Self> {
        let name = name.to_lowercase().trim_start_matches("x-stack-").trim_start_matches("x-service-").to_owned();
        let is_secret = NAMES.iter().any(|part| name.contains(part)) && !HARMLESS.contains(&name.as_str()) && !name.ends_with("_id");
        // Error codes consist of words, and placeholders in tests consist of words or repeated
        // letters.
        let is_word = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            || value.len() < 12 && value.bytes().all(|byte| byte.is_ascii_lowercase())
            || value.as_bytes().windows(2).all(|pair| pair[0] == pair[1]);
        (is_secret && !is_word && value.len() >= MIN_LENGTH).then(|| Self { name, value: value.to_owned() })
    }
}

pub fn from_request(request: &request::Parts, body: &Bytes) -> Vec<Secret> {
    [from_headers(&request.headers), from_url(&request.uri), from_body(&request.headers, body)].concat()
}

pub fn from_answer(answer: &response::Parts, body: &Bytes) -> Vec<Secret> {
    [from_headers(&answer.headers), from_body(&answer.headers, body)].concat()
}

/// The codes in the links of an email, and the typed parts of the codes if the text contains them.
pub(crate) fn from_text(text: &str) -> Vec<Secret> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "\"'<>()[]".contains(c)).collect();
    let links = words.iter().filter(|word| word.starts_with("http"));
    let of_links: Vec<Secret> = links.filter_map(|word| word.replace("&amp;", "&").parse().ok()).flat_map(|url| from_url(&url)).collect();
    let codes = of_links.iter().filter_map(|secret| Code::parse(&secret.value).ok());
    let typed = codes.map(|code| code.typed()).filter(|typed| words.contains(&typed.as_str()));
    let typed: Vec<Secret> = typed.filter_map(|typed| Secret::of("otp", &typed)).collect();
    [of_links, typed].concat()
}

fn from_headers(headers: &HeaderMap) -> Vec<Secret> {
    let texts = headers.iter().filter_map(|(name, value)| Some((name, value.to_str().ok()?)));
    let found = texts.flat_map(|(name, value)| {
        if name == LOCATION {
            return value.parse().map(|url| from_url(&url)).unwrap_or_default();
        }
        if name == COOKIE {
            return value.split(';').filter_map(|cookie| cookie.split_once('=')).flat_map(from_cookie).collect();
        }
        if name == SET_COOKIE {
            return value.split(';').take(1).filter_map(|cookie| cookie.split_once('=')).flat_map(from_cookie).collect();
        }
        if name == AUTHORIZATION {
            return value.split_once(' ').and_then(|(_, value)| Secret::of("authorization", value)).into_iter().collect();
        }
        Secret::of(name.as_str(), value).into_iter().collect()
    });
    found.collect()
}

/// The name of a cookie can also be secret. The name of a provider flow's cookie contains the
/// state.
fn from_cookie((name, value): (&str, &str)) -> Vec<Secret> {
    [name, value].into_iter().filter_map(|text| Secret::of("cookie", text.trim())).collect()
}

fn from_url(url: &Uri) -> Vec<Secret> {
    from_pairs(url.query().unwrap_or_default().as_bytes())
}

fn from_pairs(text: &[u8]) -> Vec<Secret> {
    url::form_urlencoded::parse(text).filter_map(|(name, value)| Secret::of(&name, &value)).collect()
}

fn from_body(headers: &HeaderMap, body: &Bytes) -> Vec<Secret> {
    if headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded")) {
        return from_pairs(body);
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        collect_from_value("", &value, &mut found);
    }
    found
}

fn collect_from_value(name: &str, value: &Value, found: &mut Vec<Secret>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect_from_value(name, value, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect_from_value(name, value, found);
            }
        }
        Value::String(text) => match text.parse::<Uri>() {
            // The text may be a URL with a query string.
            Ok(url) if url.query().is_some() => found.extend(from_url(&url)),
            _ => found.extend(Secret::of(name, text)),
        },
        _ => {}
    }
}
