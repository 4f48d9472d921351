//! `--listen` and `--port`: the address that the gateway listens on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use tokio::net::{TcpListener, TcpSocket};

use crate::data::Data;

pub(super) const PORT: u16 = 8787;
/// The accept backlog: the maximum number of connections that wait to be accepted. The backlog is
/// the same as Linux's default limit. While the backlog is full, connecting clients get no response
/// and retry a second later.
const BACKLOG: u32 = 4096;

#[derive(Args, Clone)]
pub(super) struct ListenOptions {
    /// Address to listen on: PORT, localhost:PORT or ADDRESS:PORT. A port alone means this machine
    /// only, and 0.0.0.0:PORT means all networks [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Listen on this port of this machine; 0 picks a free one
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
}

impl ListenOptions {
    pub(super) fn address(&self) -> SocketAddr {
        self.listen.unwrap_or_else(|| here(self.port.unwrap_or(PORT)))
    }
}

fn here(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

/// Parses an address to listen on.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(here(port));
    }
    text.parse().map_err(|_| {
        "expected a port (8787), localhost:8787, or an address with a port (127.0.0.1:8787, 0.0.0.0:8787, [::1]:8787)".to_owned()
    })
}

/// Listens on an address. If the gateway of `folder` already uses the port, the error names that
/// gateway.
pub(super) fn bind(address: SocketAddr, folder: Option<&Path>, option: &str) -> anyhow::Result<TcpListener> {
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Makes it possible to bind the port of a gateway that has just stopped.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| {
        if error.kind() != std::io::ErrorKind::AddrInUse {
            return anyhow!("cannot listen on {address}: {error}");
        }
        let own = folder
            .and_then(Data::holder)
            .filter(|holder| holder.url.as_ref().is_some_and(|url| url.ends_with(&format!(":{}", address.port()))));
        let who = own.map_or_else(|| "another program".to_owned(), |holder| holder.to_string());
        anyhow!("cannot listen on {address}: the port is already in use by {who}; stop that program, or choose another port with {option} PORT (0 picks a free one)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_means_loopback_and_an_address_is_used_as_given() {
        for text in ["8853", ":8853", "localhost:8853", "127.0.0.1:8853"] {
            assert_eq!(address(text), Ok(here(8853)), "{text}");
        }
        assert_eq!(address("0.0.0.0:80"), Ok(SocketAddr::from(([0, 0, 0, 0], 80))));
        assert_eq!(address("[::1]:80"), Ok("[::1]:80".parse().unwrap()));
    }

    #[test]
    fn an_invalid_address_is_rejected_with_the_expected_form() {
        for text in ["", "nowhere", "localhost", "127.0.0.1", "70000", ":70000", "localhost:http", "example.com:80", "::1:80x", "-1"] {
            let said = address(text).unwrap_err();
            assert!(said.contains("127.0.0.1:8787") && said.contains("localhost:8787"), "{text}: {said}");
        }
    }
}
