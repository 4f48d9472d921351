//! The cookies of the pages, each for one project. A cookie is sent only to the host that set it
//! and only over TLS, and scripts cannot read it (`__Host-`, RFC 6265bis §4.1.3.2). In development,
//! without TLS, the cookies have neither the prefix nor `Secure`, because some browsers would
//! refuse such cookies.

use http::{HeaderMap, header};
use jiff::SignedDuration;
use wire::id::ProjectId;

/// A cookie of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// The refresh token of the visitor's session.
    Session,
    /// A random text to which the form tokens are bound.
    Browser,
    /// The token of a remembered device, which replaces the second factor.
    Device,
    /// The method of the last sign-in.
    Way,
    /// The text that the account's page shows after a change.
    Done,
}

impl Cookie {
    const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Browser => "browser",
            Self::Device => "device",
            Self::Way => "way",
            Self::Done => "done",
        }
    }
}

/// Reads the cookies in a request for a project's pages, and writes new cookies.
#[derive(Debug)]
pub(crate) struct Cookies {
    sent: Vec<(String, String)>,
    project: ProjectId,
    is_secure: bool,
}

impl Cookies {
    pub(crate) fn read(headers: &HeaderMap, project: &ProjectId, is_secure: bool) -> Self {
        let texts = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        Self { sent: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), project: project.clone(), is_secure }
    }

    /// The value of a cookie, unless it is empty.
    pub(crate) fn get(&self, cookie: Cookie) -> Option<&str> {
        self.find(&self.name(cookie.name()))
    }

    /// The value of the cookie for a flow that redirects to another site and returns. The state of
    /// the flow identifies the cookie.
    pub(crate) fn flow(&self, state: &str) -> Option<&str> {
        self.find(&self.name(&flow_name(state)))
    }

    /// Sets a cookie with the lifetime `life`. Without a lifetime, the cookie lasts until the
    /// browser is closed.
    pub(crate) fn set(&self, cookie: Cookie, value: &str, life: Option<SignedDuration>) -> String {
        self.written(cookie.name(), value, life)
    }

    /// Removes the oldest flows, so that at most three flows remain, including a new flow. Any site
    /// can make a browser begin flows, and the flows' cookies must not make requests too large.
    pub(crate) fn drop_flows(&self) -> Vec<String> {
        let start = self.name("flow-").replace(&format!("-{}", self.project), "");
        let sent = self.sent.iter().map(|(name, _)| name).filter(|name| name.starts_with(&start) && name.ends_with(self.project.as_str()));
        let names: Vec<&str> = sent.filter_map(|name| name.strip_prefix(&start)?.split('-').next()).collect();
        let surplus = names.len().saturating_sub(2);
        names.iter().take(surplus).map(|state| self.set_flow(state, "", SignedDuration::ZERO)).collect()
    }

    pub(crate) fn set_flow(&self, state: &str, value: &str, life: SignedDuration) -> String {
        self.written(&flow_name(state), value, Some(life))
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.sent.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn name(&self, name: &str) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        format!("{prefix}gatelet-{name}-{}", self.project)
    }

    fn written(&self, name: &str, value: &str, life: Option<SignedDuration>) -> String {
        let (name, secure) = (self.name(name), if self.is_secure { "; Secure" } else { "" });
        let life = life.map(|life| format!("; Max-Age={}", life.as_secs())).unwrap_or_default();
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{life}")
    }
}

/// A state is a secret of the flow, so the name of the flow's cookie contains only the beginning of
/// the state.
fn flow_name(state: &str) -> String {
    format!("flow-{}", state.chars().take(8).filter(char::is_ascii_alphanumeric).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn cookies(sent: &'static str, is_secure: bool) -> Cookies {
        let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(sent))]);
        Cookies::read(&headers, &ProjectId::internal(), is_secure)
    }

    #[test]
    fn a_cookie_belongs_to_one_project_and_one_host() {
        let secure = cookies("a=b; __Host-gatelet-session-internal=token; gatelet-browser-internal=x", true);
        assert_eq!((secure.get(Cookie::Session), secure.get(Cookie::Browser)), (Some("token"), None));
        assert_eq!(cookies("gatelet-session-internal=token", false).get(Cookie::Session), Some("token"));
        assert_eq!(cookies("gatelet-session-other=token; gatelet-session-internal=", false).get(Cookie::Session), None);
        let set = secure.set(Cookie::Session, "token", Some(SignedDuration::from_secs(60)));
        assert_eq!(set, "__Host-gatelet-session-internal=token; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60");
        assert_eq!(cookies("", false).set(Cookie::Way, "otp", None), "gatelet-way-internal=otp; Path=/; HttpOnly; SameSite=Lax");
    }
}
