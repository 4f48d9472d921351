//! Redirects to native apps by the URI schemes of the apps (RFC 8252 §7.1). Any app on a device can
//! register any scheme. A scheme is therefore trusted only if the project lists it as a domain, and
//! only in OAuth flows, where a code is useless without its PKCE verifier.

use url::Url;

/// The scheme of native apps that use the published SDK.
const SDK_SCHEME: &str = "stack-auth-mobile-oauth-url";

/// Whether a scheme can belong to a native app. The scheme must contain a dot, like a domain name
/// in reverse order (RFC 8252 §8.4), or be the scheme of the published SDK. This excludes
/// `javascript` and all other schemes that browsers interpret.
pub(super) fn is_scheme(scheme: &str) -> bool {
    scheme.contains('.') || scheme == SDK_SCHEME
}

/// Parses an entry of the trusted domains, such as `com.example.app:/callback`; `None` if the entry
/// is not a redirect to a native app. An entry without a host and a path, such as
/// `com.example.app://`, matches every URL of the scheme.
pub(super) fn parse(entry: &str) -> Option<Url> {
    let (scheme, rest) = entry.split_once(':')?;
    let is_plain = (rest.is_empty() || rest.starts_with('/')) && !rest.contains(['*', '?', '#', '@', '\\', ' ']);
    let is_native = is_scheme(scheme) && !scheme.contains(|letter: char| letter.is_ascii_uppercase());
    Url::parse(entry).ok().filter(|_| is_plain && is_native)
}

/// Whether an entry of the trusted domains matches this URL; the query and the fragment of the URL
/// are ignored.
pub(super) fn matches(entry: &str, url: &Url) -> bool {
    let Some(entry) = parse(entry) else { return false };
    let place = |url: &Url| (url.host_str().unwrap_or_default().to_owned(), url.port(), url.path().trim_end_matches('/').to_owned());
    let any = (String::new(), None, String::new());
    let has_login = !url.username().is_empty() || url.password().is_some();
    entry.scheme() == url.scheme() && !has_login && (place(&entry) == any || place(&entry) == place(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(entry: &str, url: &str) -> bool {
        matches(entry, &Url::parse(url).expect("a URL"))
    }

    #[test]
    fn a_native_app_is_trusted_by_its_scheme_and_path() {
        let entry = "com.example.app:/cb";
        for url in ["com.example.app:/cb", "com.example.app:/cb?x=1#y", "com.example.app:/cb/", "COM.example.app:/cb"] {
            assert!(trusts(entry, url), "{url}");
        }
        for url in [
            "com.example.app:/cb2",
            "com.example.app://cb",
            "com.example.app2:/cb",
            "com.example.app:cb",
            "com.example.app:/",
            "com.example.app://u@auth/cb",
        ] {
            assert!(!trusts(entry, url), "{url}");
        }
        assert!(trusts("com.example.app://auth/cb", "com.example.app://auth/cb?x=1"));
        assert!(!trusts("com.example.app://auth/cb", "com.example.app://other/cb"));
    }

    #[test]
    fn a_scheme_alone_trusts_all_of_its_urls() {
        for entry in ["com.example.app:", "com.example.app:/", "com.example.app://"] {
            assert!(["com.example.app:/cb", "com.example.app://a/b", "com.example.app:cb"].iter().all(|url| trusts(entry, url)), "{entry}");
            assert!(!trusts(entry, "com.example.other:/cb"), "{entry}");
        }
        assert!(trusts("stack-auth-mobile-oauth-url://", "stack-auth-mobile-oauth-url://success"));
    }

    #[test]
    fn an_entry_has_a_scheme_of_an_app_and_no_wildcards() {
        for entry in ["com.example.app:/cb", "com.example.app://", "stack-auth-mobile-oauth-url://", "com.example.app://auth/cb"] {
            assert!(parse(entry).is_some(), "{entry}");
        }
        for entry in [
            "javascript:/x",
            "javascript://",
            "data:/x",
            "intent://x",
            "file:///x",
            "myapp://cb",
            "https://app.example.com",
            "com.example.app:cb",
            "com.example.*:/cb",
            "com.example.app:/*",
            "com.example.app:/cb?x=1",
            "com.example.app:/cb#x",
            "com.example.app://u@cb",
            "COM.example.app:/cb",
            "com.example.app",
            ".:/cb",
            "",
        ] {
            assert!(parse(entry).is_none(), "{entry}");
        }
    }
}
