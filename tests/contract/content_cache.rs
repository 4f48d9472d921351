//! The cache keys of the distribution. If a key contained anything that the operation does not
//! read, anyone could bypass the cache and make each request read the whole content again.

use std::collections::BTreeMap;

use infra::operations;
use serde_json::{Value, json};

use crate::tree;

/// The name of the cache policy of each cached path.
fn policies(root: &Value) -> BTreeMap<String, String> {
    let behaviours = &root["Resources"]["CloudFront"]["Properties"]["DistributionConfig"]["CacheBehaviors"];
    let policy = |one: &Value| (one["PathPattern"].as_str().unwrap().to_owned(), one["CachePolicyId"].as_str().unwrap().to_owned());
    behaviours.as_array().unwrap().iter().map(policy).collect()
}

/// The parts of a request that a cache key contains.
fn key(root: &Value, policy: &str) -> Value {
    root["Resources"][policy]["Properties"]["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"].clone()
}

#[test]
fn caches_tell_apart_only_what_the_operations_read() {
    let root = tree::template();
    let policies = policies(&root);
    assert!(policies.len() > 15, "{policies:?}");
    for (path, policy) in &policies {
        let wanted = match path.as_str() {
            "/blog" => json!({ "QueryStringBehavior": "whitelist", "QueryStrings": ["page"] }),
            "/api/v1/blog-posts" => json!({ "QueryStringBehavior": "whitelist", "QueryStrings": ["offset"] }),
            _ => json!({ "QueryStringBehavior": "none" }),
        };
        let key = key(&root, policy);
        assert_eq!(key["QueryStringsConfig"], wanted, "{path}");
        assert_eq!((&key["CookiesConfig"]["CookieBehavior"], &key["HeadersConfig"]["HeaderBehavior"]), (&json!("none"), &json!("none")));
    }
}

/// If there were several parameters, the operation would get only the first one.
#[test]
fn an_operation_of_the_content_reads_at_most_one_parameter() {
    let reading: Vec<_> = operations::all().into_iter().filter(|one| one.route.interface == api::http::Interface::Content).collect();
    let reading = reading.iter().filter_map(|one| Some((one.route.path, &one.description.query.as_ref()?.schema)));
    let names: Vec<_> = reading.map(|(path, schema)| (path, serde_json::to_value(schema).unwrap()["properties"].clone())).collect();
    let names = names.iter().map(|(path, fields)| (*path, fields.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(names.collect::<BTreeMap<_, _>>(), BTreeMap::from([("/api/v1/blog-posts", vec!["offset"]), ("/{document}", vec!["page"])]));
}
