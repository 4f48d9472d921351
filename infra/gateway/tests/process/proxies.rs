//! `--trusted-proxy`: names proxies that may report the client's address.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Gateway, end_of, fails, gateway, run};

const START: [&str; 3] = ["--memory", "--listen", "127.0.0.1:0"];

/// A gateway that allows one anonymous user per IP address.
fn strict(arguments: &[&str]) -> Gateway {
    Gateway::spawn(gateway(&[&START, arguments].concat()).env("GATELET_LIMIT_ANONYMOUS_SIGN_UP", "1/600"))
}

async fn sign_up(gateway: &Gateway, forwarded_for: Option<&str>) -> (u16, Value) {
    let project = gateway.line("Project");
    let mut headers = vec![("x-stack-project-id", project.as_str()), ("x-stack-access-type", "client")];
    headers.extend(forwarded_for.map(|value| ("x-forwarded-for", value)));
    let answer = gateway.send(Method::POST, "/api/v1/auth/anonymous/sign-up", &headers, Some(json!({}))).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn without_a_trusted_proxy_forwarded_addresses_are_ignored() {
    let gateway = strict(&[]);
    assert_eq!(sign_up(&gateway, Some("203.0.113.1")).await.0, 200);
    assert_eq!(sign_up(&gateway, Some("203.0.113.2")).await.0, 429);
    // The header is also ignored if only other addresses are trusted.
    let gateway = strict(&["--trusted-proxy", "10.0.0.0/8"]);
    assert_eq!(sign_up(&gateway, Some("203.0.113.1")).await.0, 200);
    assert_eq!(sign_up(&gateway, Some("203.0.113.2, 10.0.0.1")).await.0, 429);
}

#[tokio::test]
async fn the_address_seen_by_the_outermost_trusted_proxy_is_used() {
    let mut command = gateway(&START);
    let from_environment = command.env("GATELET_TRUSTED_PROXIES", "10.0.0.0/8, 127.0.0.1").env("GATELET_LIMIT_ANONYMOUS_SIGN_UP", "1/600");
    for gateway in [strict(&["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.1"]), Gateway::spawn(from_environment)] {
        let (status, user) = sign_up(&gateway, Some("203.0.113.1")).await;
        assert_eq!(status, 200, "{user}");
        assert_eq!(sign_up(&gateway, Some("203.0.113.1")).await.0, 429);
        // Entries that the client has sent are to the left of the entry that the proxy appends.
        assert_eq!(sign_up(&gateway, Some("203.0.113.7, 203.0.113.1")).await.0, 429);
        assert_eq!(sign_up(&gateway, Some("203.0.113.1, 203.0.113.2, 10.1.2.3")).await.0, 200);
        // Without a valid entry, the proxy's address counts as the client's.
        assert_eq!((sign_up(&gateway, None).await.0, sign_up(&gateway, Some("unknown")).await.0), (200, 429));

        let project = gateway.line("Project");
        let headers = [
            ("x-stack-project-id", project.as_str()),
            ("x-stack-access-type", "client"),
            ("x-stack-access-token", user["access_token"].as_str().unwrap()),
            ("x-stack-allow-anonymous-user", "true"),
            ("x-forwarded-for", "203.0.113.1"),
        ];
        let sessions = gateway.send(Method::GET, "/api/v1/auth/sessions?user_id=me", &headers, None).await;
        let sessions: Value = sessions.json().await.unwrap();
        assert_eq!(sessions["items"][0]["last_used_at_end_user_ip_info"]["ip"], "203.0.113.1", "{sessions}");
    }
}

#[tokio::test]
async fn behind_a_proxy_private_pages_are_disabled() {
    let gateway = strict(&["--trusted-proxy", "10.0.0.0/8"]);
    assert!(!gateway.printed.contains("Start page") && !gateway.printed.contains("key="), "{}", gateway.printed);
    let person = [("accept", "text/html"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "none")];
    for path in ["/console", "/inbox", "/outbox", "/inbox/api/messages"] {
        assert_eq!(gateway.send(Method::GET, path, &person, None).await.status(), 404, "{path}");
    }
    assert_eq!(gateway.send(Method::GET, "/docs", &person, None).await.status(), 200);
}

#[test]
fn an_invalid_network_is_rejected_at_startup() {
    for wrong in ["nowhere", "10.0.0.0/33", "10.0.0/8", "0.0.0.0/0", "::/0"] {
        let output = run(&[&START[..], &["--trusted-proxy", wrong]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--trusted-proxy") && said.contains(wrong), "{said}");
        let said = fails(&end_of(gateway(&START).env("GATELET_TRUSTED_PROXIES", format!("10.0.0.0/8,{wrong}"))));
        assert!(said.contains("GATELET_TRUSTED_PROXIES") && said.contains(wrong), "{said}");
    }
}
