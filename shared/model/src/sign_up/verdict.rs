//! Evaluates a project's sign-up rules for a sign-up.

use crate::sign_up::program::{Program, Status, in_order};
use crate::sign_up::rule::{ActionType, Attempt, DefaultAction, SignUpRule};

/// Whether a sign-up is allowed or rejected, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// A rule with the action `allow` allowed the sign-up.
    Allow(&'a SignUpRule),
    /// A rule with the action `reject` rejected the sign-up.
    Reject(&'a SignUpRule),
    /// No rule allowed or rejected the sign-up, so the project's default action applies.
    Default(DefaultAction),
}

/// The outcome of a project's rules for a sign-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The evaluated rules in order, up to the rule that decided.
    pub evaluations: Vec<(&'a SignUpRule, Status)>,
    /// The decision, and the rule that made it unless the default action applied.
    pub decision: Decision<'a>,
    /// The first rule that restricts the user. The rule has no effect if the sign-up is rejected.
    pub restricted_by: Option<&'a SignUpRule>,
}

/// A sign-up rule of the project, or the default action, rejected the sign-up. Only administrators
/// can see whether a rule or the default action rejected the sign-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sign-up rules of the project rejected this sign-up")]
pub struct Refusal;

/// Evaluates rules in this thread. If this thread also handles requests of other projects, call
/// [`Program::run`] in another thread, and then [`judge`].
pub fn evaluate<'a>(rules: &'a [SignUpRule], default: DefaultAction, attempt: &Attempt<'_>) -> Verdict<'a> {
    judge(rules, default, Program::compile(rules).run(&attempt.facts()))
}

/// Makes the decision, based on the results of the rules in the order of evaluation. The first rule
/// that matches with `allow` or `reject` decides; `restrict` and `log` do not end the evaluation.
pub fn judge(rules: &[SignUpRule], default: DefaultAction, statuses: Vec<Status>) -> Verdict<'_> {
    let mut verdict = Verdict { evaluations: Vec::new(), decision: Decision::Default(default), restricted_by: None };
    for (rule, status) in in_order(rules).into_iter().zip(statuses) {
        let is_match = status == Status::Matched;
        verdict.evaluations.push((rule, status));
        match rule.action.r#type {
            ActionType::Allow if is_match => {
                verdict.decision = Decision::Allow(rule);
                return verdict;
            }
            ActionType::Reject if is_match => {
                verdict.decision = Decision::Reject(rule);
                return verdict;
            }
            ActionType::Restrict if is_match => verdict.restricted_by = verdict.restricted_by.or(Some(rule)),
            _ => {}
        }
    }
    verdict
}

impl Verdict<'_> {
    /// Whether the sign-up is admitted, possibly with a restriction.
    pub fn admits(&self) -> bool {
        matches!(self.decision, Decision::Allow(_) | Decision::Default(DefaultAction::Allow))
    }

    /// The ids and actions of the rules that matched.
    pub fn matched(&self) -> impl Iterator<Item = (String, ActionType)> {
        let matched = self.evaluations.iter().filter(|(_, status)| *status == Status::Matched);
        matched.map(|(rule, _)| (rule.id.clone(), rule.action.r#type))
    }
}
