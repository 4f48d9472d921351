use crate::project::redirect::*;

fn trusts(pattern: &str, url: &str) -> bool {
    let domains = [TrustedDomain { domain: pattern.to_owned(), handler_path: "/handler".to_owned() }];
    RedirectUrl::parse(url).is_ok_and(|url| Rules { allow_localhost: false, domains: &domains, own: None }.trust(&url))
}

#[test]
fn an_exact_domain_is_scheme_host_and_port() {
    let pattern = "https://app.example.com";
    for url in ["https://app.example.com", "https://app.example.com:443/a?b#c", "https://APP.example.com/"] {
        assert!(trusts(pattern, url), "{url}");
    }
    for url in [
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.test",
        "https://evil.test/app.example.com",
        "https://app.example.com@evil.test",
        "https://user@app.example.com",
        "https:\\\\evil.test\\app.example.com",
        "https://app.example.com.",
        "https://xapp.example.com",
    ] {
        assert!(!trusts(pattern, url), "{url}");
    }
}

#[test]
fn wildcards_match_only_host_labels() {
    assert!(parse_domain(&format!("https://{}.test", "a".repeat(249))).is_err(), "a host name has at most 253 bytes");
    assert!(trusts("https://*.example.com", "https://a.example.com/x"));
    assert!(!trusts("https://*.example.com", "https://a.b.example.com"));
    assert!(!trusts("https://*.example.com", "https://example.com"));
    assert!(!trusts("https://*.example.com", "https://a.example.com:8443"));
    assert!(trusts("https://**.example.com", "https://a.b.example.com"));
    assert!(trusts("https://pr-*.example.com:8443", "https://pr-12.example.com:8443"));
    assert!(!trusts("https://*.example.com", "https://evil.test/.example.com"));
}

#[test]
fn the_port_may_be_a_wildcard() {
    assert!(trusts("http://*:*", "http://box:3000") && trusts("https://app.example.com:*", "https://app.example.com/x"));
    assert!(trusts("https://*.example.com:*", "https://a.example.com:8443"));
    assert!(!trusts("https://*.example.com:*", "http://a.example.com:8443"), "the scheme still matters");
    assert!(!trusts("http://*:*", "http://a.b:3000") && !trusts("https://app.example.com:*", "https://evil.test:443"));
    assert!(!trusts("https://app.example.com:8*", "https://app.example.com:80"), "only the whole port");
}

/// A native app's scheme is trusted only in flows in which a code is useless without its PKCE
/// verifier.
#[test]
fn a_native_app_is_trusted_only_in_oauth_flows_and_only_if_it_is_listed() {
    let domain = |domain: &str| TrustedDomain { domain: domain.to_owned(), handler_path: "/handler".to_owned() };
    let domains = [domain("com.example.app://cb"), domain("stack-auth-mobile-oauth-url:")];
    let url = |text: &str| RedirectUrl::parse(text).expect("a URL");
    let (none, listed) =
        (Rules { allow_localhost: true, domains: &[], own: None }, Rules { allow_localhost: false, domains: &domains, own: None });
    for app in ["com.example.app://cb?x=1", "stack-auth-mobile-oauth-url://success"].map(url) {
        assert!(listed.trust_for_oauth(&app) && !listed.trust(&app) && !none.trust_for_oauth(&app));
        assert!(none.check_for_oauth(&app).expect_err("a refusal").to_string().contains("com.example.app:/callback"));
    }
    for other in ["com.example.other://cb", "javascript://cb", "http://cb/", "https://cb/"].map(url) {
        assert!(!listed.trust_for_oauth(&other), "{other:?}");
    }
    assert!(!listed.trust_host("cb") && !domains.iter().any(TrustedDomain::is_web));
}

#[test]
fn a_host_is_trusted_at_any_port() {
    let domain = |domain: &str| TrustedDomain { domain: domain.to_owned(), handler_path: "/handler".to_owned() };
    let domains = [domain("https://app.example.com:8443"), domain("https://*.preview.example")];
    let rules = Rules { allow_localhost: false, domains: &domains, own: None };
    for host in ["app.example.com", "APP.example.com", "one.preview.example"] {
        assert!(rules.trust_host(host), "{host}");
    }
    for host in ["", "example.com", "app.example.com.evil.test", "a.b.preview.example", "localhost", "app.example.com:8443", "127.0.0.1"] {
        assert!(!rules.trust_host(host), "{host}");
    }
    let local = Rules { allow_localhost: true, domains: &[], own: None };
    assert!(["localhost", "app.localhost", "127.0.0.1"].iter().all(|host| local.trust_host(host)));
    assert!(!["localhost.evil.test", "localhost/x", "evil.test"].iter().any(|host| local.trust_host(host)));
}

#[test]
fn localhost_is_trusted_by_a_setting() {
    let rules = |allow_localhost| Rules { allow_localhost, domains: &[], own: None };
    let loopback = ["http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:51004/cb", "http://[0:0:0:0:0:0:0:1]", "http://2130706433"];
    for url in ["http://localhost:3000/x", "https://app.localhost"].into_iter().chain(loopback) {
        let url = RedirectUrl::parse(url).expect("a URL");
        assert!(rules(true).trust(&url) && !rules(false).trust(&url), "{url:?}");
    }
    for url in ["http://[::2]", "http://[::ffff:8.8.8.8]", "http://[fe80::1]", "http://0.0.0.0", "http://[::]"] {
        assert!(!rules(true).trust(&RedirectUrl::parse(url).expect("a URL")), "{url}");
    }
    for url in ["http://localhost.evil.test", "http://128.0.0.1", "javascript://localhost/%0aalert(1)", "http://localhost@evil.test"] {
        assert!(!rules(true).trust(&RedirectUrl::parse(url).expect("a URL")), "{url}");
    }
}

/// A native app cannot know its port in advance (RFC 8252 §7.3).
#[test]
fn a_listed_loopback_address_is_trusted_at_every_port() {
    for (pattern, url) in [
        ("http://127.0.0.1", "http://127.0.0.1:51004/cb"),
        ("http://[::1]", "http://[::1]:61023/cb"),
        ("http://[::1]/", "http://[0:0:0:0:0:0:0:1]:1/"),
        ("http://127.0.0.1:80", "http://127.0.0.1/"),
        ("http://127.0.0.1:*", "http://127.0.0.1:80/"),
    ] {
        assert!(trusts(pattern, url), "{pattern}: {url}");
    }
    for (pattern, url) in [
        ("http://127.0.0.1:3000", "http://127.0.0.1:3001/"),
        ("http://127.0.0.1:80", "http://127.0.0.1:3000/"),
        ("http://[::1]:80", "http://[::1]:3000/"),
        ("http://**", "http://127.0.0.1:3000/"),
        ("http://127.0.0.1", "http://127.0.0.2:3000/"),
        ("http://127.0.0.1", "https://127.0.0.1:3000/"),
        ("http://192.0.2.1", "http://192.0.2.1:3000/"),
        ("http://localhost", "http://localhost:3000/"),
    ] {
        assert!(!trusts(pattern, url), "{pattern}: {url}");
    }
}

#[test]
fn international_domains_match_however_they_are_written() {
    for pattern in ["https://münchen.example", "https://MÜNCHEN.example", "https://xn--mnchen-3ya.example"] {
        assert!(parse_domain(pattern).is_ok(), "{pattern}");
        for url in ["https://münchen.example/cb", "https://xn--mnchen-3ya.example/cb", "https://M%C3%9CNCHEN.example/cb"] {
            assert!(trusts(pattern, url), "{pattern}: {url}");
        }
        assert!(!trusts(pattern, "https://munchen.example/") && !trusts(pattern, "https://münchen.example.evil.test/"));
    }
    assert!(trusts("https://*.münchen.example", "https://app.xn--mnchen-3ya.example/"));
    assert!(parse_domain("https://mün*.example").is_err(), "no host can match this pattern");
    let domains = [TrustedDomain { domain: "https://münchen.example".to_owned(), handler_path: "/handler".to_owned() }];
    let rules = Rules { allow_localhost: false, domains: &domains, own: None };
    assert!(rules.trust_host("xn--mnchen-3ya.example") && rules.trust_host("München.example") && !rules.trust_host("munchen.example"));
}

/// Without normalization, each of these valid entries would be accepted, but would never match.
#[test]
fn a_host_matches_however_its_address_is_written() {
    for (pattern, url) in [
        ("https://[2001:db8:0:0::1]", "https://[2001:db8::1]/"),
        ("http://[0:0:0:0:0:0:0:1]:3000", "http://[::1]:3000/"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]:3000/"),
        ("http://192.168.7:3000", "http://192.168.0.7:3000/"),
        ("http://0xC0A80007:*", "http://192.168.0.7:1/"),
        ("https://%61pp.example.com", "https://app.example.com/"),
        ("https://app.example.com:", "https://app.example.com/"),
        ("https://app.example.com:0443", "https://app.example.com/"),
    ] {
        assert!(parse_domain(pattern).is_ok() && trusts(pattern, url), "{pattern}: {url}");
    }
    let domains = [TrustedDomain { domain: "http://192.168.7:3000".to_owned(), handler_path: "/handler".to_owned() }];
    assert!(Rules { allow_localhost: false, domains: &domains, own: None }.trust_host("192.168.0.7"));
    for pattern in ["https://app.exa\tmple.com", "https://app.example.com\n", "https://app.example.com:4\r43", "https://*.%61pp.test"] {
        assert!(parse_domain(pattern).is_err(), "{pattern:?}");
    }
}

#[test]
fn localhost_with_a_custom_or_browser_scheme_is_rejected() {
    let rules = Rules { allow_localhost: true, domains: &[], own: None };
    for url in ["intent://localhost#Intent;end", "view-source://localhost", "exp://127.0.0.1:19000", "ftp://localhost/", "x://localhost"] {
        let url = RedirectUrl::parse(url).expect("a URL");
        assert!(matches!(rules.check(&url), Err(RedirectRefusal::Scheme { .. })), "{url:?}");
    }
}

#[test]
fn a_rejection_names_only_origin_and_setting() {
    let rules = Rules { allow_localhost: false, domains: &[], own: None };
    let refusal = |url: &str| rules.check(&RedirectUrl::parse(url).expect("a URL")).expect_err("a refusal").to_string();
    assert_eq!(
        refusal("https://app.example.com/reset?code=secret#token"),
        "redirect URL https://app.example.com is not trusted: add its domain to the project's trusted domains (`config.domains`)"
    );
    let local = refusal("http://localhost:4000/x");
    assert!(local.contains("http://localhost:4000 is not trusted") && local.ends_with("`config.allow_localhost` for development"));
    assert_eq!(
        refusal("https://ada:secret@app.example.com/"),
        "redirect URL https://app.example.com is not trusted: remove the user name and password before the host"
    );
}

#[test]
fn a_code_replaces_an_existing_code_parameter() {
    let url = RedirectUrl::parse("https://a.test/p?code=old&x=1#f").expect("a URL");
    assert_eq!(url.with_query("code", "new").as_str(), "https://a.test/p?x=1&code=new#f");
}

/// A domain with the maximum number of wildcards.
const EIGHT: &str = "https://*.*.*.*.*.*.*.**.example:*";

#[test]
fn a_domain_setting_is_an_origin() {
    let domains = ["https://example.com", "http://localhost:3000", "https://*.example.com", "https://**.example.com:8443"];
    for text in domains.into_iter().chain(["http://*:*", "https://a.example:*", "com.example.app:/cb", "com.example.app:", EIGHT]) {
        assert!(parse_domain(text).is_ok(), "{text}");
    }
    for text in [
        "example.com",
        "ftp://example.com",
        "https://",
        "https://example.com/path",
        "https://u@example.com",
        "javascript:alert(1)",
        "https://:*",
        "https://a.example:8*",
        "myapp://cb",
        "https://*.*.*.*.*.*.*.*.*.example",
        "https://**.*.*.*.*.*.*.*.**.example:*",
    ] {
        assert!(parse_domain(text).is_err(), "{text}");
    }
}
