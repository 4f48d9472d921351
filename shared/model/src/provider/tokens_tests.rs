use jiff::{SignedDuration, Timestamp};
use wire::entropy::Entropy;
use wire::id::ProviderAccountId;

use super::tokens::{NewTokens, ProviderTokens};
use crate::provider::account::ProviderAccount;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn tokens(scope: &str, refresh: Option<&str>) -> ProviderTokens {
    let sealed = |text: &str| serde_json::from_value(serde_json::json!(text)).unwrap();
    ProviderTokens {
        access: sealed("access"),
        refresh: refresh.map(sealed),
        refresh_scope: None,
        expires_at: Some(NOW + SignedDuration::from_hours(1)),
        scope: scope.to_owned(),
        is_revoked: false,
        refreshing_until: None,
        registration: None,
        confirmed_at: None,
        last_report: None,
    }
}

fn new(scope: &str, refresh: Option<&str>, replaces_wider: bool) -> NewTokens {
    let account = ProviderAccount {
        id: ProviderAccountId::from(Entropy::system().uuid()),
        provider_id: "acme".to_owned(),
        issuer: None,
        account_id: "1".to_owned(),
        email: None,
        allow_sign_in: true,
        allow_connected_accounts: true,
    };
    NewTokens { account, tokens: tokens(scope, refresh), replaces_wider }
}

#[test]
fn a_plain_sign_in_keeps_wider_tokens_and_other_flows_do_not() {
    let wide = tokens("openid calendar", Some("old"));
    assert_eq!(new("openid", Some("new"), false).replacing(Some(&wide), NOW), None);
    for flow in [new("openid", Some("new"), true), new("calendar,openid", Some("new"), false)] {
        assert_eq!(flow.replacing(Some(&wide), NOW), Some(flow.tokens.clone()));
    }
    assert_eq!(new("openid", None, false).replacing(None, NOW), Some(tokens("openid", None)));
}

#[test]
fn scopes_that_mean_the_same_are_no_wider() {
    let mut flow = new("openid email", Some("new"), false);
    flow.account.provider_id = "google".to_owned();
    let long = tokens("openid https://www.googleapis.com/auth/userinfo.email", Some("old"));
    assert_eq!(flow.replacing(Some(&long), NOW), Some(flow.tokens.clone()));
}

#[test]
fn wider_tokens_are_replaced_once_they_no_longer_work() {
    let flow = new("openid", None, false);
    let revoked = ProviderTokens { is_revoked: true, ..tokens("openid calendar", Some("old")) };
    assert_eq!(flow.replacing(Some(&revoked), NOW), Some(flow.tokens.clone()));
    let end = NOW + SignedDuration::from_hours(1);
    assert_eq!(flow.replacing(Some(&tokens("openid calendar", None)), NOW), None);
    assert_eq!(flow.replacing(Some(&tokens("openid calendar", None)), end), Some(flow.tokens.clone()));
    assert_eq!(flow.replacing(Some(&tokens("openid calendar", Some("old"))), end), None, "a refresh token can renew the stored tokens");
}

#[test]
fn an_old_refresh_token_is_kept_with_its_scopes() {
    let old = tokens("openid", Some("old"));
    let same = new("openid", None, false).replacing(Some(&old), NOW).unwrap();
    assert_eq!((&same.refresh, &same.refresh_scope), (&old.refresh, &None));
    let wider = new("openid calendar", None, true).replacing(Some(&old), NOW).unwrap();
    assert_eq!((&wider.refresh, wider.refresh_scope.as_deref()), (&old.refresh, Some("openid")));
    let again = new("openid calendar", None, false).replacing(Some(&wider), NOW).unwrap();
    assert_eq!((&again.refresh, again.refresh_scope.as_deref()), (&old.refresh, Some("openid")));
    let rotated = new("openid calendar", Some("new"), false).replacing(Some(&wider), NOW).unwrap();
    assert_eq!(rotated, tokens("openid calendar", Some("new")));
}

/// The refresh token may already have been used, and a provider may revoke all tokens if a refresh
/// token is used twice (RFC 9700 §4.14).
#[test]
fn a_refresh_token_in_use_is_not_kept() {
    let old = ProviderTokens { refreshing_until: Some(NOW + SignedDuration::from_secs(1)), ..tokens("openid", Some("old")) };
    assert_eq!(new("openid", None, false).replacing(Some(&old), NOW), None);
    assert_eq!(new("openid calendar", None, true).replacing(Some(&old), NOW), Some(tokens("openid calendar", None)));
    let free = NOW + SignedDuration::from_secs(1);
    assert!(new("openid", None, false).replacing(Some(&old), free).is_some_and(|new| new.refresh == old.refresh));
}
