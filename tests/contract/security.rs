//! The security of the deployment template: which functions get the secret, what roles may do,
//! protection against floods, and more.

use std::collections::BTreeSet;

use api::http::{Interface, Need};
use infra::template::{logical_id, route_key};
use infra::{operations, workers};
use serde_json::{Value, json};
use store::content;

use crate::template::resources;
use crate::tree;

/// The environment variables with the secrets that keys are derived from.
const SECRETS: [&str; 2] = ["GATELET_SECRET", "GATELET_SECRET_PREVIOUS"];
/// CloudFormation's limit on the number of dynamic references in a template.
const MAX_REFERENCES: usize = 60;

fn variables(function: &Value) -> BTreeSet<String> {
    let variables = function["Properties"]["Environment"]["Variables"].as_object();
    variables.into_iter().flat_map(|variables| variables.keys().cloned()).collect()
}

/// The names of all functions, and whether their code derives keys from the deployment secret.
fn functions() -> Vec<(&'static str, bool)> {
    let operations = operations::all().into_iter().map(|operation| (operation.route.name, operation.route.needs.has(Need::Secret)));
    operations.chain(workers::ALL.map(|worker| (worker.name, worker.needs.has(Need::Secret)))).collect()
}

#[test]
fn a_function_has_the_deployment_secret_if_and_only_if_it_derives_keys() {
    let resources = resources();
    for (name, uses_secret) in functions() {
        let variables = variables(&resources[&logical_id(name)]);
        for secret in SECRETS {
            assert_eq!(variables.contains(secret), uses_secret, "{name}: {secret}");
        }
    }
    for (name, stack) in tree::stacks() {
        let all = &stack["Globals"]["Function"]["Environment"]["Variables"];
        assert!(all["GATELET_TABLE"].is_string(), "{name} has no variables for all its functions");
        assert!(SECRETS.iter().all(|secret| all[*secret].is_null()), "{name} gives the secret to all its functions");
    }
}

#[test]
fn functions_that_need_no_secret_have_none() {
    let without: BTreeSet<&str> = functions().into_iter().filter(|(_, uses_secret)| !uses_secret).map(|(name, _)| name).collect();
    for name in ["edge-health", "edge-welcome", "edge-fallback", "workers-mail-reports", "workers-endings", "workers-changes"] {
        assert!(without.contains(name), "{name} has the secret");
    }
    let operations = operations::all();
    let content = operations.iter().filter(|operation| operation.route.interface == Interface::Content);
    assert!(content.map(|operation| operation.route.name).all(|name| without.contains(name)), "public content needs no secret");
    assert!(tree::stacks()["content"]["Parameters"]["Secret"].is_null(), "the stack of the content receives the secret");
    let mut pages = operations.iter().filter(|operation| operation.route.interface == Interface::Pages);
    assert!(pages.all(|page| !without.contains(page.route.name)), "functions of pages do not start without the secret");
}

/// An operation of the product API whose response is the same for everyone.
const CACHED: &str = "projects-issuer-metadata-discover";

#[test]
fn a_distribution_caches_no_path_of_the_product_api() {
    let template = tree::template();
    let behaviors = template["Resources"]["CloudFront"]["Properties"]["DistributionConfig"]["CacheBehaviors"].as_array().unwrap();
    assert!((4..=25).contains(&behaviors.len()), "a distribution has at most 25: {}", behaviors.len());
    let patterns: Vec<&str> = behaviors.iter().map(|behavior| behavior["PathPattern"].as_str().unwrap()).collect();
    for operation in operations::all().iter().filter(|operation| operation.route.interface == Interface::Product) {
        let path = operation.route.path;
        let is_cached = |pattern: &&str| pattern.strip_suffix('*').map_or(*pattern == path, |start| path.starts_with(start));
        assert_eq!(patterns.iter().any(is_cached), operation.route.name == CACHED, "{path}");
    }
}

/// By default, CloudFront keeps errors for ten seconds, by path only and regardless of
/// `cache-control`. Everyone would therefore get an error that someone else has caused.
#[test]
fn a_distribution_caches_no_errors() {
    let template = tree::template();
    let errors = &template["Resources"]["CloudFront"]["Properties"]["DistributionConfig"]["CustomErrorResponses"];
    for status in [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504] {
        let is_not_kept = |error: &serde_json::Value| error["ErrorCode"] == status && error["ErrorCachingMinTTL"] == 0;
        assert!(errors.as_array().unwrap().iter().any(is_not_kept), "{status}");
    }
}

/// Operations without an access level. These operations do not verify access tokens, but need the
/// secret for another purpose.
const SECRET_WITHOUT_ACCESS: [(&str, &str); 22] = [
    ("auth-challenge-create", "signs challenges"),
    ("auth-not-me", "seals the code of its email"),
    ("auth-oauth-authorize", "seals the verifier of the flow"),
    ("auth-oauth-callback", "opens the verifier of the flow"),
    ("auth-oauth-callback-form", "opens the verifier of the flow"),
    ("auth-oauth-client-introspect", "verifies access tokens of clients"),
    ("auth-oauth-client-revoke", "verifies access tokens of clients"),
    ("auth-oauth-client-token", "signs tokens, and seals refresh tokens"),
    ("auth-oauth-token", "signs access tokens"),
    ("hosted-account-show", "calls operations that verify access tokens"),
    ("hosted-account-submit", "calls operations that verify access tokens, and seals flows"),
    ("hosted-authorization-show", "calls an operation that accepts access tokens"),
    ("hosted-authorization-submit", "calls an operation that accepts access tokens"),
    ("hosted-logout-show", "visits a page, whose forms have tokens"),
    ("hosted-logout-submit", "visits a page, whose forms have tokens"),
    ("hosted-page-show", "calls operations that sign access tokens, and seals flows"),
    ("hosted-page-submit", "calls operations that sign access tokens"),
    ("keys-exposed-key-revoke", "seals the link of its email"),
    ("openid-userinfo-form", "verifies access tokens of clients"),
    ("openid-userinfo-read", "verifies access tokens of clients"),
    ("projects-jwks-read", "publishes the keys that it derives"),
    ("users-contact-channel-release", "seals the links of its emails"),
];

#[test]
fn operations_without_tokens_state_why_they_have_the_secret() {
    let operations = operations::all();
    let found = operations.iter().filter(|operation| operation.description.level.is_none() && operation.route.needs.has(Need::Secret));
    let known = SECRET_WITHOUT_ACCESS.iter().map(|(name, _)| *name);
    assert_eq!(found.map(|operation| operation.route.name).collect::<BTreeSet<_>>(), known.collect());
}

#[test]
fn nested_stacks_reveal_no_secret() {
    for (name, stack) in tree::stacks() {
        for (parameter, definition) in stack["Parameters"].as_object().unwrap() {
            let is_secret = parameter.ends_with("Secret");
            assert_eq!(definition["NoEcho"] == true, is_secret, "{name}: {parameter}");
        }
    }
}

#[test]
fn a_template_stays_below_the_limit_of_dynamic_references() {
    let templates = tree::stacks().into_values().chain([tree::template()]);
    for template in templates {
        let references = template.to_string().matches("{{resolve:").count();
        assert!(references <= MAX_REFERENCES, "{}: {references}", template["Description"]);
    }
}

#[test]
fn a_role_is_limited_to_the_partitions_of_its_route() {
    let resources = resources();
    let routes = operations::all().into_iter().map(|operation| (operation.route.name, operation.route.table.partitions));
    for (name, partitions) in routes.chain(workers::ALL.map(|worker| (worker.name, &[][..]))) {
        let statements = &resources[&format!("{}Role", logical_id(name))]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"];
        let Some(table) = statements.as_array().unwrap().iter().find(|statement| statement["Sid"] == "Table") else { continue };
        let wanted = if partitions.is_empty() {
            json!({ "ForAllValues:StringNotEquals": { "dynamodb:LeadingKeys": [content::PARTITION] } })
        } else {
            json!({ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": partitions } })
        };
        assert_eq!(table["Condition"], wanted, "{name}");
        let indexes = table["Resource"].as_array().unwrap().iter().filter(|arn| arn.as_str().unwrap().contains("/index/"));
        assert!(
            partitions.is_empty() || indexes.count() == 0,
            "{name} may read indexes, to which its condition on partitions does not apply"
        );
    }
}

#[test]
fn operations_that_hash_or_send_codes_have_their_own_throttle() {
    let template = tree::template();
    let stage = &template["Resources"]["ApiStage"];
    let operations = operations::all();
    let costly = operations.iter().map(|operation| &operation.route).filter(|route| route.is_costly());
    let wanted: BTreeSet<String> = costly.map(|route| route_key(route.verb.name(), route)).collect();
    assert!(wanted.contains("POST /api/{version}/auth/password/sign-in"), "{wanted:?}");
    assert!(wanted.contains("POST /api/{version}/auth/otp/send-sign-in-code"), "{wanted:?}");
    let settings = stage["Properties"]["RouteSettings"].as_object().unwrap();
    assert_eq!(settings.keys().cloned().collect::<BTreeSet<_>>(), wanted);
    // API Gateway rejects settings for a route that does not exist yet.
    let after: BTreeSet<&str> = stage["DependsOn"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    for (name, _) in tree::stacks().into_iter().filter(|(name, _)| name != "workers") {
        assert!(after.contains(logical_id(&name).as_str()), "the stage is created before the stack {name}");
    }
}

#[test]
fn stacks_change_the_api_one_at_a_time_and_the_workers_come_first() {
    let root = tree::template();
    assert!(root["Resources"]["Workers"]["DependsOn"].is_null());
    let stacks = tree::stacks().into_keys().filter(|name| name != "workers").map(|name| logical_id(&name));
    let mut before = "Workers".to_owned();
    for id in stacks {
        assert_eq!(root["Resources"][&id]["DependsOn"].as_str(), Some(before.as_str()), "{id}");
        before = id;
    }
}

#[test]
fn concurrency_can_be_reserved_for_token_refreshes_and_webhooks() {
    let resources = resources();
    let reserved = resources.iter().filter(|(_, one)| !one["Properties"]["ReservedConcurrentExecutions"].is_null());
    let wanted = BTreeSet::from(["AuthOauthClientToken", "AuthOauthToken", "AuthSessionRefresh", "WorkersWebhooks"]);
    assert_eq!(reserved.map(|(id, _)| id.as_str()).collect::<BTreeSet<_>>(), wanted);
    // By default, no concurrency is reserved, because accounts with a low quota could not deploy
    // the stack.
    for parameter in ["RefreshConcurrency", "WebhookConcurrency"] {
        assert_eq!(tree::template()["Parameters"][parameter]["Default"], 0, "{parameter}");
    }
}

#[test]
fn the_log_of_the_api_is_json_with_the_id_of_each_request_and_no_secret() {
    let template = tree::template();
    let format = template["Resources"]["ApiStage"]["Properties"]["AccessLogSettings"]["Format"].as_str().unwrap();
    let format: Value = serde_json::from_str(format).unwrap();
    assert_eq!(format["requestId"], "$context.requestId");
    for value in format.as_object().unwrap().values() {
        let value = value.as_str().unwrap();
        assert!(value.starts_with("$context."), "{value}");
        assert!(!value.contains("authorizer") && !value.contains("query"), "{value} may contain a secret");
    }
}

/// Metrics per route cost $0.30 a month for each route, and there are more than a hundred routes.
#[test]
fn metrics_of_single_routes_are_off() {
    let root = tree::template();
    assert_eq!(root["Resources"]["ApiStage"]["Properties"]["DefaultRouteSettings"]["DetailedMetricsEnabled"], false);
}

#[test]
fn account_wide_names_include_the_region() {
    let root = tree::template();
    let resources = &root["Resources"];
    for name in [
        &resources["ContentCache"]["Properties"]["CachePolicyConfig"]["Name"],
        &resources["ContentCachePage"]["Properties"]["CachePolicyConfig"]["Name"],
        &resources["Dashboard"]["Properties"]["DashboardName"],
        &resources["Budget"]["Properties"]["Budget"]["BudgetName"],
    ] {
        assert!(name.as_str().unwrap().contains("${AWS::Region}"), "{name}");
    }
}
