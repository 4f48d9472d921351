//! No log contains a secret that the tests send or receive, even at the most verbose level of a
//! deployment.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use support::KeptLog;
use support::secrets::Secret;

use crate::WHOLE_RUN;

/// Values of at least this length are searched for everywhere. Shorter values count only as
/// separate words, because they may occur within a word or a number.
const LONG: usize = 16;

/// The values of secrets that a log contains, verbatim or encoded as in JSON and URLs.
fn leaked<'s>(log: &str, secrets: &'s [Secret]) -> BTreeSet<&'s str> {
    let in_json = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let in_url = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let forms: Vec<(String, &Secret)> =
        secrets.iter().flat_map(|it| [it.value.clone(), in_json(&it.value), in_url(&it.value)].map(|form| (form, it))).collect();
    let finder = AhoCorasick::new(forms.iter().map(|(form, _)| form)).unwrap();
    let is_apart = |start: usize, end: usize| {
        let is_free = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
        is_free(start.checked_sub(1).and_then(|before| log.as_bytes().get(before))) && is_free(log.as_bytes().get(end))
    };
    let found = finder.find_overlapping_iter(log).filter(|it| it.len() >= LONG || is_apart(it.start(), it.end()));
    found.map(|it| forms[it.pattern()].1.value.as_str()).collect()
}

/// The number of secrets with each name.
fn counts(secrets: &[Secret]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for secret in secrets {
        *counts.entry(secret.name.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn no_log_contains_a_secret_of_the_tests() {
    let run = &*WHOLE_RUN;
    let (counts, lines) = (counts(&run.secrets), run.log.lines().count());
    for (name, least) in [
        ("access_token", 500),
        ("access-token", 500),
        ("admin-access-token", 20),
        ("attempt_code", 10),
        ("client_secret", 5),
        ("code", 200),
        ("code_verifier", 1),
        ("cookie", 2),
        ("nonce", 100),
        ("otp", 3),
        ("password", 50),
        ("password_hash", 5),
        ("publishable-client-key", 10),
        ("refresh_token", 500),
        ("refresh-token", 200),
        ("secret-server-key", 10),
        ("state", 100),
        ("super-secret-admin-key", 10),
        ("totp", 10),
        ("totp_secret_base64", 3),
    ] {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!(count >= least, "only {count} secrets are named {name}: {counts:?}");
    }
    assert!(lines > 10_000, "only {lines} lines were logged");
    // Only the names are shown, because the log of this test must not contain secrets either.
    let leaked = leaked(&run.log, &run.secrets);
    let names: BTreeSet<&str> = run.secrets.iter().filter(|it| leaked.contains(it.value.as_str())).map(|it| it.name.as_str()).collect();
    assert!(names.is_empty(), "the log contains {} secrets: {names:?}", leaked.len());
}

#[test]
fn a_logged_secret_is_detected() {
    let secrets = &WHOLE_RUN.secrets;
    let first: BTreeMap<&str, &str> = secrets.iter().rev().map(|it| (it.name.as_str(), it.value.as_str())).collect();
    let kept = KeptLog::default();
    let keeping = kept.keep();
    for secret in first.values() {
        tracing::info!(value = format!("it is {secret} there"), "a secret");
    }
    drop(keeping);
    let log = kept.text();
    let leaked = leaked(&log, secrets);
    for (name, secret) in first {
        assert!(leaked.contains(secret), "a {name} in the log is not detected");
    }
}
