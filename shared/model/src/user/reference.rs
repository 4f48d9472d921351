//! References to a user in a request.

use wire::id::{NotAnId, UserId};
use wire::problem::rejected;

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
    pub fn parse(text: &str) -> Result<Self, NotAnId> {
        if text == "me" { Ok(Self::Me) } else { UserId::parse(text).map(Self::Id) }
    }
}

impl utoipa::PartialSchema for UserRef {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

impl utoipa::ToSchema for UserRef {}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for UserRef {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|_| rejected("must be a UUID or `me`", location))
    }
}
