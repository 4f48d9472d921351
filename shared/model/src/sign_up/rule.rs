//! Rules about who may sign up (`auth.signUpRules`): conditions in the Common Expression Language, the first that is true
//! decides.
//!
//! | variable | type | value |
//! |---|---|---|
//! | `email`, `emailDomain` | string | the address that signs up, in lower case; empty without one |
//! | `authMethod` | string | `password`, `otp` or `oauth` |
//! | `oauthProvider` | string | id of the provider; empty otherwise |
//! | `countryCode` | string | ISO 3166-1 alpha-2 of where the request came from; empty when that is unknown |
//! | `riskScores.bot`, `riskScores.free_trial_abuse` | int | 0 to 100 |
//!
//! `matches` takes a regular expression. A condition is tried when it is set, so that one that makes no sense is not found by a user.

use std::collections::HashMap;
use std::sync::Arc;

use cel::extractors::This;
use cel::parser::PrattParser;
use cel::{Context, ExecutionError, Value};
use deserr::Deserr;
use regex_lite::RegexBuilder;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::email::Email;
use crate::sign_up::risk::SignUpRisk;
use crate::text::line;
use crate::user::restriction::Restriction;

/// How many rules a project may have: all are read with every request, and tried at every sign-up.
pub const MAX_RULES: usize = 50;
/// Longest condition, in bytes.
const MAX_CONDITION: usize = 2048;
/// Largest regular expression, compiled, in bytes.
const MAX_REGEX: usize = 64 * 1024;
/// Longest message, in characters.
const MAX_MESSAGE: usize = 500;

/// A rule of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignUpRule {
    /// 1 to 63 of a-z, A-Z, 0-9, - and _.
    pub id: String,
    #[deserr(default = true)]
    pub enabled: bool,
    #[deserr(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The highest is tried first; of equal ones, in the order of their ids.
    #[deserr(default)]
    pub priority: u32,
    /// In the Common Expression Language, at most 2048 bytes.
    #[schema(example = "emailDomain == \"example.com\"")]
    pub condition: String,
    pub action: RuleAction,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RuleAction {
    #[deserr(rename = "type")]
    pub r#type: ActionType,
    /// What whoever is rejected or restricted is told, at most 500 characters.
    #[deserr(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a rule does with a sign-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ActionType {
    Allow,
    Reject,
    /// The user signs up, and is restricted as by an administrator.
    Restrict,
    /// The log says so, and the next rule is tried.
    Log,
}

/// What happens to whom no rule is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum DefaultAction {
    #[default]
    Allow,
    Reject,
}

/// By what somebody signs up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod<'a> {
    Password,
    Otp,
    /// With the provider's id.
    OAuth(&'a str),
}

/// What is known of whoever signs up.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    pub email: Option<&'a Email>,
    pub method: AuthMethod<'a>,
    pub country_code: Option<&'a str>,
    pub risk: SignUpRisk,
}

/// What the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Restrict(Restriction),
    Reject { message: String },
}

/// Why a rule cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    #[error("must be 1 to 63 of a-z, A-Z, 0-9, - and _")]
    Id,
    #[error(transparent)]
    DisplayName(line::NotALine),
    #[error("must have at most {MAX_MESSAGE} characters")]
    Message,
    #[error("must have 1 to {MAX_CONDITION} bytes")]
    Length,
    #[error("is no expression that is true or false: {0}")]
    Condition(String),
}

impl InvalidRule {
    /// The field that it is about.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::DisplayName(_) => "display_name",
            Self::Message => "action.message",
            Self::Length | Self::Condition(_) => "condition",
        }
    }
}

impl SignUpRule {
    pub fn check(&self) -> Result<(), InvalidRule> {
        let is_id = (1..=63).contains(&self.id.len()) && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        if !is_id {
            return Err(InvalidRule::Id);
        }
        line::check(self.display_name.as_deref().unwrap_or_default(), line::OPTIONAL_NAME).map_err(InvalidRule::DisplayName)?;
        if self.action.message.as_ref().is_some_and(|message| message.chars().count() > MAX_MESSAGE) {
            return Err(InvalidRule::Message);
        }
        if !(1..=MAX_CONDITION).contains(&self.condition.len()) {
            return Err(InvalidRule::Length);
        }
        let nobody = Attempt { email: None, method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
        self.applies(&nobody).map(drop).map_err(InvalidRule::Condition)
    }

    fn applies(&self, attempt: &Attempt<'_>) -> Result<bool, String> {
        let expression = PrattParser::new().parse(&self.condition).map_err(|errors| first_line(&errors.to_string()))?;
        match Value::resolve(&expression, &attempt.context()?) {
            Ok(Value::Bool(applies)) => Ok(applies),
            Ok(_) => Err("it has another value".to_owned()),
            Err(error) => Err(first_line(&error.to_string())),
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().chars().take(200).collect()
}

impl Attempt<'_> {
    fn context(&self) -> Result<Context<'static, 'static>, String> {
        let (method, provider) = match self.method {
            AuthMethod::Password => ("password", ""),
            AuthMethod::Otp => ("otp", ""),
            AuthMethod::OAuth(provider) => ("oauth", provider),
        };
        let email = self.email.map(ToString::to_string).unwrap_or_default();
        let domain = email.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default();
        let country = self.country_code.unwrap_or_default().to_owned();
        let risk = [("bot", self.risk.bot), ("free_trial_abuse", self.risk.free_trial_abuse)];
        let risk: HashMap<String, i64> = risk.into_iter().map(|(name, score)| (name.to_owned(), score.value().into())).collect();
        let mut context = Context::default();
        for (name, value) in [
            ("email", email),
            ("emailDomain", domain),
            ("authMethod", method.to_owned()),
            ("oauthProvider", provider.to_owned()),
            ("countryCode", country),
        ] {
            context.add_variable_from_value(name, value);
        }
        context.add_variable_from_value("riskScores", risk);
        context.add_function("matches", matches).map_err(|error| error.to_string())?;
        Ok(context)
    }
}

fn matches(This(text): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    let regex = RegexBuilder::new(&pattern).size_limit(MAX_REGEX).build();
    regex.map(|regex| regex.is_match(&text)).map_err(|error| ExecutionError::function_error("matches", error))
}

/// What the rules of a project say of somebody who signs up.
pub fn judge(rules: &[SignUpRule], default: DefaultAction, attempt: &Attempt<'_>) -> Verdict {
    let mut rules: Vec<&SignUpRule> = rules.iter().filter(|rule| rule.enabled).collect();
    rules.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.id.cmp(&b.id)));
    for rule in rules {
        match rule.applies(attempt) {
            Ok(false) => continue,
            // It was tried when it was set; a value of this one user's makes it fail, as an index out of a split address does.
            Err(reason) => {
                tracing::warn!(rule = rule.id, reason, "a sign-up rule could not be decided and was passed over");
                continue;
            }
            Ok(true) => {}
        }
        match rule.action.r#type {
            ActionType::Allow => return Verdict::Allow,
            ActionType::Reject => return Verdict::rejected(rule.action.message.as_deref()),
            ActionType::Restrict => {
                let private_details = Some(format!("sign-up rule {}", rule.id));
                return Verdict::Restrict(Restriction { reason: rule.action.message.clone(), private_details });
            }
            ActionType::Log => tracing::info!(rule = rule.id, "a sign-up rule applies"),
        }
    }
    match default {
        DefaultAction::Allow => Verdict::Allow,
        DefaultAction::Reject => Verdict::rejected(None),
    }
}
