//! Which web pages may call the endpoints for agents. The check protects a gateway on a developer's
//! machine against pages of other sites, including those whose name resolves to that machine (DNS
//! rebinding).

use http::{HeaderMap, HeaderValue, header};
use settings::Settings;
use url::Url;
use wire::host::is_loopback;

/// Whether a request comes from a web page that may call the endpoint, or from outside a web page.
///
/// On a developer's machine, its own pages may call the endpoint, and the header `Host` must name
/// the machine. In a deployment, only pages of the site and of the API may call the endpoint.
pub fn is_allowed(headers: &HeaderMap, settings: &Settings) -> bool {
    // A header may be repeated; every value counts.
    let values = |name| headers.get_all(name).iter().map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let site = Url::parse(&settings.site_url).ok();
    if site.as_ref().is_some_and(is_loopback) {
        let hosts = values(header::HOST).map(|host| Url::parse(&format!("http://{host}")));
        return hosts.chain(values(header::ORIGIN).map(Url::parse)).all(|url| url.is_ok_and(|url| is_loopback(&url)));
    }
    let own = [site, Url::parse(&settings.api_url).ok()].map(|url| url.map(|url| url.origin().ascii_serialization()));
    values(header::ORIGIN).all(|origin| own.iter().any(|own| own.as_deref() == Some(origin)))
}
