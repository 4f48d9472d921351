//! Types with only one or two possible values on the wire.

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the user saw the bot challenge. If an invisible challenge fails, an app can still show a
/// visible one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum BotChallengePhase {
    /// The challenge ran invisibly.
    Invisible,
    /// The user saw the challenge.
    Visible,
}

/// The literal `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub enum True {
    /// The only accepted value.
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

/// The response of operations that return no other result: `{"success": true}`.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Success {
    success: bool,
}

/// The only value of [`Success`].
pub const SUCCESS: Success = Success { success: true };
