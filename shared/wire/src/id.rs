//! Ids: each kind has its own type, so they cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::{Uuid, Variant};

/// The text is not an id of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct IdRefusal;

/// Parses a UUID as defined by RFC 9562: with that RFC's variant and a version from 1 to 8, or the
/// nil UUID.
fn strict_uuid(text: &str) -> Result<Uuid, IdRefusal> {
    let uuid = (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten().ok_or(IdRefusal)?;
    let known = uuid.get_variant() == Variant::RFC4122 && (1..=8).contains(&uuid.get_version_num());
    if known || uuid.is_nil() { Ok(uuid) } else { Err(IdRefusal) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = Uuid)]
        pub struct $name(Uuid);

        impl $name {
            /// Parses the id in its hyphenated form of 36 characters.
            pub fn parse(text: &str) -> Result<Self, IdRefusal> {
                strict_uuid(text).map(Self)
            }

            /// The id as a UUID.
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        crate::deserr_from!($name, String, |text| Self::parse(&text));
    };
}

id!(
    /// A user of a project.
    UserId
);
id!(
    /// A session, whose access tokens contain this id as `refresh_token_id`.
    SessionId
);
id!(
    /// A contact channel of a user.
    ChannelId
);
id!(
    /// An account of a user at a provider.
    ProviderAccountId
);
id!(
    /// A passkey of a user.
    PasskeyId
);
id!(
    /// An authenticator app of a user.
    AuthenticatorId
);
id!(
    /// A remembered device, which stands in for a user's second factor for some time.
    DeviceId
);
id!(
    /// A set of API keys.
    KeySetId
);
id!(
    /// An API key of a user or team.
    OwnedKeyId
);
id!(
    /// A team of users.
    TeamId
);
id!(
    /// An invitation to a team.
    InvitationId
);
id!(
    /// An entry of the outbox.
    EmailId
);
id!(
    /// A category of emails.
    CategoryId
);
id!(
    /// An email template, theme or draft.
    DocumentId
);
id!(
    /// An email to many users, before the service creates an outbox entry for each user.
    BroadcastId
);
id!(
    /// An entry of the audit trail.
    TrailEntryId
);
id!(
    /// A webhook endpoint of a project.
    WebhookEndpointId
);
id!(
    /// A delivery of an event to a webhook endpoint.
    WebhookDeliveryId
);
id!(
    /// An OAuth client of a project.
    OauthClientId
);
id!(
    /// A grant of a user to an OAuth client.
    OauthGrantId
);
id!(
    /// A resource of a project, for which OAuth clients get access tokens.
    OauthResourceId
);

/// The id of a project: a UUID, or the literal `internal`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21")]
pub struct ProjectId(String);

impl ProjectId {
    /// The id of the internal project, whose users own the other projects.
    pub const INTERNAL: &str = "internal";

    /// The internal project, whose users own the other projects.
    pub fn internal() -> Self {
        Self(Self::INTERNAL.to_owned())
    }

    /// Whether this is the internal project.
    pub fn is_internal(&self) -> bool {
        self.0 == Self::INTERNAL
    }

    /// Parses `internal` or a UUID; the id is stored in lower case.
    pub fn parse(text: &str) -> Result<Self, IdRefusal> {
        if text == Self::INTERNAL { Ok(Self(text.to_owned())) } else { strict_uuid(text).map(Self::from) }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Uuid> for ProjectId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid.to_string())
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rfc_9562_uuids_are_ids() {
        assert!(UserId::parse("7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").is_ok());
        assert!(UserId::parse("00000000-0000-0000-0000-000000000000").is_ok());
        for text in
            ["", "me", "7f3c2a4e-3f5b-0d0e-9a56-0f1f6c8f3d21", "7f3c2a4e-3f5b-4d0e-1a56-0f1f6c8f3d21", "7f3c2a4e3f5b4d0e9a560f1f6c8f3d21"]
        {
            assert_eq!(UserId::parse(text), Err(IdRefusal), "{text}");
        }
        assert_eq!(ProjectId::parse("internal").map(|id| id.to_string()), Ok("internal".to_owned()));
    }
}
