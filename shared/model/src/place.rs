//! The origin of a request: the client's IP address, and the location reported by CloudFront.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The origin of a request, such as the last use of a session (`last_used_at_end_user_ip_info`).
/// Only the IP address is always known.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The IP address of the client.
    #[schema(value_type = String, example = "203.0.113.7")]
    pub ip: IpAddr,
    /// The country: ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    /// The code of the region as reported by CloudFront.
    pub region_code: Option<String>,
    /// The name of the city.
    pub city_name: Option<String>,
    /// The latitude in degrees.
    pub latitude: Option<f64>,
    /// The longitude in degrees.
    pub longitude: Option<f64>,
    /// The time zone, as named in the IANA time zone database.
    pub tz_identifier: Option<String>,
}

impl Place {
    /// Whether one person could plausibly be at both places: the same city and country if both
    /// cities are known, otherwise the same network (IPv4 /24, IPv6 /64).
    pub fn is_near(&self, other: &Self) -> bool {
        match (&self.city_name, &other.city_name) {
            (Some(city), Some(other_city)) => (city, &self.country_code) == (other_city, &other.country_code),
            _ => network(self.ip) == network(other.ip),
        }
    }

    /// The city and country as far as known, such as `Lisbon, PT`; `None` if neither is known.
    pub fn name(&self) -> Option<String> {
        let parts: Vec<&str> = [&self.city_name, &self.country_code].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// A place with only a known IP address.
    pub fn of(ip: IpAddr) -> Self {
        Self { ip, country_code: None, region_code: None, city_name: None, latitude: None, longitude: None, tz_identifier: None }
    }
}

fn network(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => IpAddr::V4((u32::from(ip) & !0xff).into()),
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ip: &str, city: Option<&str>) -> Place {
        Place { city_name: city.map(str::to_owned), ..Place::of(ip.parse().expect("an address")) }
    }

    #[test]
    fn places_are_compared_by_city_or_else_by_network() {
        assert!(at("203.0.113.7", None).is_near(&at("203.0.113.200", None)));
        assert!(!at("203.0.113.7", None).is_near(&at("203.0.114.7", None)));
        assert!(
            at("2001:db8::1", None).is_near(&at("2001:db8::ffff:1", None)) && !at("2001:db8::1", None).is_near(&at("2001:db8:1::1", None))
        );
        assert!(at("203.0.113.7", Some("Lisbon")).is_near(&at("198.51.100.1", Some("Lisbon"))));
        assert!(!at("203.0.113.7", Some("Lisbon")).is_near(&at("203.0.113.8", Some("Porto"))));
    }
}
