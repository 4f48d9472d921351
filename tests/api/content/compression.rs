//! Compressed documents of a gateway.

use std::io::Read as _;

use support::{Answer, TestApp};

use super::documents::{DOCUMENTS, published};

async fn with_gzip(app: &TestApp, method: &str, path: &str) -> Answer {
    app.anonymous().request(method, path).header("accept-encoding", "br, gzip").send().await
}

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(answer.bytes()).read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_compressed_document_is_the_same_smaller_and_has_a_weak_validator() {
    let app = published().await;
    let mut compressed = 0;
    for (path, media_type) in DOCUMENTS {
        let (plain, packed) = (app.anonymous().get(path).await, with_gzip(&app, "GET", path).await);
        assert_eq!((plain.header("vary"), packed.header("vary")), (Some("accept-encoding"), Some("accept-encoding")), "{path}");
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        let (strong, validator) = (plain.header("etag").unwrap(), packed.header("etag").unwrap());
        if packed.header("content-encoding").is_none() {
            assert!(media_type == "application/gzip" || plain.bytes().len() < 1024, "{path}");
            assert_eq!((packed.bytes(), validator), (plain.bytes(), strong), "{path}");
            continue;
        }
        compressed += 1;
        assert_eq!((unpacked(&packed).as_slice(), validator), (plain.bytes(), format!("W/{strong}").as_str()), "{path}");
        assert!(packed.bytes().len() < plain.bytes().len(), "{path}");
        assert_eq!(packed.header("content-length"), Some(packed.bytes().len().to_string().as_str()), "{path}");
        for known in [validator, strong] {
            let again = app.anonymous().request("GET", path).header("accept-encoding", "gzip").header("if-none-match", known).send().await;
            let facts = (again.status(), again.header("etag"), again.header("vary"), again.header("content-encoding"));
            assert_eq!(facts, (304, Some(known), Some("accept-encoding"), None), "{path} {known}");
        }
        let head = with_gzip(&app, "HEAD", path).await;
        let facts = (head.status(), head.bytes().len(), head.header("content-encoding"), head.header("etag"));
        assert_eq!(facts, (200, 0, Some("gzip"), Some(validator)), "{path}");
        assert_eq!(head.header("content-length"), None, "{path}: the length of the document is not that of the answer");
    }
    assert!(compressed > 10, "{compressed}");
}

#[tokio::test]
async fn answers_with_secrets_or_input_are_never_compressed() {
    let app = published().await;
    let user = app.sign_up("ada@example.com").await;
    let own = app.signed_in(&user).request("GET", "/api/v1/users/me").header("accept-encoding", "gzip").send().await;
    assert_eq!((own.status(), own.header("content-encoding")), (200, None));
    let long = "x".repeat(4000);
    let missing = with_gzip(&app, "GET", &format!("/blog/{long}")).await;
    assert_eq!((missing.status(), missing.header("content-encoding")), (404, None));
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": long, "method": "tools/list" }).to_string();
    let request = app.anonymous().request("POST", "/mcp").header("content-type", "application/json").header("accept-encoding", "gzip");
    let reflected = request.body(body).send().await;
    assert_eq!((reflected.status(), reflected.header("content-encoding")), (200, None));
    assert!(reflected.text().contains(&long));
}
