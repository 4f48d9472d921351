//! Loopback names and addresses.

/// Whether the value of a `Host` header is a loopback name or address.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit())).map_or(host, |(name, _)| name);
    let name = name.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_are_recognized() {
        for host in ["localhost", "localhost:8787", "127.0.0.1:8787", "[::1]:8787"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["evil.test", "evil.test:8787", "localhost.evil.test", "10.0.0.1", ""] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
