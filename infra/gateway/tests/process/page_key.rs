//! The page key, which the console, the inbox and the outbox require. A local connection is not
//! enough, because the caller may be a proxy that does not identify itself.

use std::net::{IpAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use reqwest::{Client, Method, Response, redirect};
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds, variable};

const MESSAGES: &str = "/inbox/api/messages";
/// Headers of a browser that opens a page.
const PERSON: [(&str, &str); 3] = [("accept", "text/html,*/*;q=0.8"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "none")];
const PROGRAM: [(&str, &str); 1] = [("user-agent", "curl/8.5.0")];
const PAGES: [&str; 4] = ["/", "/console", "/inbox", "/outbox"];

/// The response to a request with the given headers and without the page key.
async fn get(gateway: &Gateway, path: &str, headers: &[(&str, &str)], more: &[(&str, &str)]) -> Response {
    gateway.send_without_key(Method::GET, path, &[headers, more].concat(), None).await
}

/// Asserts that a request is rejected, and that the response reveals nothing about the pages.
async fn is_refused(gateway: &Gateway, path: &str, headers: &[(&str, &str)], more: &[(&str, &str)]) {
    let answer = get(gateway, path, headers, more).await;
    assert_eq!((answer.status().as_u16(), answer.headers().get("set-cookie")), (403, None), "{path} with {more:?}");
    let text = answer.text().await.unwrap();
    let secrets = [gateway.page_key(), gateway.line("Project"), gateway.line("Admin key"), "ssk_".to_owned(), "ada@example.com".to_owned()];
    assert!(secrets.iter().all(|secret| !text.contains(secret)), "{path} with {more:?}: {text}");
    assert!(text.contains("gateway pages") || text.contains("GATELET_PAGE_KEY"), "it must say where to find the key: {text}");
}

/// A client that does not follow redirects.
fn staying() -> Client {
    Client::builder().redirect(redirect::Policy::none()).build().unwrap()
}

async fn opened(gateway: &Gateway, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = staying().get(format!("{}{path}", gateway.url));
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
}

#[tokio::test]
async fn without_the_key_pages_reveal_nothing_but_where_to_find_it() {
    let folder = Folder::new("page-key");
    let gateway = Gateway::start(&folder.data());
    gateway.sign_up(&gateway.line("Project"), "ada@example.com").await;
    let other_folder = Folder::new("page-key-other");
    let other = Gateway::start(&other_folder.data());
    assert_ne!(gateway.page_key(), other.page_key());
    let key = gateway.page_key();
    let short = &key[..key.len() - 1];
    for wrong in ["", "wrong", short, &format!("{key}x"), &key.to_uppercase(), &other.page_key(), &gateway.line("Admin key")] {
        let (bearer, cookie) = (format!("Bearer {wrong}"), format!("gatelet_pages_{}={wrong}", gateway.port()));
        for more in [[("authorization", &*bearer)], [("cookie", &*cookie)]] {
            for path in PAGES {
                is_refused(&gateway, path, &PERSON, &more).await;
            }
            for path in ["/inbox", "/outbox", MESSAGES, "/inbox/api/messages/x/raw", "/inbox/x/html", "/outbox/x/y", "/outbox/x/y/html"] {
                is_refused(&gateway, path, &PROGRAM, &more).await;
            }
        }
        for path in PAGES.iter().chain(&[MESSAGES]) {
            is_refused(&gateway, &format!("{path}?key={wrong}"), &PERSON, &[]).await;
        }
    }
    for (method, path) in [(Method::DELETE, MESSAGES), (Method::POST, "/inbox"), (Method::PATCH, "/inbox/api/messages/x")] {
        let answer = gateway.send_without_key(method, path, &PROGRAM, Some(json!({ "read": true }))).await;
        assert_eq!(answer.status(), 403, "{path}");
    }
    // A program that opens the link gets no cookie, because only browsers do.
    is_refused(&gateway, &format!("/inbox?key={key}"), &PROGRAM, &[]).await;
    // Pages that contain no data of the gateway are public.
    for path in ["/docs", "/docs/api", "/docs/errors", "/health", "/openapi.json"] {
        assert_eq!(get(&gateway, path, &PERSON, &[]).await.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn the_printed_link_sets_a_cookie_that_opens_all_pages() {
    let folder = Folder::new("page-link");
    let gateway = Gateway::start(&folder.data());
    let key = gateway.page_key();
    let mut cookies = Vec::new();
    for (path, leads_to) in [
        (format!("/?key={key}"), "/console#TOKEN"),
        (format!("/console?key={key}"), "/console#TOKEN"),
        (format!("/inbox?q=a%26b&key={key}&limit=5"), "/inbox?q=a%26b&limit=5"),
        (format!("/outbox?key=old&key={key}"), "/outbox"),
    ] {
        let answer = opened(&gateway, &path, &PERSON).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        // The console's token is in the URL's fragment, which browsers do not send.
        let (location, token) = header("location").split_once('#').unwrap_or((header("location"), ""));
        assert!(token.is_empty() || token.len() == 43 && !key.contains(token), "{token}");
        let to = if token.is_empty() { location.to_owned() } else { format!("{location}#TOKEN") };
        assert_eq!((answer.status().as_u16(), &*to), (303, leads_to));
        assert_eq!((header("cache-control"), header("referrer-policy")), ("no-store", "no-referrer"));
        let cookie = header("set-cookie");
        assert!(cookie.starts_with(&format!("gatelet_pages_{}=", gateway.port())) && !cookie.contains(&key), "{cookie}");
        assert!(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict") && cookie.contains("; Max-Age=34560000"), "{cookie}");
        cookies.push(cookie.split(';').next().unwrap().to_owned());
    }
    let cookie = &*cookies[0];
    assert!(cookies.iter().all(|other| other == cookie), "one cookie for all pages");
    let own_page = [("accept", "*/*"), ("user-agent", "Mozilla/5.0"), ("sec-fetch-site", "same-origin")];
    let opens = async |gateway: &Gateway| {
        for path in PAGES {
            let page = get(gateway, path, &PERSON, &[("cookie", cookie)]).await;
            assert_eq!(page.status(), 200, "{path}");
            assert!(!page.text().await.unwrap().contains(&key), "no page shows the key itself");
        }
        assert_eq!(get(gateway, MESSAGES, &own_page, &[("cookie", cookie)]).await.status(), 200);
    };
    opens(&gateway).await;
    // The cookie is accepted only from browsers. A request with the cookie is rejected if it does
    // not look like a browser's, comes from another site or a proxy, or names a foreign host.
    is_refused(&gateway, MESSAGES, &PROGRAM, &[("cookie", cookie)]).await;
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "http://evil.test"), ("host", "evil.test"), ("via", "1.1 x")] {
        assert_eq!(get(&gateway, "/inbox", &[PERSON[0], PERSON[1]], &[("cookie", cookie), (name, value)]).await.status(), 403, "{name}");
        let link = format!("/inbox?key={key}");
        let answer = opened(&gateway, &link, &[PERSON[0], PERSON[1], (name, value)]).await;
        assert_eq!((answer.status().as_u16(), answer.headers().get("set-cookie")), (403, None), "{name}");
    }
    drop(gateway);
    // The cookie stays valid after a restart on the same port, because the restart changes neither
    // the key nor the cookie's name, which contains the port.
    let port = cookie.split_once('=').unwrap().0.rsplit_once('_').unwrap().1;
    let again = Gateway::spawn(&mut self::gateway(&["--data", &folder.data(), "--port", port]));
    opens(&again).await;
}

#[tokio::test]
async fn a_program_sends_the_key_from_keys_env() {
    let folder = Folder::new("page-program");
    let gateway = Gateway::start(&folder.data());
    let file = folder.path("data/keys.env");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut shell = Command::new("sh");
    shell.args(["-c", ". \"$0\"; exec env", &file]).env_clear().env("PATH", "/usr/bin:/bin");
    let key = variable(&succeeds(&end_of(&mut shell)), "GATELET_PAGE_KEY");
    let bearer = format!("Bearer {key}");
    let inbox = get(&gateway, MESSAGES, &PROGRAM, &[("authorization", &bearer)]).await;
    assert_eq!((inbox.status().as_u16(), inbox.json::<Value>().await.unwrap()["total"].clone()), (200, json!(0)));
    // Even with the key, a request is rejected if it comes from another site or looks like that of
    // an old browser.
    for (name, value) in [("user-agent", "Mozilla/5.0"), ("origin", "http://evil.test"), ("sec-fetch-site", "cross-site")] {
        let answer = get(&gateway, MESSAGES, &[("authorization", &bearer)], &[(name, value)]).await;
        assert_eq!(answer.status(), 403, "{name}: {value}");
    }
}

#[tokio::test]
async fn an_old_folder_gets_a_key_and_memory_gets_a_new_one_each_start() {
    let folder = Folder::new("page-older");
    drop(Gateway::start(&folder.data()));
    let file = folder.path("data/keys.env");
    let saved = std::fs::read_to_string(&file).unwrap();
    let older: String = saved.lines().filter(|line| !line.contains("PAGE_KEY")).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&file, &older).unwrap();
    let gateway = Gateway::start(&folder.data());
    assert_eq!(variable(&std::fs::read_to_string(&file).unwrap(), "GATELET_PAGE_KEY"), gateway.page_key());
    assert!(!saved.contains(&gateway.page_key()));

    let start = || Gateway::spawn(&mut self::gateway(&["--memory", "--port", "0"]));
    let (one, two) = (start(), start());
    assert_ne!(one.page_key(), two.page_key());
    assert_eq!(get(&one, MESSAGES, &PROGRAM, &[("authorization", &format!("Bearer {}", two.page_key()))]).await.status(), 403);
}

#[test]
fn the_environment_sets_the_key_and_a_weak_one_is_rejected() {
    let start = ["--memory", "--port", "0"];
    let gateway = Gateway::spawn(self::gateway(&start).env("GATELET_PAGE_KEY", "twenty-letters-or-so_1"));
    assert_eq!(gateway.page_key(), "twenty-letters-or-so_1");
    for weak in ["short", "twenty letters or more", "twenty-letters-or-so;"] {
        let said = fails(&end_of(self::gateway(&start).env("GATELET_PAGE_KEY", weak)));
        assert!(said.contains("GATELET_PAGE_KEY") && !said.contains(weak), "{said}");
    }
}

#[test]
fn a_command_prints_the_link_of_the_running_gateway() {
    let folder = Folder::new("page-command");
    let command = ["pages", "--data", &folder.data()];
    let gateway = Gateway::start(&folder.data());
    assert_eq!(succeeds(&run(&command)), format!("{}\n", gateway.line("Start page")));
    drop(gateway);
    assert!(fails(&run(&command)).contains("no gateway is serving"));
    let hidden = Gateway::spawn(&mut self::gateway(&["--data", &folder.data(), "--port", "0", "--no-pages"]));
    assert!(fails(&run(&command)).contains("--no-pages"), "{}", hidden.printed);
}

#[test]
fn the_link_points_to_this_machine_whatever_the_api_url_is() {
    let start = |listen: &str, api_url: Option<&str>| {
        let mut command = self::gateway(&["--memory", "--listen", listen]);
        Gateway::spawn(api_url.iter().fold(&mut command, |command, url| command.env("GATELET_API_URL", url)))
    };
    let mapped = start("0.0.0.0:0", Some("http://localhost:9000"));
    assert!(mapped.line("Start page").starts_with("http://localhost:9000/?key="));
    let public = start("127.0.0.1:0", Some("https://auth.example.com"));
    assert!(public.line("Start page").starts_with("http://localhost:") && public.line("Docs") == "https://auth.example.com/docs");
}

/// An address of this machine that is not loopback, if there is one. Finding the address sends
/// nothing over the network.
fn network_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("198.51.100.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[tokio::test]
async fn remote_addresses_see_pages_only_if_enabled_and_with_the_key() {
    let Some(address) = network_address() else { return };
    let start = ["--memory", "--listen", "0.0.0.0:0"];
    let closed = Gateway::spawn(&mut self::gateway(&start));
    let by_option = Gateway::spawn(&mut self::gateway(&[&start[..], &["--remote-pages"]].concat()));
    let by_variable = Gateway::spawn(self::gateway(&start).env("GATELET_REMOTE_PAGES", "1"));
    for (mut gateway, opens) in [(closed, 403), (by_option, 200), (by_variable, 200)] {
        let bearer = format!("Bearer {}", gateway.page_key());
        // To a gateway in a container, a browser on the container's host looks like this: it
        // connects from a network address, but uses a local name.
        let host = format!("localhost:{}", gateway.port());
        gateway.url = format!("http://{address}:{}", gateway.port());
        let asked = async |host: &str, more: &[(&str, &str)]| {
            get(&gateway, MESSAGES, &PROGRAM, &[&[("host", host)], more].concat()).await.status().as_u16()
        };
        assert_eq!(asked(&host, &[("authorization", &bearer)]).await, opens);
        assert_eq!(asked(&host, &[]).await, 403);
        assert_eq!(asked("gateway.example", &[("authorization", &bearer)]).await, 403);
        assert_eq!(asked(&host, &[("authorization", &bearer), ("x-forwarded-for", "1.2.3.4")]).await, 403);
    }
}
