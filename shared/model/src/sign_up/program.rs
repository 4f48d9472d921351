//! A project's rules, compiled under one `Budget`, so that the processor time of an evaluation is
//! bounded regardless of the rules. A rule that exceeds the budget left by the rules before it is
//! skipped.

use std::sync::{Arc, LazyLock};

use cel::parser::PrattParser;
use cel::{Context, Env, IdedExpr, ParseErrors, Value};

use crate::email::Email;
use crate::sign_up::budget::{Budget, BudgetRefusal};
use crate::sign_up::cost::{self, MAX_NAME, MAX_TEXT, Refusal};
use crate::sign_up::patterns::Patterns;
use crate::sign_up::rule::{ActionType, Attempt, SignUpRule};

/// How many bytes of a condition are read per step.
const READ_PER_STEP: usize = 16;
/// The steps of parsing a node of the syntax tree.
const STEPS_PER_NODE: usize = 8;
/// The steps of parsing an operator or a bracket, some of which do not produce a node, as in `!!a`
/// and `((a))`.
const STEPS_PER_MARK: usize = 2;
/// The maximum nesting of calls and lists. For each call, the parser copies everything inside the
/// call and everything before it, as in `a.b().c()`.
const MAX_NESTED: u16 = 12;

/// The functions that conditions can use.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Compiled rules, in the order of evaluation.
pub struct Program {
    rules: Vec<SignUpRule>,
    /// The condition of each rule, or the reason why it is skipped; `None` for a disabled rule.
    conditions: Vec<Option<Result<CompiledCondition, String>>>,
    patterns: Arc<Patterns>,
    budget: Budget,
}

struct CompiledCondition {
    expression: IdedExpr,
    /// Why one of the condition's regular expressions is invalid; absent if all expressions are
    /// valid.
    invalid: Option<String>,
}

/// The result of a rule's condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The condition is true.
    Matched,
    /// The condition is false.
    NotMatched,
    /// The rule is disabled.
    Disabled,
    /// The condition cannot be evaluated for this sign-up, or would exceed the budget; the
    /// condition then counts as false. The check when the rule was set may have missed the error,
    /// because it used sample values or was made by an earlier version.
    Error(String),
}

/// The facts about a sign-up, as variables for conditions.
#[derive(Debug, Clone)]
pub struct Facts {
    texts: [(&'static str, String); 5],
    risk_scores: [(&'static str, i64); 2],
}

/// Why a condition cannot be compiled.
#[derive(Debug, thiserror::Error)]
enum ConditionRefusal {
    #[error("{0}")]
    Syntax(String),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Exceeded(#[from] BudgetRefusal),
}

/// The rules in the order of evaluation: by descending priority, then by id.
pub fn in_order(rules: &[SignUpRule]) -> Vec<&SignUpRule> {
    let mut rules: Vec<&SignUpRule> = rules.iter().collect();
    rules.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.id.cmp(&b.id)));
    rules
}

impl Program {
    /// Compiles the enabled rules.
    pub fn compile(rules: &[SignUpRule]) -> Self {
        let rules: Vec<SignUpRule> = in_order(rules).into_iter().cloned().collect();
        let (mut patterns, mut budget) = (Patterns::default(), Budget::FULL);
        let mut compiled = |rule: &SignUpRule| {
            rule.enabled.then(|| compile(&rule.condition, &mut patterns, &mut budget).map_err(|error| error.to_string()))
        };
        let conditions = rules.iter().map(&mut compiled).collect();
        Self { rules, conditions, patterns: Arc::new(patterns), budget }
    }

    /// Whether the program was compiled from these rules.
    pub fn is_of(&self, rules: &[SignUpRule]) -> bool {
        self.rules.len() == rules.len() && self.rules.iter().eq(in_order(rules))
    }

    /// The memory that the compiled program takes, in bytes.
    pub fn bytes(&self) -> usize {
        let texts = self.rules.iter().map(|rule| size_of::<SignUpRule>() + rule.condition.len());
        self.budget.kept() + texts.sum::<usize>()
    }

    /// The maximum number of steps for compiling the rules and for one evaluation.
    pub fn steps(&self) -> u64 {
        self.budget.spent()
    }

    /// The results of the rules in the order of evaluation, up to the rule that decides.
    pub fn run(&self, facts: &Facts) -> Vec<Status> {
        let (mut context, mut statuses) = (None, Vec::new());
        for (rule, condition) in self.rules.iter().zip(&self.conditions) {
            let status = match condition {
                None => Status::Disabled,
                Some(Err(reason)) => Status::Error(reason.clone()),
                Some(Ok(compiled)) => match &*context.get_or_insert_with(|| self.context(facts)) {
                    Ok(context) => compiled.status(context),
                    Err(reason) => Status::Error(reason.clone()),
                },
            };
            let decides = status == Status::Matched && matches!(rule.action.r#type, ActionType::Allow | ActionType::Reject);
            statuses.push(status);
            if decides {
                break;
            }
        }
        statuses
    }

    /// The first rule that cannot be evaluated, and the reason. The rule's regular expressions must
    /// be valid even if the evaluation does not use them.
    pub(crate) fn fault(&self, facts: &Facts) -> Option<(&SignUpRule, String)> {
        let context = self.context(facts);
        self.rules.iter().zip(&self.conditions).find_map(|(rule, condition)| {
            let reason = match (condition.as_ref()?, &context) {
                (Err(reason), _) | (_, Err(reason)) => reason.clone(),
                (Ok(CompiledCondition { invalid: Some(reason), .. }), _) => reason.clone(),
                (Ok(compiled), Ok(context)) => match compiled.status(context) {
                    Status::Error(reason) => reason,
                    Status::Matched | Status::NotMatched | Status::Disabled => return None,
                },
            };
            Some((rule, reason))
        })
    }

    fn context(&self, facts: &Facts) -> Result<Context<'static, 'static>, String> {
        let mut context = Context::with_env(LANGUAGE.clone());
        for (name, value) in &facts.texts {
            context.add_variable_from_value(*name, value.clone());
        }
        let scores = facts.risk_scores.iter().map(|(name, score)| ((*name).to_owned(), *score));
        context.add_variable_from_value("riskScores", scores.collect::<std::collections::HashMap<String, i64>>());
        context.add_function("matches", self.patterns.clone().matches()).map_err(|error| error.to_string())?;
        Ok(context)
    }
}

fn compile(condition: &str, patterns: &mut Patterns, budget: &mut Budget) -> Result<CompiledCondition, ConditionRefusal> {
    // This is the maximum number of steps for parsing; the actual number is known only after
    // parsing.
    let copied = condition.matches('(').count().min(usize::from(MAX_NESTED)) + chained(condition);
    let max_steps = (condition.len() * (25 + 2 * copied) / 5) as u64;
    budget.work(max_steps)?;
    let parser = PrattParser::new().max_recursion_depth(MAX_NESTED).error_recovery_limit(0);
    let expression = parser.parse(condition).map_err(|errors| ConditionRefusal::Syntax(first(&errors)))?;
    let cost = cost::estimate(&expression, patterns, budget)?;
    budget.refund(max_steps);
    let read = condition.len() / READ_PER_STEP + marks(condition) * STEPS_PER_MARK;
    budget.work((read + cost.nodes * STEPS_PER_NODE + cost.copies) as u64)?;
    budget.keep(cost.bytes)?;
    budget.work(cost.steps)?;
    Ok(CompiledCondition { expression, invalid: cost.invalid })
}

/// The maximum number of calls or indices that follow a call; calls in strings and comments are
/// counted too.
fn chained(condition: &str) -> usize {
    let after = condition.split(')').skip(1).map(str::trim_start);
    after.filter(|rest| rest.starts_with(['.', '[', '/'])).count()
}

/// The maximum number of operators and brackets in a condition.
fn marks(condition: &str) -> usize {
    condition.bytes().filter(|byte| byte.is_ascii_punctuation() && !b"._,'\"".contains(byte)).count()
}

/// The first error with a position.
fn first(errors: &ParseErrors) -> String {
    let first = errors.errors.iter().find(|error| error.pos.0 > 0).or(errors.errors.first());
    first.map(|error| first_line(&error.to_string())).unwrap_or_default()
}

impl CompiledCondition {
    fn status(&self, context: &Context<'_, '_>) -> Status {
        match Value::resolve(&self.expression, context) {
            Ok(Value::Bool(true)) => Status::Matched,
            Ok(Value::Bool(false)) => Status::NotMatched,
            Ok(_) => Status::Error("the condition does not evaluate to a boolean".to_owned()),
            Err(error) => Status::Error(first_line(&error.to_string())),
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().chars().take(200).collect()
}

impl Attempt<'_> {
    /// The facts about the sign-up, as variables for conditions.
    pub fn facts(&self) -> Facts {
        // The bounds computed in `cost` assume texts of at most these lengths.
        let text = |value: Option<&str>| value.filter(|text| text.len() <= MAX_TEXT).unwrap_or_default().to_owned();
        let name = |value: Option<&str>| text(value.filter(|name| name.len() <= MAX_NAME));
        Facts {
            texts: [
                ("email", text(self.email.map(Email::as_str))),
                ("emailDomain", text(Some(self.email_domain()))),
                ("authMethod", name(Some(self.method.name()))),
                ("oauthProvider", name(Some(self.method.provider()))),
                ("countryCode", name(self.country_code)),
            ],
            risk_scores: [("bot", self.risk.bot), ("free_trial_abuse", self.risk.free_trial_abuse)]
                .map(|(name, score)| (name, score.value().into())),
        }
    }
}
