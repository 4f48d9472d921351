//! Validates sign-up rules when they are set.

use std::collections::HashSet;

use crate::sign_up::program::Program;
use crate::sign_up::risk::SignUpRisk;
use crate::sign_up::rule::{Attempt, AuthMethod, SignUpRule};
use crate::text::line;

/// The maximum length of a condition, in bytes.
const MAX_CONDITION: usize = 2048;
/// The maximum length of a message, in characters.
const MAX_MESSAGE: usize = 500;

/// Why a rule cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleRefusal {
    /// The length or a character of the id is not permitted.
    #[error("must be 1 to 63 characters from a-z, A-Z, 0-9, - and _")]
    Id,
    /// Another rule already has the same id.
    #[error("occurs twice")]
    SecondId,
    /// The display name is too long, or is not one line of permitted characters.
    #[error(transparent)]
    DisplayName(line::LineRefusal),
    /// The message is too long.
    #[error("must be at most {MAX_MESSAGE} characters long")]
    Message,
    /// The condition is empty or too long.
    #[error("must be 1 to {MAX_CONDITION} bytes long")]
    Length,
    /// The condition cannot be parsed or evaluated, is not boolean, or is too expensive, either
    /// alone or together with other rules.
    #[error("must be a boolean CEL expression within the evaluation budget: {0}")]
    Condition(String),
}

impl RuleRefusal {
    /// The invalid field of the rule.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Id | Self::SecondId => "id",
            Self::DisplayName(_) => "display_name",
            Self::Message => "action.message",
            Self::Length | Self::Condition(_) => "condition",
        }
    }
}

/// Validates rules that are set together, and evaluates each condition once. Fails with the
/// position of the invalid rule, which may be invalid only because of the rules evaluated before
/// it.
pub fn check(rules: &[SignUpRule]) -> Result<(), (usize, RuleRefusal)> {
    let mut ids = HashSet::new();
    for (position, rule) in rules.iter().enumerate() {
        rule.check_fields().map_err(|invalid| (position, invalid))?;
        if !ids.insert(&rule.id) {
            return Err((position, RuleRefusal::SecondId));
        }
    }
    let nobody = Attempt { email: None, method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    // Disabled rules must also be valid, but do not count towards the budget of the other rules.
    for is_on in [true, false] {
        let chosen = rules.iter().filter(|rule| rule.enabled == is_on);
        let chosen: Vec<SignUpRule> = chosen.map(|rule| SignUpRule { enabled: true, ..rule.clone() }).collect();
        if let Some((faulty, reason)) = Program::compile(&chosen).fault(&nobody.facts()) {
            let position = rules.iter().position(|rule| rule.id == faulty.id).unwrap_or_default();
            return Err((position, RuleRefusal::Condition(reason)));
        }
    }
    Ok(())
}

impl SignUpRule {
    fn check_fields(&self) -> Result<(), RuleRefusal> {
        let is_id = (1..=63).contains(&self.id.len()) && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        if !is_id {
            return Err(RuleRefusal::Id);
        }
        line::check(self.display_name.as_deref().unwrap_or_default(), line::OPTIONAL_NAME).map_err(RuleRefusal::DisplayName)?;
        if self.action.message.as_ref().is_some_and(|message| message.chars().count() > MAX_MESSAGE) {
            return Err(RuleRefusal::Message);
        }
        if !(1..=MAX_CONDITION).contains(&self.condition.len()) {
            return Err(RuleRefusal::Length);
        }
        Ok(())
    }
}
