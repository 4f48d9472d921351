//! The theme around an email, in requests and in the table.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::{Uuid, uuid};
use wire::id::DocumentId;

/// The id of a theme. The theme need not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Uuid)]
pub struct ThemeId(pub Uuid);

impl<E: deserr::DeserializeError> Deserr<E> for ThemeId {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        DocumentId::deserialize_from_value(value, location).map(|id| Self(id.uuid()))
    }
}

/// A theme, or none. The absence of a theme is `false` in JSON, because `null` stands for the
/// project's theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub enum Theme {
    /// No theme around the email.
    None,
    /// The theme with this id.
    Id(ThemeId),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Id(Uuid),
    None(bool),
}

impl From<Wire> for Theme {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Id(id) => Self::Id(ThemeId(id)),
            Wire::None(_) => Self::None,
        }
    }
}

impl From<Theme> for Wire {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Id(id) => Self::Id(id.0),
            Theme::None => Self::None(false),
        }
    }
}

impl Theme {
    /// The id of the theme; absent for [`Self::None`].
    pub fn id(self) -> Option<Uuid> {
        match self {
            Self::Id(id) => Some(id.0),
            Self::None => None,
        }
    }
}

impl<E: deserr::DeserializeError> Deserr<E> for Theme {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        match value {
            deserr::Value::Boolean(false) => Ok(Self::None),
            value => ThemeId::deserialize_from_value(value, location).map(Self::Id),
        }
    }
}

impl PartialSchema for Theme {
    fn schema() -> RefOr<Schema> {
        let none = ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([false]));
        OneOfBuilder::new().item(ThemeId::schema()).item(none).into()
    }
}

impl ToSchema for Theme {}

/// The id of the built-in theme, which projects use until they select another.
pub const DEFAULT_THEME: Uuid = uuid!("1df07ae6-abf3-4a40-83a5-a1a2cbe336ac");
