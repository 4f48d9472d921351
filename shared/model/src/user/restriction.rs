//! Restrictions of a user.

use serde::{Deserialize, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A restriction set by an administrator, a server or a sign-up rule.
#[wire::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// The reason, which the user can see.
    pub reason: Option<String>,
    /// Details that the user cannot see.
    pub private_details: Option<String>,
}

/// Why a user is restricted: the first reason that applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub enum RestrictedReason {
    /// The user has not signed up yet.
    #[default]
    Anonymous,
    /// The project requires a verified primary address.
    EmailNotVerified,
    /// An administrator, a server or a sign-up rule restricted the user.
    RestrictedByAdministrator,
    /// The project requires a second factor, but the user does not have one or did not prove it in
    /// the session.
    SecondFactorRequired,
}

/// Why a user is restricted.
//
// Published SDKs discard access tokens with an unknown type of restriction, so a missing second
// factor is reported with a type that the SDKs support.
#[derive(Serialize, Deserialize, ToSchema)]
struct Wire {
    r#type: Type,
    /// What the user must set up or prove to lift the restriction. Present only with the type
    /// `restricted_by_administrator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs: Option<NeededAction>,
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Type {
    /// The user has not signed up yet.
    Anonymous,
    /// The project requires a verified primary address.
    EmailNotVerified,
    /// An administrator, a server or a sign-up rule restricted the user, or the user must set up or
    /// prove something that the project requires.
    RestrictedByAdministrator,
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Needed)]
enum NeededAction {
    /// An authenticator app, or a passkey that counts as both factors.
    SecondFactor,
}

impl From<Wire> for RestrictedReason {
    fn from(wire: Wire) -> Self {
        match (wire.r#type, wire.needs) {
            (Type::Anonymous, _) => Self::Anonymous,
            (Type::EmailNotVerified, _) => Self::EmailNotVerified,
            (Type::RestrictedByAdministrator, None) => Self::RestrictedByAdministrator,
            (Type::RestrictedByAdministrator, Some(NeededAction::SecondFactor)) => Self::SecondFactorRequired,
        }
    }
}

impl From<RestrictedReason> for Wire {
    fn from(reason: RestrictedReason) -> Self {
        let (r#type, needs) = match reason {
            RestrictedReason::Anonymous => (Type::Anonymous, None),
            RestrictedReason::EmailNotVerified => (Type::EmailNotVerified, None),
            RestrictedReason::RestrictedByAdministrator => (Type::RestrictedByAdministrator, None),
            RestrictedReason::SecondFactorRequired => (Type::RestrictedByAdministrator, Some(NeededAction::SecondFactor)),
        };
        Self { r#type, needs }
    }
}

impl PartialSchema for RestrictedReason {
    fn schema() -> RefOr<Schema> {
        Wire::schema()
    }
}

impl ToSchema for RestrictedReason {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Wire::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_reason_has_a_type_that_published_sdks_know() {
        let reasons = [
            (RestrictedReason::Anonymous, json!({ "type": "anonymous" })),
            (RestrictedReason::EmailNotVerified, json!({ "type": "email_not_verified" })),
            (RestrictedReason::RestrictedByAdministrator, json!({ "type": "restricted_by_administrator" })),
            (RestrictedReason::SecondFactorRequired, json!({ "type": "restricted_by_administrator", "needs": "second_factor" })),
        ];
        for (reason, wire) in reasons {
            assert_eq!(serde_json::to_value(reason).expect("a reason"), wire);
            assert_eq!(serde_json::from_value::<RestrictedReason>(wire).expect("a reason"), reason);
        }
    }
}
