//! `POST /api/v1/internal/sign-up-rules-test`: evaluates the project's sign-up rules for a
//! hypothetical sign-up. Nothing is created, counted or logged.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::Error;
use model::email::Email;
use model::sign_up::program::Status;
use model::sign_up::risk::SignUpRisk;
use model::sign_up::rule::{Attempt, AuthMethod, DefaultAction, RuleAction, SignUpRule};
use model::sign_up::verdict::{Decision, Verdict};
use model::user::values::CountryCode;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("projects-sign-up-rules-test", "/api/v1/internal/sign-up-rules-test")
    .summary("Evaluates the sign-up rules for a hypothetical sign-up")
    .table(&[BatchGetItem])
    .writes_nothing();

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ImaginedSignUp {
    /// The email address. `null` for a sign-up without an email address.
    email: Option<Email>,
    auth_method: Method,
    /// The provider's id for an `oauth` sign-up, and `null` for any other sign-up. If the id is
    /// invalid, conditions see an empty text.
    oauth_provider: Option<String>,
    /// ISO 3166-1 alpha-2. `null` if the country is unknown.
    #[schema(value_type = Option<String>, example = "DE")]
    country_code: Option<CountryCode>,
    /// The result of the bot challenge, which conditions do not see. It is repeated in the
    /// response.
    #[deserr(default)]
    turnstile_result: ChallengeResult,
    /// The risk scores that a server would set. Default: 0.
    #[deserr(default)]
    risk_scores: SignUpRisk,
}

/// How the user would sign up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, ToSchema)]
#[deserr(rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub enum Method {
    Password,
    Otp,
    #[deserr(rename = "oauth")]
    #[schema(rename = "oauth")]
    OAuth,
    Passkey,
}

#[derive(Debug, Clone, Copy, Default, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ChallengeResult {
    #[default]
    Ok,
    Invalid,
    Error,
}

#[derive(Serialize, ToSchema)]
pub struct TestResult {
    context: TestContext,
    /// The results of the rules in the order in which they are evaluated, up to the deciding rule.
    evaluations: Vec<RuleResult>,
    /// The outcome of the sign-up.
    outcome: TestOutcome,
}

/// The values that conditions see, and the result of the bot challenge.
#[derive(Serialize, ToSchema)]
pub struct TestContext {
    email: String,
    /// The part after the `@`. Empty if there is no email address.
    email_domain: String,
    /// ISO 3166-1 alpha-2. Empty if the country is unknown.
    country_code: String,
    /// `password`, `otp`, `oauth` or `passkey`.
    auth_method: &'static str,
    /// The id of the provider if `auth_method` is `oauth`, and empty otherwise.
    oauth_provider: String,
    /// The result from the request, which conditions do not see.
    turnstile_result: ChallengeResult,
    /// The scores from the request.
    risk_scores: SignUpRisk,
}

#[derive(Serialize, ToSchema)]
pub struct RuleResult {
    /// The id of the rule.
    rule_id: String,
    display_name: Option<String>,
    enabled: bool,
    /// The condition in the Common Expression Language.
    condition: String,
    /// `matched`, `not_matched`, `disabled` or `error`.
    status: &'static str,
    action: RuleAction,
    /// The reason why the condition has no result and counts as false. The condition cannot be
    /// evaluated for these values, or it was skipped because it exceeds the evaluation budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct TestOutcome {
    /// Whether the user would be created.
    should_allow: bool,
    /// `allow`, `reject`, `default-allow` or `default-reject`.
    decision: &'static str,
    /// The rule that decides. `null` if the project's default action decides.
    decision_rule_id: Option<String>,
    /// The rule that would restrict the user. `null` if no rule would restrict the user.
    restricted_because_of_rule_id: Option<String>,
}

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<ImaginedSignUp>) -> Result<Json<TestResult>, Error> {
    let provider = body.oauth_provider.unwrap_or_default();
    let method = match body.auth_method {
        Method::Password => AuthMethod::Password,
        Method::Otp => AuthMethod::Otp,
        Method::OAuth => AuthMethod::OAuth(&provider),
        Method::Passkey => AuthMethod::Passkey,
    };
    let country_code = body.country_code.as_ref().map(|code| code.0.as_str());
    let attempt = Attempt { email: body.email.as_ref(), method, country_code, risk: body.risk_scores };
    let verdict = access.app.sign_up_rules.judge(&access.project, &attempt).await?;
    Ok(Json(TestResult {
        context: TestContext {
            email: body.email.as_ref().map(ToString::to_string).unwrap_or_default(),
            email_domain: attempt.email_domain().to_owned(),
            country_code: country_code.unwrap_or_default().to_owned(),
            auth_method: method.name(),
            oauth_provider: method.provider().to_owned(),
            turnstile_result: body.turnstile_result,
            risk_scores: body.risk_scores,
        },
        outcome: outcome(&verdict),
        evaluations: verdict.evaluations.into_iter().map(|(rule, status)| result(rule, status)).collect(),
    }))
}

fn result(rule: &SignUpRule, status: Status) -> RuleResult {
    let (status, error) = match status {
        Status::Matched => ("matched", None),
        Status::NotMatched => ("not_matched", None),
        Status::Disabled => ("disabled", None),
        Status::Error(reason) => ("error", Some(reason)),
    };
    RuleResult {
        rule_id: rule.id.clone(),
        display_name: rule.display_name.clone(),
        enabled: rule.enabled,
        condition: rule.condition.clone(),
        status,
        action: rule.action.clone(),
        error,
    }
}

fn outcome(verdict: &Verdict<'_>) -> TestOutcome {
    let (decision, rule) = match verdict.decision {
        Decision::Allow(rule) => ("allow", Some(rule)),
        Decision::Reject(rule) => ("reject", Some(rule)),
        Decision::Default(DefaultAction::Allow) => ("default-allow", None),
        Decision::Default(DefaultAction::Reject) => ("default-reject", None),
    };
    let should_allow = verdict.admits();
    let restricted_by = verdict.restricted_by.filter(|_| should_allow);
    TestOutcome {
        should_allow,
        decision,
        decision_rule_id: rule.map(|rule| rule.id.clone()),
        restricted_because_of_rule_id: restricted_by.map(|rule| rule.id.clone()),
    }
}
