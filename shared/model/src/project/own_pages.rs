//! The URLs of the service's pages for users: sign-in, account and all other pages that an app can
//! use instead of building its own.
//!
//! The pages are at `/handler/` of the API, with the project in the query. If the deployment has a
//! domain for the pages, each project also has its own host at that domain (`{project}.{domain}`).
//! Browsers then keep the cookies and passkeys of projects apart. A project does not have to list
//! either host among its trusted domains.

use url::Url;
use wire::id::ProjectId;

/// The path of the pages.
pub const PATH: &str = "/handler";

/// The URL of the API is invalid, or the domain is not a domain name in lower case with an optional
/// port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a domain name in lower case, optionally with a port")]
pub struct DomainRefusal;

/// The locations of the pages of all projects.
#[derive(Debug, Clone)]
pub struct OwnPages {
    api: Url,
    /// The domain below which every project has a host, including the port if it is not the
    /// scheme's default.
    domain: Option<String>,
}

impl OwnPages {
    /// The pages of a deployment whose API has this URL. `domain` may end with a port. If `domain`
    /// is absent and the API is at `localhost`, the API's host is used, because browsers resolve
    /// every name below `localhost` to the machine itself (RFC 6761 §6.3).
    pub fn new(api_url: &str, domain: Option<&str>) -> Result<Self, DomainRefusal> {
        let api = Url::parse(api_url).map_err(|_| DomainRefusal)?;
        let domain = match domain {
            Some(domain) => Some(checked(api.scheme(), domain)?),
            None => (api.host_str() == Some("localhost")).then(|| api.authority().to_owned()),
        };
        Ok(Self { api, domain })
    }

    /// The origin of a project's pages: the origin of the project's host or, without one, of the
    /// API.
    pub fn origin(&self, project: &ProjectId) -> String {
        self.host_origin(project).unwrap_or_else(|| self.api())
    }

    /// The URL of a project's page.
    pub fn page(&self, project: &ProjectId, name: &str) -> Url {
        let mut url = self.api.clone();
        let named = match self.host_origin(project).and_then(|origin| Url::parse(&origin).ok()) {
            Some(own) => {
                url = own;
                None
            }
            None => Some(format!("project_id={project}")),
        };
        url.set_path(&format!("{PATH}/{name}"));
        url.set_query(named.as_deref());
        url
    }

    /// The origin of the API.
    pub fn api(&self) -> String {
        self.api.origin().ascii_serialization()
    }

    /// The origin of a project's host, if the deployment has a domain for pages.
    pub fn host_origin(&self, project: &ProjectId) -> Option<String> {
        self.domain.as_ref().map(|domain| format!("{}://{project}.{domain}", self.api.scheme()))
    }

    /// The project whose host is `host` (the value of the header `Host`).
    pub fn project_of(&self, host: &str) -> Option<ProjectId> {
        let host = host.to_ascii_lowercase();
        let label = host.strip_suffix(self.domain.as_deref()?)?.strip_suffix('.')?;
        ProjectId::parse(label).ok()
    }

    /// Whether `origin` is an origin of a project's pages, on either host.
    pub(crate) fn is_origin(&self, project: &ProjectId, origin: &str) -> bool {
        origin == self.api() || self.host_origin(project).is_some_and(|own| own == origin)
    }

    /// Whether `url` is the URL of a page of the project. On the API's host, the pages of all
    /// projects have the same paths, and the administrators of a project can see what its users
    /// send. The query must therefore specify this project and no other.
    pub fn has(&self, project: &ProjectId, url: &Url) -> bool {
        let is_page = url.path().strip_prefix(PATH).is_some_and(|rest| rest.starts_with('/'));
        let origin = url.origin().ascii_serialization();
        if !is_page || self.host_origin(project).is_some_and(|own| own == origin) {
            return is_page;
        }
        let named = url.query_pairs().filter(|(name, _)| name == "project_id" || name == "project");
        let named: Vec<_> = named.map(|(_, value)| ProjectId::parse(&value).is_ok_and(|named| named == *project)).collect();
        origin == self.api() && named == [true]
    }

    /// Whether this host has pages of a project.
    pub(crate) fn has_host(&self, project: &ProjectId, name: &str) -> bool {
        let is_of = |origin: &str| Url::parse(origin).is_ok_and(|url| url.host_str() == Some(name));
        self.api.host_str() == Some(name) || self.host_origin(project).is_some_and(|own| is_of(&own))
    }
}

/// The domain, normalized like the host and port of an origin.
fn checked(scheme: &str, domain: &str) -> Result<String, DomainRefusal> {
    let origin = format!("{scheme}://{domain}");
    let url = Url::parse(&origin).map_err(|_| DomainRefusal)?;
    let is_plain = domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte));
    let is_domain = is_plain && url.domain().is_some() && url.origin().ascii_serialization() == origin;
    if is_domain { Ok(domain.to_owned()) } else { Err(DomainRefusal) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    fn project() -> ProjectId {
        ProjectId::parse(PROJECT).expect("an id")
    }

    fn has(pages: &OwnPages, url: &str) -> bool {
        pages.has(&project(), &Url::parse(url).expect("a URL"))
    }

    #[test]
    fn a_project_has_pages_below_the_api_and_on_its_own_host() {
        let pages = OwnPages::new("https://api.example.com", Some("sign-in.example.com")).expect("pages");
        assert_eq!(pages.origin(&project()), format!("https://{PROJECT}.sign-in.example.com"));
        let named = format!("project_id={PROJECT}");
        assert!(has(&pages, &format!("https://api.example.com/handler/sign-in?{named}&a=b")));
        assert!(has(&pages, &format!("https://{PROJECT}.sign-in.example.com/handler/oauth-callback")));
        let other = PROJECT.replace('8', "9");
        for url in [
            "https://api.example.com/api/v1/auth/oauth/callback/github".to_owned(),
            format!("https://api.example.com/handlers?{named}"),
            "https://api.example.com/handler/sign-in".to_owned(),
            format!("https://api.example.com/handler/sign-in?project_id={}", PROJECT.replace('8', "9")),
            format!("https://api.example.com/handler/sign-in?{named}&{named}"),
            format!("https://api.example.com/handler/sign-in?{named}&project=internal"),
            format!("https://api.example.com/handler/sign-in?project%5Fid=internal&{named}"),
            format!("https://api.example.com/handler/sign-in#{named}"),
            format!("http://api.example.com/handler/sign-in?{named}"),
            format!("https://api.example.com:8443/handler/sign-in?{named}"),
            "https://sign-in.example.com/handler/sign-in".to_owned(),
            format!("https://{other}.sign-in.example.com/handler/sign-in"),
            format!("https://{PROJECT}.sign-in.example.com.evil.test/handler/sign-in"),
        ] {
            assert!(!has(&pages, &url), "{url}");
        }
        assert!(pages.has_host(&project(), "api.example.com") && !pages.has_host(&project(), "sign-in.example.com"));
    }

    #[test]
    fn a_host_names_its_project() {
        let pages = OwnPages::new("http://localhost:8787", None).expect("pages");
        assert_eq!(pages.project_of(&format!("{PROJECT}.localhost:8787")), Some(project()));
        assert_eq!(pages.project_of(&format!("{}.LOCALHOST:8787", PROJECT.to_uppercase())), Some(project()));
        assert_eq!(pages.project_of("internal.localhost:8787"), Some(ProjectId::internal()));
        for host in [
            "localhost:8787",
            ".localhost:8787",
            "a.localhost:8787",
            &format!("{PROJECT}.localhost"),
            &format!("x{PROJECT}.localhost:8787"),
        ] {
            assert_eq!(pages.project_of(host), None, "{host}");
        }
        assert_eq!(OwnPages::new("https://api.example.com", None).expect("pages").project_of("internal.api.example.com"), None);
    }

    #[test]
    fn a_domain_is_a_name_perhaps_with_a_port() {
        for domain in ["", "127.0.0.1", "a/b", "a@b", "Sign-In.example.com", "example.com:443", "*.example.com", "a b"] {
            assert!(OwnPages::new("https://api.example.com", Some(domain)).is_err(), "{domain}");
        }
        assert!(OwnPages::new("https://api.example.com", Some("example.com:8443")).is_ok());
    }
}
