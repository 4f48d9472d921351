//! Rules for sign-ups (`auth.signUpRules`), each with a condition in the Common Expression Language
//! and an action for sign-ups that meet it ([`evaluate`](crate::sign_up::verdict::evaluate)).
//!
//! | variable | type | value |
//! |---|---|---|
//! | `email` | string | the address of the sign-up, in lower case; empty without an address |
//! | `emailDomain` | string | the part of `email` after the `@`; empty without an address |
//! | `authMethod` | string | `password`, `otp`, `oauth` or `passkey` |
//! | `oauthProvider` | string | the provider's id if `authMethod` is `oauth`; otherwise empty |
//! | `countryCode` | string | origin of the request, in ISO 3166-1 alpha-2; empty if unknown |
//! | `riskScores.bot`, `riskScores.free_trial_abuse` | int | the scores set by a server, 0 to 100; 0 if none |
//!
//! The function `matches` takes a regular expression. A condition is evaluated once when it is set,
//! so that most mistakes are found then instead of during a sign-up. The rules of a project share
//! one budget of work and memory (`budget`).

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::email::Email;
use crate::sign_up::risk::SignUpRisk;

/// The maximum number of rules in a project. The number is limited because requests read all rules,
/// and a sign-up may evaluate all of them.
pub const MAX_RULES: usize = 50;

/// A sign-up rule of a project.
#[wire::optional]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignUpRule {
    /// The id: 1 to 63 characters from a-z, A-Z, 0-9, - and _.
    pub id: String,
    /// Whether the rule is evaluated.
    #[deserr(default = true)]
    pub enabled: bool,
    /// A name for administrators, one line of at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Rules with a higher priority are evaluated first; rules with the same priority are evaluated
    /// in the order of their ids.
    #[deserr(default)]
    pub priority: u32,
    /// The condition in the Common Expression Language, at most 2048 bytes.
    #[schema(example = "emailDomain == \"example.com\"")]
    pub condition: String,
    /// What happens if the condition is true.
    pub action: RuleAction,
}

/// The action of a rule, and a note about it.
#[wire::optional]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RuleAction {
    /// The effect of the rule on a sign-up.
    #[deserr(rename = "type")]
    pub r#type: ActionType,
    /// A note for administrators, at most 500 characters. Users never see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The effect of a rule on a sign-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ActionType {
    /// The user signs up, and no later rule is evaluated.
    Allow,
    /// The sign-up is rejected, and no later rule is evaluated.
    Reject,
    /// The user is restricted, as if by an administrator, unless a later rule or the default action
    /// rejects the sign-up.
    Restrict,
    /// The match is logged, and the next rule is evaluated.
    Log,
}

/// What happens when no rule allows or rejects the sign-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum DefaultAction {
    /// The user signs up.
    #[default]
    Allow,
    /// The sign-up is refused.
    Reject,
}

/// The method of a sign-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod<'a> {
    /// The user signs up with a password.
    Password,
    /// The user signs up with an emailed code or link.
    Otp,
    /// The user signs up with an account at the provider with this id.
    OAuth(&'a str),
    /// The user signs up with a passkey. No operation offers sign-ups with a passkey, but
    /// administrators can test the rules with this method.
    Passkey,
}

impl<'a> AuthMethod<'a> {
    /// The name of the method in conditions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Otp => "otp",
            Self::OAuth(_) => "oauth",
            Self::Passkey => "passkey",
        }
    }

    /// The id of the provider; empty for all other methods.
    pub fn provider(self) -> &'a str {
        match self {
            Self::OAuth(provider) => provider,
            Self::Password | Self::Otp | Self::Passkey => "",
        }
    }
}

/// The facts about a sign-up that conditions use.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The address of the sign-up, if any.
    pub email: Option<&'a Email>,
    /// The method of signing up.
    pub method: AuthMethod<'a>,
    /// The country of the request, if known.
    pub country_code: Option<&'a str>,
    /// The risk scores that a server has set.
    pub risk: SignUpRisk,
}

impl Attempt<'_> {
    /// The part of the address after the `@`; empty without an address.
    pub fn email_domain(&self) -> &str {
        self.email.and_then(|email| email.as_str().rsplit_once('@')).map(|(_, domain)| domain).unwrap_or_default()
    }
}
