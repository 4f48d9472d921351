//! Pictures that users upload. The pictures are set as data URLs, and
//! `GET /api/v1/projects/{project_id}/users/{user_id}/images/{digest}` serves them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use support::{API_URL, Answer, TestApp};

use super::{ME, assert_error, create, fields, id_of, path, read, update};

const MAX: usize = 100 * 1024;

fn image(length: usize, fill: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(length, fill);
    bytes
}

fn data_url(bytes: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}

/// Fetches an image as a browser does, without special headers.
async fn get(app: &TestApp, url: &Value) -> Answer {
    app.anonymous().get(url.as_str().unwrap().strip_prefix(API_URL).unwrap()).await
}

#[tokio::test]
async fn an_uploaded_image_is_served_at_the_user_s_image_url() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let bytes = image(MAX, 7);
    let me = app.signed_in(&ada).patch(ME, json!({ "profile_image_url": data_url(&bytes) })).await.json();
    let url = &me["profile_image_url"];
    let answer = get(&app, url).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.bytes(), bytes);
    assert_eq!(answer.header("content-type"), Some("image/png"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=86400, immutable"));
    assert_eq!(&read(&app, &ada.user_id).await["profile_image_url"], url);
    // Sending back the unchanged URL keeps the image.
    assert_eq!(&update(&app, &ada.user_id, json!({ "profile_image_url": url })).await["profile_image_url"], url);
    assert_eq!(get(&app, url).await.status(), 200);
    assert_eq!(app.signed_in(&ada).patch(ME, json!({ "profile_image_url": null })).await.status(), 200);
    assert_error(&get(&app, url).await, 404, "PROFILE_IMAGE_NOT_FOUND");
}

#[tokio::test]
async fn a_new_image_has_a_new_url_and_the_old_one_is_deleted() {
    let app = TestApp::start().await;
    let user = create(&app, json!({ "profile_image_url": data_url(&image(100, 1)) })).await;
    let (id, first) = (id_of(&user), &user["profile_image_url"]);
    assert_eq!(get(&app, first).await.bytes(), image(100, 1));
    let second = update(&app, &id, json!({ "profile_image_url": data_url(&image(100, 2)) })).await["profile_image_url"].clone();
    assert_error(&get(&app, first).await, 404, "PROFILE_IMAGE_NOT_FOUND");
    assert_eq!(get(&app, &second).await.bytes(), image(100, 2));
    for other in [json!("https://example.com/a.png"), Value::Null] {
        let url = update(&app, &id, json!({ "profile_image_url": data_url(&image(100, 3)) })).await["profile_image_url"].clone();
        assert_eq!(get(&app, &url).await.status(), 200);
        assert_eq!(update(&app, &id, json!({ "profile_image_url": other })).await["profile_image_url"], other);
        assert_error(&get(&app, &url).await, 404, "PROFILE_IMAGE_NOT_FOUND");
    }
}

#[tokio::test]
async fn an_image_is_deleted_with_its_user() {
    let app = TestApp::start().await;
    let user = create(&app, json!({ "profile_image_url": data_url(&image(100, 1)) })).await;
    assert_eq!(get(&app, &user["profile_image_url"]).await.status(), 200);
    assert_eq!(app.server().delete(&path(id_of(&user))).await.status(), 200);
    assert_error(&get(&app, &user["profile_image_url"]).await, 404, "PROFILE_IMAGE_NOT_FOUND");
}

#[tokio::test]
async fn invalid_and_oversized_images_are_rejected_with_the_reason() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let png = STANDARD.encode(image(100, 0));
    let cases = [
        (data_url(&image(MAX + 1, 0)), "at most 102400 bytes"),
        (data_url(b"<svg onload=alert(1)>"), "of the type named in the data URL"),
        (format!("data:image/gif;base64,{png}"), "of the type named in the data URL"),
        (format!("data:image/svg+xml;base64,{png}"), "https URL"),
        ("data:image/png;base64,!!".to_owned(), "https URL"),
        ("http://example.com/a.png".to_owned(), "https URL"),
        ("javascript:alert(1)".to_owned(), "https URL"),
        (String::new(), "https URL"),
    ];
    for (url, reason) in cases {
        for answer in [
            app.signed_in(&ada).patch(ME, json!({ "profile_image_url": url })).await,
            app.server().patch(&path(&ada.user_id), json!({ "profile_image_url": url })).await,
        ] {
            assert_eq!(fields(&answer), ["body.profile_image_url"]);
            assert!(answer.text().contains(reason), "{}", answer.text());
        }
    }
    assert_eq!(read(&app, &ada.user_id).await["profile_image_url"], Value::Null);
}

#[tokio::test]
async fn images_are_only_read_when_requested() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.signed_in(&ada).patch(ME, json!({ "profile_image_url": data_url(&image(MAX, 1)) })).await;
    app.recorder.clear();
    assert!(app.signed_in(&ada).get(ME).await.text().len() < 2000);
    assert!(app.server().get(super::USERS).await.text().len() < 2000);
    let calls = app.recorder.calls();
    assert!(!calls.is_empty() && calls.iter().all(|(_, body)| !body.contains("IMAGE")), "{calls:?}");
}

#[tokio::test]
async fn an_unknown_image_url_is_not_found() {
    let app = TestApp::start().await;
    let user = create(&app, json!({ "profile_image_url": data_url(&image(100, 1)) })).await;
    let url = user["profile_image_url"].as_str().unwrap().strip_prefix(API_URL).unwrap().to_owned();
    let other = create(&app, json!({})).await;
    for wrong in [
        url.replace(&id_of(&user), &id_of(&other)),
        url.replace(app.project_id().as_str(), "internal"),
        url.replace(app.project_id().as_str(), "nonsense"),
        url.replace(&id_of(&user), "me"),
        format!("{url}x"),
        format!("{url}{}", "x".repeat(3000)),
        url.replace(&url[url.len() - 43..], &"A".repeat(43)),
    ] {
        assert_error(&app.anonymous().get(&wrong).await, 404, "PROFILE_IMAGE_NOT_FOUND");
    }
    assert_eq!(app.anonymous().get(&url).await.status(), 200);
}
