//! Protects the console, the inbox with its JSON interface, and the outbox, because they show keys
//! and sign-in links. A request for one of these pages must
//!
//! - come over a loopback connection, unless the operator allows others (`--remote-pages`), and not
//!   through a proxy (`Forwarded`, `X-Forwarded-*`, `Via`, `X-Real-IP`, HTTP/1.0);
//! - name a loopback host in `Host`, because a web page whose foreign name resolves to this machine
//!   sends that name (DNS rebinding);
//! - come from a page of this gateway, a person who opened the URL, or a program, but not from a
//!   page of another site;
//! - contain the page key, because a proxy may not identify itself; see [`crate::page_key`].
//!
//! Browsers report the origin of a request in `Sec-Fetch-Site`: `same-origin` means a page of this
//! gateway, and `none` means a person who opened the URL. `same-site` is also rejected, because
//! another port of this machine belongs to another app. A request without `Sec-Fetch-Site` is
//! assumed to come from a program (a test, `curl`), unless it contains `Origin`, `Referer` or a
//! browser's `User-Agent`: it then comes from an old browser and is rejected. Programs send the key
//! itself, because the cookie is accepted only from browsers. Responses contain no CORS headers.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, StatusCode, Version, header};
use infra::pages::Link;

use super::answer;
use super::request::{CONSOLE, path_with, wants_html};
use super::state::Pages;
use crate::loopback::is_loopback_host;
use crate::page_key::{self, PageKey};

const SITE: &str = "sec-fetch-site";

/// The reason why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    OtherMachine,
    PassedOn,
    OtherSite,
    NoKey,
}

impl Refusal {
    fn title(self) -> &'static str {
        match self {
            Self::NoKey => "Open this page with its link",
            _ => "Not available here",
        }
    }

    /// Explains to people why their request is rejected.
    fn text(self) -> &'static str {
        match self {
            Self::OtherMachine => "This page is only available on the machine that the gateway runs on, at localhost.",
            Self::PassedOn => "This page contains keys and emails, so it is not available through a proxy.",
            Self::OtherSite => {
                "Another site or app linked here, or the browser does not say which page did. Pages that show keys and emails open only \
                 from this gateway."
            }
            Self::NoKey => {
                "This page shows keys and emails, so each browser must first open it with a link that contains a key. The gateway prints \
                 the link when it starts (“Start page”), and the command “gateway pages” prints it again."
            }
        }
    }

    fn text_for_programs(self) -> &'static str {
        match self {
            Self::NoKey => {
                "The page key is required, in the header \"authorization: Bearer KEY\". It is GATELET_PAGE_KEY in keys.env in the \
                 gateway's data folder; a gateway in memory prints it in the link to its start page."
            }
            other => other.text(),
        }
    }
}

/// Passes on requests that may access the private pages, and responds to all others.
pub(super) async fn holders_of_the_key(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    match answer_instead(&pages, &request) {
        None => next.run(request).await,
        Some(answer) => answer,
    }
}

/// The response to a request that may not access the page, or whose URL contains a key that must
/// first be exchanged for a cookie. `None` if the request may access the page.
pub(super) fn answer_instead(pages: &Pages, request: &Request) -> Option<Response> {
    let Some(private) = &pages.private else { return Some(StatusCode::NOT_FOUND.into_response()) };
    if let Err(refusal) = check(request, private.is_remote) {
        return Some(refused(pages, refusal, request));
    }
    let (key, headers, host) = (&private.page_key, request.headers(), text(request.headers(), "host").unwrap_or_default());
    let is_browser = headers.contains_key(SITE);
    if let Some(exchanged) = is_browser.then(|| exchange(key, request, host)).flatten() {
        return Some(exchanged);
    }
    let has_key = key.is_in_header(headers) || is_browser && key.is_in_cookie(headers, host);
    (!has_key).then(|| refused(pages, Refusal::NoKey, request))
}

/// If the URL contains the key, sets the cookie and redirects the browser to the URL without the
/// key. The redirect keeps the key out of the address bar and `Referer`. The console gets its token
/// in the fragment, which browsers do not send to servers, and removes the token from the address
/// bar.
fn exchange(key: &PageKey, request: &Request, host: &str) -> Option<Response> {
    let query = request.uri().query().filter(|_| request.method() == Method::GET)?;
    let (given, rest): (Vec<_>, Vec<_>) = url::form_urlencoded::parse(query.as_bytes()).partition(|(name, _)| name == page_key::PARAMETER);
    if !given.iter().any(|(_, value)| key.is(value)) {
        return None;
    }
    let rest: Vec<(&str, &str)> = rest.iter().map(|(name, value)| (&**name, &**value)).collect();
    let path = request.uri().path();
    let is_console = path == "/" || path == CONSOLE;
    let to = if is_console { format!("{}#{}", CONSOLE, key.console_token(host).as_str()) } else { path_with(path, &rest) };
    let mut response = answer::see(&to);
    response.headers_mut().insert(header::SET_COOKIE, key.set_cookie(host)?);
    Some(response)
}

fn refused(pages: &Pages, refusal: Refusal, request: &Request) -> Response {
    if !wants_html(request.headers()) {
        return (StatusCode::FORBIDDEN, format!("{}\n", refusal.text_for_programs())).into_response();
    }
    // After following a link on another site, a person can continue by clicking a link on the page
    // of the refusal, which other sites cannot click for that person.
    let is_link = refusal == Refusal::OtherSite && request.method() == Method::GET;
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let links = if is_link { vec![Link::new("Open the page", path)] } else { vec![Link::new("Documents", "/docs")] };
    pages.message(StatusCode::FORBIDDEN, refusal.title(), refusal.text(), &links)
}

fn check(request: &Request, is_remote: bool) -> Result<(), Refusal> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    if !is_remote && !peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback()) {
        return Err(Refusal::OtherMachine);
    }
    // Current browsers and HTTP clients do not use HTTP/1.0, but nginx uses it as a proxy. By
    // default, nginx also sets `Host` to this machine, and does not add a header that identifies it
    // as a proxy.
    if request.version() < Version::HTTP_11 {
        return Err(Refusal::PassedOn);
    }
    check_headers(request.headers())
}

fn check_headers(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = text(headers, "host").filter(|host| is_loopback_host(host)).ok_or(Refusal::OtherMachine)?;
    let is_passed_on =
        headers.keys().any(|name| matches!(name.as_str(), "forwarded" | "via" | "x-real-ip") || name.as_str().starts_with("x-forwarded-"));
    if is_passed_on {
        return Err(Refusal::PassedOn);
    }
    let is_own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host));
    if headers.contains_key(header::ORIGIN) && !text(headers, "origin").is_some_and(is_own_origin) {
        return Err(Refusal::OtherSite);
    }
    let is_allowed = match headers.get(SITE) {
        Some(site) => site == "same-origin" || site == "none",
        None => is_program(headers),
    };
    if is_allowed { Ok(()) } else { Err(Refusal::OtherSite) }
}

/// Whether the request comes from a program. Every browser calls itself Mozilla in `User-Agent`.
fn is_program(headers: &HeaderMap) -> bool {
    let is_browser = text(headers, "user-agent").is_some_and(|agent| agent.starts_with("Mozilla/"));
    !is_browser && !headers.contains_key(header::ORIGIN) && !headers.contains_key(header::REFERER)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn checked(headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        check_headers(&headers.collect())
    }

    #[test]
    fn people_programs_and_own_pages_are_admitted() {
        let host = ("host", "localhost:8787");
        let browser = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
        assert_eq!(checked(&[host]), Ok(()));
        assert_eq!(checked(&[host, ("user-agent", "curl/8.5.0")]), Ok(()));
        // Headers that `fetch` of Node.js sends.
        assert_eq!(checked(&[host, ("user-agent", "node"), ("sec-fetch-mode", "cors"), ("accept-language", "*")]), Ok(()));
        assert_eq!(checked(&[host, browser, ("sec-fetch-site", "none")]), Ok(()));
        let own = [host, browser, ("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8787")];
        assert_eq!(checked(&own), Ok(()));
    }

    #[test]
    fn other_hosts_proxies_sites_and_old_browsers_are_rejected() {
        let host = ("host", "localhost:8787");
        assert_eq!(checked(&[]), Err(Refusal::OtherMachine));
        assert_eq!(checked(&[("host", "evil.test")]), Err(Refusal::OtherMachine));
        for header in [
            ("forwarded", "for=1.2.3.4"),
            ("x-forwarded-for", "1.2.3.4"),
            ("x-forwarded-host", "x"),
            ("via", "1.1 x"),
            ("x-real-ip", "1.2.3.4"),
        ] {
            assert_eq!(checked(&[host, header]), Err(Refusal::PassedOn), "{header:?}");
        }
        for header in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "http://localhost:3000"),
            ("origin", "https://localhost:8787"),
            ("origin", "null"),
            ("referer", "http://evil.test/"),
            ("user-agent", "Mozilla/5.0 (Windows NT 6.1)"),
        ] {
            assert_eq!(checked(&[host, header]), Err(Refusal::OtherSite), "{header:?}");
        }
        let lying = [host, ("sec-fetch-site", "same-origin"), ("origin", "http://evil.test")];
        assert_eq!(checked(&lying), Err(Refusal::OtherSite));
    }

    #[test]
    fn a_remote_connection_is_rejected_unless_the_operator_allows_it() {
        let asked = |peer: &str, version: Version, is_remote| {
            let mut request = Request::builder().header("host", "localhost:8787").version(version).body(axum::body::Body::empty()).unwrap();
            request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer.parse().unwrap()));
            check(&request, is_remote)
        };
        for peer in ["127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(asked(peer, Version::HTTP_11, false), Ok(()), "{peer}");
        }
        for peer in ["172.17.0.1:1", "[2001:db8::1]:1"] {
            assert_eq!(asked(peer, Version::HTTP_11, false), Err(Refusal::OtherMachine), "{peer}");
            assert_eq!(asked(peer, Version::HTTP_11, true), Ok(()), "{peer}");
            assert_eq!(asked(peer, Version::HTTP_10, true), Err(Refusal::PassedOn), "{peer}");
        }
    }
}
