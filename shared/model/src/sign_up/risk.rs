//! Risks of a user, as the app's own checks score them; nothing here does.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Scores of a user, 0 unless a server sets others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RiskScores {
    pub sign_up: SignUpRisk,
}

/// Scores of the sign-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignUpRisk {
    pub bot: Score,
    pub free_trial_abuse: Score,
}

/// A whole number from 0 to 100.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = u8, maximum = 100)]
pub struct Score(u8);

impl Score {
    pub fn value(self) -> u8 {
        self.0
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Score {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        match u64::deserialize_from_value(value, location)? {
            score @ 0..=100 => Ok(Self(u8::try_from(score).unwrap_or(100))),
            _ => Err(wire::problem::rejected("must be from 0 to 100", location)),
        }
    }
}
