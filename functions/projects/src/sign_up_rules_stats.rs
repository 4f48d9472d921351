//! `GET /api/v1/internal/sign-up-rules-stats`: returns the number of times that each sign-up rule
//! matched.
//!
//! A worker counts the matches from the audit log, so the counts may be a minute or two behind.

use std::collections::BTreeMap;

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use jiff::Timestamp;
use model::sign_up::rule::ActionType;
use serde::Serialize;
use store::metrics::{RuleCounts, SHOWN_HOURS, action_name, hour, hour_begins};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("projects-sign-up-rules-stats", "/api/v1/internal/sign-up-rules-stats")
    .summary("Returns how often each sign-up rule matched")
    .table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct RuleStats {
    /// The project's rules in the order of its settings, followed by deleted rules that matched in
    /// the last 48 hours.
    rule_triggers: Vec<RuleTriggers>,
    /// The number of hours in `hourly_counts`.
    analytics_hours: i64,
    /// The number of matches of all rules in the last 48 hours.
    total_triggers: u64,
    /// The number in `total_triggers`, split by the rule's action at the time of the match.
    triggers_by_action: ByAction,
}

/// The matches of a rule.
#[derive(Serialize, ToSchema)]
pub struct RuleTriggers {
    /// The id of the rule.
    rule_id: String,
    /// The number of matches in the last 48 hours.
    total_count: u64,
    /// The number of all counted matches of the rule.
    all_time_count: u64,
    /// The matches in the current hour and the 47 hours before it, oldest first.
    hourly_counts: Vec<HourCount>,
}

/// The number of matches in an hour.
#[derive(Serialize, ToSchema)]
pub struct HourCount {
    /// The time when the hour began (RFC 3339, UTC).
    #[schema(format = DateTime, example = "2026-01-01T12:00:00.000Z")]
    hour: String,
    /// The matches.
    count: u64,
}

#[derive(Serialize, ToSchema)]
pub struct ByAction {
    /// Matches of rules that allow the sign-up.
    allow: u64,
    /// Matches of rules that reject the sign-up.
    reject: u64,
    /// Matches of rules that restrict the user.
    restrict: u64,
    /// Matches of rules that only log.
    log: u64,
}

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<RuleStats>, Error> {
    let (project, now) = (&access.project, app.clock.now());
    let counts = app.store.rule_counts(&project.id, now).await?;
    let current = project.config.sign_up_rules.iter().map(|rule| rule.id.as_str());
    let mut rules: Vec<&str> = current.collect();
    let recent: BTreeMap<&str, u64> = sums(counts.by_hour.values().flatten());
    rules.extend(recent.keys().filter(|rule| !project.config.sign_up_rules.iter().any(|it| it.id == **rule)));
    let ever = sums(counts.ever.iter());
    let of_action = |action: ActionType| {
        let all = counts.by_hour.values().flatten().filter(|((_, of), _)| of == action_name(action));
        all.map(|(_, count)| count).sum()
    };
    Ok(Json(RuleStats {
        total_triggers: recent.values().sum(),
        triggers_by_action: ByAction {
            allow: of_action(ActionType::Allow),
            reject: of_action(ActionType::Reject),
            restrict: of_action(ActionType::Restrict),
            log: of_action(ActionType::Log),
        },
        analytics_hours: SHOWN_HOURS,
        rule_triggers: rules
            .into_iter()
            .map(|rule| RuleTriggers {
                rule_id: rule.to_owned(),
                total_count: recent.get(rule).copied().unwrap_or_default(),
                all_time_count: ever.get(rule).copied().unwrap_or_default(),
                hourly_counts: hourly(&counts, rule, now),
            })
            .collect(),
    }))
}

/// The number of matches of each rule, regardless of the action.
fn sums<'a>(counts: impl Iterator<Item = (&'a (String, String), &'a u64)>) -> BTreeMap<&'a str, u64> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for ((rule, _), count) in counts {
        *sums.entry(rule).or_default() += count;
    }
    sums
}

fn hourly(counts: &RuleCounts, rule: &str, now: Timestamp) -> Vec<HourCount> {
    let last = hour(now);
    let of = |hour: i64| {
        let of_hour = counts.by_hour.get(&hour).into_iter().flatten();
        of_hour.filter(|((of, _), _)| of == rule).map(|(_, count)| count).sum()
    };
    (last - SHOWN_HOURS + 1..=last).map(|hour| HourCount { hour: format!("{:.3}", hour_begins(hour)), count: of(hour) }).collect()
}
