//! References to users in requests.

use wire::id::{IdRefusal, UserId};

/// A user id in a request; `me` means the current user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserRef {
    /// The current user.
    Me,
    /// The user with this id.
    Id(UserId),
}

impl UserRef {
    /// Parses `me` or a user id.
    pub fn parse(text: &str) -> Result<Self, IdRefusal> {
        if text == "me" { Ok(Self::Me) } else { UserId::parse(text).map(Self::Id) }
    }
}

impl utoipa::PartialSchema for UserRef {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

impl utoipa::ToSchema for UserRef {}

wire::deserr_from!(UserRef, String, |text| Self::parse(&text).map_err(|_| "must be a UUID or `me`"));
