//! The console: which callers get the keys of the first project, and what email previews may do.

use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::support::{Folder, Gateway};

const SESSION: &str = "/console/session";
/// Headers that a browser sends when it opens a page.
const PERSON: [(&str, &str); 3] = [("accept", "text/html,*/*;q=0.8"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "none")];
/// Headers that the console sends with its requests.
const OWN: [(&str, &str); 3] = [("accept", "*/*"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "same-origin")];

/// The cookie and the console token of a browser that has opened the printed link.
async fn opened(gateway: &Gateway) -> (String, String) {
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let request = client.get(format!("{}/?key={}", gateway.url, gateway.page_key()));
    let answer = PERSON.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    let token = header("location").strip_prefix("/console#").unwrap().to_owned();
    (header("set-cookie").split(';').next().unwrap().to_owned(), format!("Bearer {token}"))
}

#[tokio::test]
async fn the_keys_require_the_cookie_and_the_token_of_the_link() {
    let folder = Folder::new("console-session");
    let gateway = Gateway::start(&folder.data());
    let (cookie, token) = opened(&gateway).await;
    let ask = async |headers: &[(&str, &str)]| gateway.send_without_key(Method::GET, SESSION, headers, None).await;
    let both = [("cookie", &*cookie), ("authorization", &*token)];

    let answer = ask(&[&OWN[..], &both].concat()).await;
    assert_eq!(answer.status(), 200);
    let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!((header("cache-control").as_deref(), header("x-content-type-options").as_deref()), (Some("no-store"), Some("nosniff")));
    assert_eq!((header("access-control-allow-origin"), header("cross-origin-resource-policy").as_deref()), (None, Some("same-origin")));
    let keys: Value = answer.json().await.unwrap();
    assert_eq!(
        (&keys["project_id"], &keys["super_secret_admin_key"]),
        (&gateway.line("Project").into(), &gateway.line("Admin key").into())
    );

    // A program sends the page key instead of the cookie.
    let key = format!("Bearer {}", gateway.page_key());
    assert_eq!(ask(&[("user-agent", "curl/8.5.0"), ("authorization", &key)]).await.status(), 200);

    let other_folder = Folder::new("console-other");
    let other = Gateway::start(&other_folder.data());
    let (_, foreign) = opened(&other).await;
    let short = &token[..token.len() - 1];
    let refused: [&[(&str, &str)]; 12] = [
        &[("cookie", &cookie)],
        &[("authorization", &token)],
        &[("cookie", &cookie), ("authorization", &foreign)],
        &[("cookie", &cookie), ("authorization", short)],
        &[("cookie", &cookie), ("authorization", "Bearer ")],
        &[("cookie", &cookie), ("authorization", &token), ("sec-fetch-site", "same-site")],
        &[("cookie", &cookie), ("authorization", &token), ("origin", "http://localhost:3000")],
        &[("cookie", &cookie), ("authorization", &token), ("origin", "null")],
        &[("cookie", &cookie), ("authorization", &token), ("host", "evil.test")],
        &[("cookie", &cookie), ("authorization", &token), ("host", "localhost:1")],
        &[("cookie", &cookie), ("authorization", &token), ("x-forwarded-for", "127.0.0.1")],
        &[("cookie", &cookie), ("authorization", &token), ("via", "1.1 proxy")],
    ];
    for headers in refused {
        let own = if headers.iter().any(|(name, _)| *name == "sec-fetch-site") { &OWN[..2] } else { &OWN[..] };
        let answer = ask(&[own, headers].concat()).await;
        assert_eq!((answer.status().as_u16(), answer.headers().get("access-control-allow-origin")), (403, None), "{headers:?}");
        let text = answer.text().await.unwrap();
        assert!(!text.contains("sak_") && !text.contains("ssk_"), "{headers:?}: {text}");
    }
    // A preflight request from another site is rejected.
    let preflight = [("origin", "http://evil.test"), ("access-control-request-method", "GET")];
    let answer = gateway.send_without_key(Method::OPTIONS, SESSION, &preflight, None).await;
    assert_eq!((answer.status().as_u16(), answer.headers().get("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn a_preview_runs_no_scripts_and_is_only_for_the_console() {
    let folder = Folder::new("console-preview");
    let gateway = Gateway::start(&folder.data());
    let (cookie, _) = opened(&gateway).await;
    let send = async |headers: &[(&str, &str)]| {
        let request =
            gateway.http.post(format!("{}/console/preview", gateway.url)).header("content-type", "application/x-www-form-urlencoded");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body("html=%3Cscript%3Ealert(1)%3C%2Fscript%3E").send().await.unwrap()
    };
    let shown = send(&[&OWN[..], &[("cookie", &cookie), ("origin", &gateway.url)]].concat()).await;
    assert_eq!(shown.status(), 200);
    let policy = shown.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("; sandbox ") && !policy.contains("allow-scripts"), "{policy}");
    for foreign in [[OWN[0], OWN[1], ("origin", "http://evil.test")], [OWN[0], OWN[1], ("sec-fetch-site", "cross-site")]] {
        let refused = send(&[&foreign[..], &[("cookie", &cookie)]].concat()).await;
        assert_eq!(refused.status(), 403, "{foreign:?}");
        assert!(!refused.text().await.unwrap().contains("alert(1)"));
    }
    assert_eq!(send(&OWN).await.status(), 403, "without the cookie");
}

#[tokio::test]
async fn the_front_end_is_cached_by_its_version_and_contains_no_data() {
    let folder = Folder::new("console-assets");
    let gateway = Gateway::start(&folder.data());
    let (cookie, _) = opened(&gateway).await;
    let page = gateway.send_without_key(Method::GET, "/console/any/page", &[&PERSON[..], &[("cookie", &cookie)]].concat(), None).await;
    let text = page.text().await.unwrap().replace("&#x2f;", "/");
    let entry = text.split("src=\"").find(|rest| rest.starts_with("/console/assets/")).unwrap().split('"').next().unwrap();
    let asset = async |path: &str| gateway.send_without_key(Method::GET, path, &[], None).await;
    let answer = asset(entry).await;
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["cache-control"].to_str().unwrap()),
        (200, "public, max-age=31536000, immutable")
    );
    assert_eq!(asset("/console/assets/old/main.js").await.headers()["cache-control"], "no-cache");
    for missing in ["/console/assets/old/nothing.js", "/console/assets/old/..%2F..%2Fsrc%2Flib.rs", "/console/assets/old/%2Fetc%2Fpasswd"] {
        assert_eq!(asset(missing).await.status(), 404, "{missing}");
    }
    for secret in ["Admin key", "Server key", "Project"] {
        assert!(!text.contains(&gateway.line(secret)), "{secret}");
    }
}

#[tokio::test]
async fn without_private_pages_the_console_has_a_sign_in_and_no_keys() {
    let folder = Folder::new("console-public");
    let data = folder.data();
    let start = |options: &[&str]| {
        let all = [&["--data", &data, "--listen", "127.0.0.1:0"], options].concat();
        Gateway::spawn(&mut crate::support::gateway(&all))
    };
    let behind = [("host", "auth.example.com"), ("x-forwarded-for", "203.0.113.9"), ("accept", "text/html")];
    for options in [&["--no-pages", "--console"][..], &["--trusted-proxy", "127.0.0.0/8", "--console"]] {
        let gateway = start(options);
        let page = gateway.send_without_key(Method::GET, "/console/projects", &behind, None).await;
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert_eq!(page.status(), 200, "{options:?}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = page.text().await.unwrap();
        assert!(text.contains(">Console</a>") && !text.contains(">Inbox</a>"), "{text}");
        // Nobody gets keys, and there are no pages that show emails.
        for path in [SESSION, "/inbox", "/outbox", "/inbox/api/messages"] {
            let answer = gateway.send_without_key(Method::GET, path, &behind, None).await;
            let text = answer.text().await.unwrap();
            assert!(!text.contains("sak_") && !text.contains("super_secret"), "{path}: {text}");
        }
        assert_eq!(gateway.send_without_key(Method::GET, "/inbox", &behind, None).await.status(), 404);
        // Other sites cannot show their content at this address.
        let form = [("content-type", "application/x-www-form-urlencoded")];
        for (site, status) in [("cross-site", 403), ("none", 403), ("same-origin", 200)] {
            let request = gateway.http.post(format!("{}/console/preview", gateway.url)).header("sec-fetch-site", site);
            let request = form.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            assert_eq!(request.body("html=x").send().await.unwrap().status(), status, "{site}");
        }
    }
    let without = start(&["--no-pages"]);
    assert_eq!(without.send_without_key(Method::GET, "/console", &behind, None).await.status(), 404);
}
