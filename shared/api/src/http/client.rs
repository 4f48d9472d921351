//! Who is at the other end: the address of the client, and its place when our distribution vouches for it.
//!
//! The address comes from the connection (gateway) or from API Gateway's context (Lambda), never from `X-Forwarded-For`, which anybody
//! can write.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use flows::App;
use http::HeaderMap;
use http::request::Parts;
use model::place::Place;
use secrecy::ExposeSecret;
use settings::Settings;
use subtle::ConstantTimeEq;

use crate::http::describe::{Describe, Description};

/// The address that the connection has, as the runner puts it among a request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub IpAddr);

impl Default for PeerAddress {
    fn default() -> Self {
        Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }
}

/// The caller of an operation that takes no access: known by its place alone.
#[derive(Debug, Clone)]
pub struct Caller {
    pub place: Place,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<PeerAddress>().copied().unwrap_or_default();
        Ok(Self { place: place(&parts.headers, peer, &app.settings) })
    }
}

impl Describe for Caller {
    fn describe(_: &mut Description) {}
}

/// The place of a request.
pub fn place(headers: &HeaderMap, peer: PeerAddress, settings: &Settings) -> Place {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty()).map(str::to_owned);
    // NaN is a number that no table takes.
    let degrees = |name: &str, most: f64| text(name).and_then(|text| text.parse().ok()).filter(|degrees: &f64| degrees.abs() <= most);
    if !came_through_distribution(headers, settings) {
        return Place::of(peer.0);
    }
    let viewer = text("cloudfront-viewer-address").and_then(|address| parse_viewer_address(&address));
    Place {
        ip: viewer.unwrap_or(peer.0),
        country_code: text("cloudfront-viewer-country"),
        region_code: text("cloudfront-viewer-country-region"),
        city_name: text("cloudfront-viewer-city"),
        latitude: degrees("cloudfront-viewer-latitude", 90.0),
        longitude: degrees("cloudfront-viewer-longitude", 180.0),
        tz_identifier: text("cloudfront-viewer-time-zone"),
    }
}

fn came_through_distribution(headers: &HeaderMap, settings: &Settings) -> bool {
    let Some(secret) = &settings.origin_secret else { return settings.trust_viewer_headers };
    headers.get("x-origin-secret").is_some_and(|given| given.as_bytes().ct_eq(secret.expose_secret().as_bytes()).into())
}

/// Whether a request went past the distribution that the deployment has, and so past its web ACL.
pub fn went_past_distribution(headers: &HeaderMap, settings: &Settings) -> bool {
    settings.origin_secret.is_some() && !came_through_distribution(headers, settings)
}

/// `address:port`; an IPv6 address has no brackets there.
fn parse_viewer_address(text: &str) -> Option<IpAddr> {
    text.rsplit_once(':')?.0.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_address_has_a_port() {
        assert_eq!(parse_viewer_address("203.0.113.7:4711"), "203.0.113.7".parse().ok());
        assert_eq!(parse_viewer_address("2001:db8::7:4711"), "2001:db8::7".parse().ok());
        assert_eq!(parse_viewer_address("nonsense"), None);
    }
}
