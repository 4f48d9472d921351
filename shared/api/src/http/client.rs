//! The caller's IP address, and the caller's location if the deployment's distribution reports it.
//!
//! Behind the distribution, the address comes from `CloudFront-Viewer-Address`. Without a
//! distribution, it comes from the connection (gateway) or from API Gateway's context (Lambda),
//! never from `X-Forwarded-For`, which anyone can set.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use flows::App;
use http::HeaderMap;
use http::request::Parts;
use model::place::Place;
use model::user::device::DeviceToken;
use secrecy::ExposeSecret;
use settings::Settings;
use subtle::ConstantTimeEq;

use crate::http::describe::{Describe, Description};
use crate::product::header_family::header;

/// The maximum length of a place name, in bytes: names are stored with each session. The longest
/// city name has about 60 bytes.
const MAX_NAME: usize = 100;

/// The IP address of the connection's peer. The runner adds this address to the request's
/// extensions.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub IpAddr);

impl Default for PeerAddress {
    fn default() -> Self {
        Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }
}

/// A request extension that marks requests made within the process by the service's own pages for
/// users. Requests from these pages do not need a client key. Requests from outside the process
/// cannot have this extension.
#[derive(Debug, Clone, Copy)]
pub struct OwnPage;

/// The caller of an operation that does not require an access level.
#[derive(Clone)]
pub struct Caller {
    /// The caller's IP address and location.
    pub place: Place,
    /// The token of a remembered device, which stands in for the second factor; `None` if it is
    /// absent or malformed.
    pub device: Option<DeviceToken>,
    /// Whether the service's own pages make the request ([`OwnPage`]).
    pub is_own_page: bool,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::read(parts, &app.settings))
    }
}

impl Caller {
    /// The caller of a request.
    pub fn read(parts: &Parts, settings: &Settings) -> Self {
        let device = header(&parts.headers, "device-token").ok().flatten().and_then(DeviceToken::parse);
        Self { place: place(parts, settings), device, is_own_page: parts.extensions.get::<OwnPage>().is_some() }
    }
}

impl Describe for Caller {
    fn describe(_: &mut Description) {}
}

/// The headers that say where a request came from. The first one contains the origin secret, which
/// proves that the distribution set the rest.
pub const PLACE_HEADERS: [&str; 8] = [
    "x-origin-secret",
    "cloudfront-viewer-address",
    "cloudfront-viewer-country",
    "cloudfront-viewer-country-region",
    "cloudfront-viewer-city",
    "cloudfront-viewer-latitude",
    "cloudfront-viewer-longitude",
    "cloudfront-viewer-time-zone",
];

/// Where a request came from: the IP address and location in the `CloudFront-Viewer-` headers if
/// these headers can be trusted, otherwise only the address of the connection.
pub(crate) fn place(parts: &Parts, settings: &Settings) -> Place {
    let (headers, peer) = (&parts.headers, parts.extensions.get::<PeerAddress>().copied().unwrap_or_default());
    let text = |name: &str| {
        let text = headers.get(name).and_then(|value| value.to_str().ok())?;
        (1..=MAX_NAME).contains(&text.len()).then(|| text.to_owned())
    };
    // The comparison also rejects NaN, which DynamoDB cannot store.
    let degrees = |name: &str, max: f64| text(name).and_then(|text| text.parse().ok()).filter(|degrees: &f64| degrees.abs() <= max);
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

/// Whether a request bypassed the deployment's distribution, and thus its web ACL, without
/// permission. Always `false` if the deployment does not have an origin secret.
pub fn went_past_distribution(headers: &HeaderMap, settings: &Settings) -> bool {
    settings.origin_secret.is_some() && !settings.allows_direct && !came_through_distribution(headers, settings)
}

/// Parses `address:port`; CloudFront writes IPv6 addresses without brackets.
fn parse_viewer_address(text: &str) -> Option<IpAddr> {
    text.rsplit_once(':')?.0.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::http::log::tests::{app, app_behind};

    const PEER: &str = "198.51.100.1";

    /// The place of a request with these headers that comes directly from `PEER`.
    fn seen(app: &App, headers: &[(&str, &str)]) -> Place {
        let builder = headers.iter().fold(Request::builder(), |builder, (name, value)| builder.header(*name, *value));
        let mut parts = builder.body(()).expect("a request").into_parts().0;
        parts.extensions.insert(PeerAddress(PEER.parse().expect("an address")));
        place(&parts, &app.settings)
    }

    #[test]
    fn only_the_distribution_says_where_a_request_came_from() {
        let viewer = [("cloudfront-viewer-address", "203.0.113.7:4711"), ("cloudfront-viewer-city", "Lisbon")];
        let forwarded = [("x-forwarded-for", "203.0.113.7"), ("forwarded", "for=203.0.113.7"), ("x-real-ip", "203.0.113.7")];
        let [beside, without] = [app_behind("the secret", true), app(None)];
        for proof in [None, Some("another"), Some(""), Some("the secre"), Some("the secret ")] {
            let mut headers = viewer.iter().chain(&forwarded).copied().collect::<Vec<_>>();
            headers.extend(proof.map(|proof| ("x-origin-secret", proof)));
            for app in [&beside, &without] {
                assert_eq!(seen(app, &headers), Place::of(PEER.parse().expect("an address")), "{proof:?}");
            }
        }
        let proved = [&viewer[..], &[("x-origin-secret", "the secret")]].concat();
        let place = seen(&beside, &proved);
        assert_eq!((place.ip.to_string().as_str(), place.city_name.as_deref()), ("203.0.113.7", Some("Lisbon")));
    }

    #[test]
    fn the_headers_of_a_place_are_listed() {
        let values = ["the secret", "203.0.113.7:4711", "PT", "11", "Lisbon", "38.7", "-9.1", "Europe/Lisbon"];
        let headers: Vec<_> = PLACE_HEADERS.into_iter().zip(values).collect();
        let expected = Place {
            ip: "203.0.113.7".parse().expect("an address"),
            country_code: Some("PT".to_owned()),
            region_code: Some("11".to_owned()),
            city_name: Some("Lisbon".to_owned()),
            latitude: Some(38.7),
            longitude: Some(-9.1),
            tz_identifier: Some("Europe/Lisbon".to_owned()),
        };
        assert_eq!(seen(&app_behind("the secret", true), &headers), expected);
    }

    #[test]
    fn senseless_viewer_headers_are_ignored() {
        let app = app_behind("the secret", true);
        let (long, longest) = ("x".repeat(MAX_NAME + 1), "x".repeat(MAX_NAME));
        let with = |name: &str, value: &str| seen(&app, &[("x-origin-secret", "the secret"), (name, value)]);
        for (name, value) in [
            ("cloudfront-viewer-address", "203.0.113.7"),
            ("cloudfront-viewer-address", "203.0.113.7:1, 203.0.113.8:1"),
            ("cloudfront-viewer-address", "localhost:1"),
            ("cloudfront-viewer-latitude", "NaN"),
            ("cloudfront-viewer-latitude", "91"),
            ("cloudfront-viewer-longitude", "inf"),
            ("cloudfront-viewer-longitude", "1e400"),
            ("cloudfront-viewer-country", ""),
            ("cloudfront-viewer-city", &long),
            ("cloudfront-viewer-time-zone", &long),
        ] {
            assert_eq!(with(name, value), Place::of(PEER.parse().expect("an address")), "{name}: {value}");
        }
        assert_eq!(with("cloudfront-viewer-city", &longest).city_name, Some(longest));
    }

    #[test]
    fn a_viewer_address_has_a_port() {
        assert_eq!(parse_viewer_address("203.0.113.7:4711"), "203.0.113.7".parse().ok());
        assert_eq!(parse_viewer_address("2001:db8::7:4711"), "2001:db8::7".parse().ok());
        assert_eq!(parse_viewer_address("nonsense"), None);
    }
}
