//! Values of the wire that are one of a few words.

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the user saw the bot challenge: after one that it did not see, an app can still show one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum BotChallengePhase {
    Invisible,
    Visible,
}

/// The word `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub enum True {
    #[serde(rename = "true")]
    True,
}

impl<E: DeserializeError> Deserr<E> for True {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        let is_true = match value {
            Value::Boolean(value) => value,
            value => String::deserialize_from_value(value, location)? == "true",
        };
        if is_true { Ok(Self::True) } else { Err(wire::problem::rejected("must be true", location)) }
    }
}

/// What an operation without an answer answers: `{"success": true}`.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Success {
    success: bool,
}

/// The one [`Success`].
pub const SUCCESS: Success = Success { success: true };
