//! `--trusted-proxy`: the proxies whose `X-Forwarded-For` determines the client's address.
//!
//! Anyone can send this header, and each proxy appends the address of its peer. The header is
//! therefore read from the right: the first address that is not a trusted proxy's is the client's.
//! Anything to the left of that address may be made up by the client.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use http::HeaderMap;
use ipnet::IpNet;

/// The networks of the trusted proxies; empty by default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies(Arc<[Network]>);

/// A network in CIDR notation, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network(IpNet);

impl Proxies {
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self(networks.into())
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.0.contains(&address))
    }

    /// The client's address: the address of the peer or, if the peer is trusted, the address that
    /// it reports.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        // Several headers with this name are one list (RFC 9110 §5.3).
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        // The bytes from the client can have any encoding, but the entry of a proxy is ASCII.
        let mut hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
        while self.contains(client) {
            // Trusted proxies do not write invalid addresses, so the search ends at an invalid
            // address.
            let Some(hop) = hops.next().and_then(address) else { break };
            client = hop;
        }
        client
    }
}

/// Parses an address as proxies write it, with or without a port.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().or_else(|_| text.parse().map(|address: SocketAddr| address.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || "expected a network or an address: 10.0.0.0/8, 192.0.2.7, 2001:db8::/32".to_owned();
        let network: IpNet = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).map_err(|_| invalid())?;
        if network.prefix_len() == 0 {
            return Err(
                "this network contains every address, so any client could forge its address: name only the networks of your proxies"
                    .to_owned(),
            );
        }
        // Peers are compared in their canonical form.
        let IpAddr::V4(address) = network.addr().to_canonical() else { return Ok(Self(network)) };
        let prefix = if network.addr().is_ipv6() { network.prefix_len().checked_sub(96) } else { Some(network.prefix_len()) };
        let prefix = prefix.filter(|prefix| *prefix > 0).ok_or_else(invalid)?;
        IpNet::new(address.into(), prefix).map(Self).map_err(|_| invalid())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn client(peer: &str, lines: &[&'static str]) -> String {
        let networks = ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"].map(|text| text.parse().unwrap());
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        Proxies::new(&networks).client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_rightmost_untrusted_hop_is_the_client() {
        assert_eq!(client("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        // Entries that the client has sent precede the entries of proxies.
        assert_eq!(client("10.0.0.1", &["203.0.113.9, 198.51.100.1, 10.9.9.9"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9", "198.51.100.1, 192.0.2.7"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.0.0.1", &["::ffff:198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("2001:db8::1", &["[2001:db9::1]:4711"]), "2001:db9::1");
        assert_eq!(client("10.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
    }

    #[test]
    fn only_trusted_peers_are_believed_and_an_invalid_address_ends_the_search() {
        assert_eq!(client("198.51.100.1", &["203.0.113.9"]), "198.51.100.1");
        assert_eq!(client("192.0.2.8", &["203.0.113.9"]), "192.0.2.8");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, unknown"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, \u{fc}"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["\u{fc}, 198.51.100.1"]), "198.51.100.1", "what the client sent hides nothing");
        // All addresses are those of trusted proxies, so use the farthest one.
        assert_eq!(client("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(Proxies::default().client("127.0.0.1".parse().unwrap(), &HeaderMap::new()).to_string(), "127.0.0.1");
    }

    #[test]
    fn a_network_is_written_as_cidr() {
        let contains = |network: &str, address: &str| network.parse::<Network>().unwrap().0.contains(&address.parse::<IpAddr>().unwrap());
        assert!(contains("10.1.2.3/8", "10.255.0.0") && !contains("10.0.0.0/8", "11.0.0.0"));
        assert!(contains("192.0.2.7", "192.0.2.7") && !contains("192.0.2.7/32", "192.0.2.6"));
        assert!(contains("2001:db8::/33", "2001:db8:7fff::1") && !contains("2001:db8::/33", "2001:db8:8000::1"));
        assert!(contains("::ffff:10.0.0.0/104", "10.1.1.1") && !contains("10.0.0.0/8", "::a00:1"));
        for wrong in ["", "nowhere", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "10.0.0/8", "::/129", "::ffff:10.0.0.0/8", "/8"] {
            assert!(wrong.parse::<Network>().unwrap_err().contains("10.0.0.0/8"), "{wrong}");
        }
        for everything in ["0.0.0.0/0", "::/0", "10.0.0.0/0"] {
            assert!(everything.parse::<Network>().unwrap_err().contains("every address"), "{everything}");
        }
    }
}
