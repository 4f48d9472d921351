//! The mail relays in the operator's own network, as listed by the operator.

use url::Host;

/// Mail servers that projects can use even though their addresses are private. Projects that do not
/// log in to a relay send their emails without TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MailRelays(Vec<(Host<String>, u16)>);

/// An entry of the list is not a host with a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayError;

impl MailRelays {
    /// Parses a comma-separated list such as `relay.internal:25, 10.0.0.7:2525, [fd00::7]:25`.
    pub fn parse(list: &str) -> Result<Self, RelayError> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let relay = |entry: &str| {
            let (host, port) = entry.rsplit_once(':').ok_or(RelayError)?;
            let port = port.parse().ok().filter(|port| *port > 0).ok_or(RelayError)?;
            Ok((Host::parse(host).map_err(|_| RelayError)?, port))
        };
        entries.map(relay).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the list contains `host` with `port`. A host that only has the same address as a
    /// relay does not count.
    pub fn include(&self, host: &str, port: u16) -> bool {
        Host::parse(host).is_ok_and(|host| self.0.contains(&(host, port)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_a_listed_host_at_the_listed_port() {
        let relays = MailRelays::parse(" Relay.internal:25,10.0.0.7:2525, [fd00::7]:25 ,").expect("a list");
        for (host, port, is_one) in [
            ("relay.internal", 25, true),
            ("RELAY.internal", 25, true),
            ("relay.internal", 2525, false),
            ("10.0.0.7", 2525, true),
            ("10.0.0.8", 2525, false),
            ("[fd00::7]", 25, true),
            ("other.internal", 25, false),
            ("relay.internal.example.com", 25, false),
            ("", 25, false),
        ] {
            assert_eq!(relays.include(host, port), is_one, "{host}:{port}");
        }
        assert!(!MailRelays::default().include("relay.internal", 25));
    }

    #[test]
    fn an_entry_without_a_host_or_a_port_is_invalid() {
        for list in ["relay.internal", "relay.internal:", ":25", "relay.internal:0", "relay.internal:65536", "a b:25", "fd00::7:25", "*"] {
            assert_eq!(MailRelays::parse(list), Err(RelayError), "{list}");
        }
    }
}
