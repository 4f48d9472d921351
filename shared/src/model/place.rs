//! Where a request came from: the address, and what the distribution says of its place (WIRE.md, decision 11).

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The `last_used_at_end_user_ip_info` of a session (SPEC.md, Resources). Only the address is always known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    #[schema(value_type = String, example = "203.0.113.7")]
    pub ip: IpAddr,
    /// ISO 3166-1 alpha-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city_name: Option<String>,
    /// Degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// Degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// A name of the IANA time zone database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz_identifier: Option<String>,
}

impl Place {
    /// An address and nothing more.
    pub fn of(ip: IpAddr) -> Self {
        Self { ip, country_code: None, region_code: None, city_name: None, latitude: None, longitude: None, tz_identifier: None }
    }
}
