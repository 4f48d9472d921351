//! `POST /api/v1/check-version`: compares the version of another installation with the version of
//! this installation.

use api::http::client::Caller;
use api::http::{Json, Route};
use api::product::Input;
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use flows::limits::unproved;
use model::limit::Limit;
use semver::{Comparator, Op, Version};
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("edge-check-version", "/api/v1/check-version")
    .summary("Checks whether a version is up to date")
    .writes_nothing()
    .limit(Limit::Unproved)
    .without_secret();

/// The version of this installation.
const OWN: &str = env!("CARGO_PKG_VERSION");
/// The maximum length of a version, in bytes. The length is limited because the response repeats
/// the version.
const MAX_VERSION: usize = 256;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
#[schema(rename_all = "camelCase")]
pub struct CheckVersion {
    /// A semantic version of at most 256 characters, such as `1.2.3`.
    #[schema(value_type = String)]
    client_version: ClientVersion,
}

pub struct ClientVersion(Version);

wire::deserr_from!(ClientVersion, String, |text| {
    let version = Some(text.trim()).filter(|text| text.len() <= MAX_VERSION).and_then(|text| Version::parse(text).ok());
    version.map(Self).ok_or("must be a version such as 1.2.3")
});

#[wire::sparse]
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedVersion {
    up_to_date: bool,
    /// The reason why the version is outdated. Absent if the version is up to date.
    error: Option<String>,
    /// Whether the newer version may be incompatible with the older version. Absent if the version
    /// is up to date.
    severe: Option<bool>,
}

/// Requests are counted in the memory of the process, because the operation needs neither access
/// nor the table.
pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    Input { body, .. }: Input<CheckVersion>,
) -> Result<Json<CheckedVersion>, Error> {
    unproved(&app, None, &caller.place).await?;
    Ok(Json(compare(&body.client_version.0, OWN)))
}

/// Compares a version with this installation's version by the rules of semantic versioning.
fn compare(client: &Version, own: &str) -> CheckedVersion {
    let Some(own) = Version::parse(own).ok().filter(|own| client < own) else {
        return CheckedVersion { up_to_date: true, error: None, severe: None };
    };
    let compatible =
        Comparator { op: Op::Caret, major: client.major, minor: Some(client.minor), patch: Some(client.patch), pre: client.pre.clone() };
    CheckedVersion {
        up_to_date: false,
        error: Some(format!("version {own} is available, but version {client} is installed: update the installation")),
        severe: Some(!compatible.matches(&own)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_incompatible_updates_as_severe() {
        let compared = |client: &str, own| {
            Version::parse(client).map(|client| compare(&client, own)).map(|checked| (checked.up_to_date, checked.severe))
        };
        assert_eq!(compared("1.2.3", "1.2.3").ok(), Some((true, None)));
        assert_eq!(compared("1.3.0", "1.2.3").ok(), Some((true, None)));
        assert_eq!(compared("1.2.3", "1.10.0").ok(), Some((false, Some(false))));
        assert_eq!(compared("1.2.3", "2.0.0").ok(), Some((false, Some(true))));
        assert_eq!(compared("0.1.9", "0.2.0").ok(), Some((false, Some(true))));
        assert_eq!(compared("1.0.0-rc.1", "1.0.0").ok(), Some((false, Some(false))));
    }
}
