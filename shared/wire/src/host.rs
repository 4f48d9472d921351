//! Whether a URL refers to the machine that it is used on.

use url::{Host, Url};

/// Whether the host is `localhost` or a loopback address (127.0.0.0/8 or `[::1]`), whatever the
/// scheme and port. Names below `localhost` do not count: browsers resolve them to this machine,
/// but other programs ask DNS, so credentials must not be sent to such names.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether a browser would look for the host on the browser's machine: [`is_loopback`], or a name
/// below `localhost` (RFC 6761 §6.3).
pub fn is_localhost(url: &Url) -> bool {
    is_loopback(url) || matches!(url.host(), Some(Host::Domain(name)) if name.ends_with(".localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_localhost_are_on_the_machine_of_browsers_only() {
        for (text, loopback, localhost) in [
            ("http://localhost:3000", true, true),
            ("https://127.255.0.1/x", true, true),
            ("http://[::1]", true, true),
            ("http://app.localhost", false, true),
            ("http://localhost.example.com", false, false),
            ("http://mylocalhost", false, false),
            ("http://128.0.0.1", false, false),
            ("http://[::2]", false, false),
            ("mailto:localhost", false, false),
        ] {
            let url = Url::parse(text).expect("is a URL");
            assert_eq!((is_loopback(&url), is_localhost(&url)), (loopback, localhost), "{text}");
        }
    }
}
