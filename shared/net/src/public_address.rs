//! The IP addresses allowed for calls on behalf of a project (SSRF, CWE-918). The project's
//! administrators choose hosts, so the target of a connection is untrusted. Addresses are checked
//! after the name is resolved, and connections go only to checked addresses. Checking only the name
//! would not prevent DNS rebinding.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// None of a host's IP addresses is public. The message is for the log.
#[derive(Debug, thiserror::Error)]
#[error("{0} has no public address; GATELET_ALLOW_PRIVATE_ISSUERS=1 allows private ones")]
pub struct NotPublic(pub String);

/// The rule for allowed addresses.
pub(crate) fn rule(allow_private: bool) -> fn(IpAddr) -> bool {
    if allow_private { |_| true } else { is_public }
}

/// The allowed addresses among those found for a host; fails if there are none.
pub(crate) fn among(
    host: &str,
    found: impl Iterator<Item = SocketAddr>,
    may_call: fn(IpAddr) -> bool,
) -> Result<Vec<SocketAddr>, NotPublic> {
    let fit: Vec<SocketAddr> = found.filter(|address| may_call(address.ip())).collect();
    if fit.is_empty() { Err(NotPublic(host.to_owned())) } else { Ok(fit) }
}

/// Whether an IP address belongs to the public internet (RFC 6890, special-purpose address
/// registries).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                // 6to4 relays, which are no longer used (RFC 7526).
                || (a == 192 && b == 88 && c == 99)
                || (a == 198 && (18..20).contains(&b)))
        }
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public(IpAddr::V4(inner)),
            // Global unicast is 2000::/3; 2001:db8::/32 (RFC 3849) and 3fff::/20 (RFC 9637) are for
            // documentation, 2001::/23 for protocols.
            None => {
                let [first, second, ..] = address.segments();
                let is_special = match first {
                    0x2001 => second < 0x200 || second == 0xdb8,
                    0x3fff => second < 0x1000,
                    _ => false,
                };
                first & 0xe000 == 0x2000 && !is_special
            }
        },
    }
}

/// The IPv4 address in an IPv6 address: mapped (`::ffff:0:0/96`), translated (`64:ff9b::/96`), 6to4
/// (`2002::/16`).
fn embedded(address: Ipv6Addr) -> Option<std::net::Ipv4Addr> {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| std::net::Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_addresses_are_not_public() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.0.8",
            "198.18.0.1",
            "192.88.99.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "3fff::1",
            "3fff:fff::1",
            "ff02::1",
            "fd00:ec2::254",
        ];
        for address in private {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "3fff:1000::1", "::ffff:1.1.1.1", "2002:101:101::"] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
    }
}
