//! `/.well-known/security.txt`, and the headers that point programs to the site's catalogs.

use model::security_contact::SecurityContact;
use support::TestApp;

use super::documents::published;

const PATH: &str = "/.well-known/security.txt";

fn contact() -> SecurityContact {
    SecurityContact::parse("mailto:security@example.com, https://example.com/report", "2027-06-01T00:00:00+02:00").unwrap()
}

#[tokio::test]
async fn a_contact_of_the_deployment_is_its_security_text() {
    let app = TestApp::start().await.redeployed(|settings| settings.security_contact = Some(contact()));
    let answer = app.anonymous().get(PATH).await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(
        answer.text(),
        "Contact: mailto:security@example.com\nContact: https://example.com/report\nExpires: 2027-05-31T22:00:00Z\n\
         Canonical: https://site.example/.well-known/security.txt\n"
    );
    let etag = answer.header("etag").unwrap();
    let again = app.anonymous().request("HEAD", PATH).header("if-none-match", etag).send().await;
    assert_eq!((again.status(), again.text()), (304, ""));
    assert_eq!(app.anonymous().post(PATH, serde_json::json!({})).await.status(), 405);
}

#[tokio::test]
async fn a_deployment_without_a_contact_has_no_security_text() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get(PATH).await;
    assert_eq!((answer.status(), answer.json()["error"]["code"].as_str()), (404, Some("route_not_found")));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn an_insecure_site_names_no_canonical_security_text() {
    let app = TestApp::start().await.redeployed(|settings| {
        settings.security_contact = Some(contact());
        settings.site_url = "http://localhost:8787".to_owned();
    });
    assert!(!app.anonymous().get(PATH).await.text().contains("Canonical"));
}

#[tokio::test]
async fn headers_of_the_start_lead_to_documents_that_exist() {
    let app = published().await;
    for start in ["/docs", "/api/v1/site"] {
        let answer = app.anonymous().get(start).await;
        let links = answer.header("link").unwrap().to_owned();
        assert_eq!(app.anonymous().request("HEAD", start).send().await.header("link"), Some(&*links), "{start}");
        for relation in ["api-catalog", "service-desc", "service-doc", "ai-catalog", "alternate"] {
            let link = links.split(", ").find(|link| link.contains(&format!("rel=\"{relation}\""))).unwrap();
            let (path, kind) = link.strip_prefix("<https://site.example").unwrap().split_once('>').unwrap();
            let found = app.anonymous().get(path).await;
            assert_eq!(found.status(), 200, "{start}: {link}");
            let expected = kind.rsplit_once("type=\"").unwrap().1.trim_end_matches('"');
            assert!(found.header("content-type").unwrap().starts_with(expected), "{start}: {link}");
        }
    }
}
