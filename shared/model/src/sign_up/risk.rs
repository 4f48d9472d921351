//! Risk scores of a user, which the app computes; the service only stores them.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A user's scores, 0 unless a server sets them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RiskScores {
    /// The scores of the sign-up.
    pub sign_up: SignUpRisk,
}

/// The scores of a sign-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignUpRisk {
    /// The likelihood that the user is a bot.
    pub bot: Score,
    /// The likelihood that the user abuses free trials.
    pub free_trial_abuse: Score,
}

/// A whole number from 0 to 100.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = u8, maximum = 100)]
pub struct Score(u8);

impl Score {
    /// The score as a number, from 0 to 100.
    pub fn value(self) -> u8 {
        self.0
    }
}

wire::deserr_from!(Score, u64, |score| match score {
    0..=100 => Ok(Self(u8::try_from(score).unwrap_or(100))),
    _ => Err("must be a whole number from 0 to 100"),
});
