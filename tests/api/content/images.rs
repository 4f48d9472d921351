//! Images of posts and pages, with tests about publishing, refusing and serving them.

use std::path::PathBuf;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use gateway::content::{Folder, PublishSummary, read_directory};
use jiff::SignedDuration;
use serde_json::json;
use store::content::images::Shelf;
use support::TestApp;

const SITE: &str = "https://site.example";

/// A site's folder, deleted at the end of the test.
pub(super) struct Site(PathBuf);

impl Drop for Site {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Site {
    pub(super) fn new(name: &str) -> Self {
        let site = Self(std::env::temp_dir().join(format!("gatelet-{name}-{}", std::process::id())));
        site.write("site.toml", "name = \"Example\"\ndescription = \"An example\"\n");
        site
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes the post `blog/hello.md`, whose text starts in line 5.
    pub(super) fn post(&self, text: &str) {
        self.write("blog/hello.md", format!("+++\ntitle = \"Hello\"\npublished_at = 2025-01-02\n+++\n{text}\n"));
    }

    pub(super) fn read(&self) -> Result<Folder, String> {
        read_directory(&self.0, None).map_err(|error| error.to_string())
    }

    pub(super) async fn publish(&self, app: &TestApp) -> PublishSummary {
        let shelf = Shelf::Table(app.app.store.clone());
        self.read().unwrap().publish(&app.app.store, Some(&shelf), app.now()).await.unwrap()
    }
}

/// A PNG of this size, made unique by its mark.
pub(super) fn png(width: u32, height: u32, mark: &str) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &size[..], b"\x08\x02\0\0\0", mark.as_bytes()].concat()
}

/// The paths of images in a page.
fn images(html: &str) -> Vec<String> {
    let found = html.match_indices(" src=\"").map(|(at, start)| &html[at + start.len()..]);
    found.map(|rest| rest[..rest.find('"').unwrap()].to_owned()).collect()
}

#[tokio::test]
async fn an_image_of_a_post_is_served_forever_with_its_size_and_type() {
    let (app, site) = (TestApp::start().await, Site::new("images-served"));
    site.write("blog/diagram.jpg", png(300, 200, "a PNG in spite of its name"));
    site.write("images/big one.png", png(30, 20, "big"));
    site.post("![A diagram](diagram.jpg) [![B](<../images/big one.png>)](../images/big%20one.png) ![C][c]\n\n[c]: diagram.jpg");
    site.publish(&app).await;
    let page = app.anonymous().get("/blog/hello").await;
    let paths = images(page.text());
    assert_eq!((paths.len(), &paths[0]), (3, &paths[2]), "{}", page.text());
    assert!(page.text().contains(&format!(
        "<img width=\"300\" height=\"200\" loading=\"lazy\" decoding=\"async\" src=\"{}\" alt=\"A diagram\"",
        paths[0]
    )));
    assert!(page.text().contains(&format!("<a href=\"{}\"><img", paths[1])), "{}", page.text());

    let get = app.anonymous().get(&paths[0]).await;
    assert_eq!((get.status(), get.bytes()), (200, &png(300, 200, "a PNG in spite of its name")[..]));
    let headers = [
        ("content-type", "image/png"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ];
    let head = app.anonymous().request("HEAD", &paths[0]).send().await;
    for (name, value) in headers {
        assert_eq!((get.header(name), head.header(name)), (Some(value), Some(value)), "{name}");
    }
    let etag = get.header("etag").unwrap();
    assert_eq!((head.status(), head.bytes().len(), head.header("etag")), (200, 0, Some(etag)));
    assert_eq!(head.header("content-length"), Some(get.bytes().len().to_string().as_str()));
    let again = app.anonymous().request("GET", &paths[0]).header("if-none-match", etag).send().await;
    assert_eq!((again.status(), again.bytes().len(), again.header("cache-control")), (304, 0, get.header("cache-control")));

    for path in ["/blog/hello.md", "/llms-full.txt"] {
        let text = app.anonymous().get(path).await.text().to_owned();
        assert!(text.contains(&format!("![A diagram]({SITE}{})", paths[0])), "{path}: {text}");
        assert!(text.contains(&format!("[c]: {SITE}{}", paths[0])) && !text.contains("diagram.jpg"), "{path}: {text}");
    }
    let tool = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "get_blog_post", "arguments": { "slug": "hello" } },
    });
    let called = app.anonymous().request("POST", "/mcp").header("mcp-protocol-version", "2025-06-18").json(&tool).send().await;
    assert!(called.text().contains(&format!("![A diagram]({SITE}{})", paths[0])), "{}", called.text());
}

#[tokio::test]
async fn names_that_no_image_has_are_not_found() {
    let (app, site) = (TestApp::start().await, Site::new("images-names"));
    site.write("blog/a.png", png(3, 2, "a"));
    site.post("![A](a.png)");
    site.publish(&app).await;
    let path = images(app.anonymous().get("/blog/hello").await.text()).remove(0);
    assert_eq!(app.anonymous().get(&path).await.status(), 200);
    let others = [
        path.replace("-3x2", "-3x3"),
        path.replace(".png", ".gif"),
        path.replace("-3x2", "-03x2"),
        path.to_lowercase(),
        format!("{path}.png"),
    ];
    let hostile = ["/images/..%2f..%2fetc%2fpasswd", "/images/%00", "/images/%ff", "/images/~IMAGE%23", "/images/a%20b.png"];
    for path in others.iter().map(String::as_str).chain(hostile) {
        let answer = app.anonymous().get(path).await;
        assert_eq!((answer.status(), answer.json()["error"]["code"].as_str()), (404, Some("route_not_found")), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    assert_eq!(app.anonymous().request("DELETE", &path).send().await.status(), 405);
}

#[tokio::test]
async fn an_image_that_cannot_be_published_is_refused_with_its_line_and_nothing_changes() {
    let (app, site) = (TestApp::start().await, Site::new("images-refused"));
    site.write("blog/good.png", png(3, 2, "good"));
    site.write("blog/page.png", "<html>not an image</html>");
    site.write("blog/picture.svg", "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"></svg>");
    site.write("blog/huge.png", [png(3, 2, "huge"), vec![0; 4 * 1024 * 1024]].concat());
    site.write("blog/wide.png", png(20_000, 2, "wide"));
    site.write("blog/short.png", &png(3, 2, "")[..14]);
    std::fs::create_dir_all(site.path("blog/folder.png")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", site.path("blog/link.png")).unwrap();
    site.post("![Good](good.png)");
    site.publish(&app).await;
    let before = app.anonymous().get("/blog/hello").await.text().to_owned();
    for (written, reason) in [
        ("missing.png", "there is no image `blog/missing.png`: add the file, or correct the path"),
        ("good.png/x.png", "there is no image"),
        ("page.png", "is not a PNG, JPEG, GIF, WebP or AVIF file, judging by its content"),
        ("picture.svg", "is an SVG, which may contain scripts: publish it as PNG or WebP"),
        ("huge.png", "at most 4194304 can be published"),
        ("wide.png", "has 20000 × 2 pixels"),
        ("short.png", "is damaged"),
        ("folder.png", "is not a file"),
        ("link.png", "is a link to a file outside the folder"),
        ("../../etc/passwd", "leads out of the folder"),
        ("%2e%2e/%2e%2e/a.png", "leads out of the folder"),
        ("a%5cb.png", "has a backslash"),
        ("a%00.png", "control character"),
        ("%ff.png", "is not UTF-8"),
    ] {
        site.post(&format!("Some text.\n\n![A]({written})"));
        let error = site.read().unwrap_err();
        assert!(error.starts_with("blog/hello.md:7: ") && error.contains(reason), "{written}: {error}");
        site.post(&format!("Some text.\n\n![A][a]\n\n[a]: {written}"));
        let error = site.read().unwrap_err();
        assert!(error.starts_with("blog/hello.md:7: ") && error.contains(reason), "{written}: {error}");
    }
    site.post("[a picture](missing.png)");
    assert!(site.read().unwrap_err().starts_with("blog/hello.md:5: there is no image"));
    site.write("blog/hello.md", "+++\ntitle = \"Hello\"\npublished_at = 2025-01-02\nimage = \"https://example.com/x.png\"\n+++\n");
    assert!(site.read().unwrap_err().starts_with("blog/hello.md:4: `https://example.com/x.png` is not the path"));
    site.write("apps.toml", "[[apps]]\nid = \"a\"\ndisplay_name = \"A\"\nsubtitle = \"x\"\nimage = \"missing.png\"\n");
    site.post("");
    assert!(site.read().unwrap_err().starts_with("apps.toml:5: there is no image `missing.png`"));
    assert_eq!(app.anonymous().get("/blog/hello").await.text(), before);
}

#[tokio::test]
async fn other_urls_and_code_stay_as_they_are_and_missing_descriptions_are_told() {
    let (app, site) = (TestApp::start().await, Site::new("images-others"));
    site.write("blog/a.png", png(3, 2, "a"));
    site.post("![A](/pictures/p.svg) ![B](https://example.com/b.png) [c](other.md) `![D](none.png)`\n\n    ![E](none.png)\n\n![](a.png)");
    let folder = site.read().unwrap();
    assert_eq!(folder.warnings.len(), 1, "{:?}", folder.warnings);
    assert!(folder.warnings[0].starts_with("blog/hello.md:9: an image has no description"), "{:?}", folder.warnings);
    site.publish(&app).await;
    let text = app.anonymous().get("/blog/hello.md").await.text().to_owned();
    for kept in ["![A](/pictures/p.svg)", "![B](https://example.com/b.png)", "[c](other.md)", "`![D](none.png)`", "    ![E](none.png)"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("(a.png)"), "{text}");
}

#[tokio::test]
async fn a_publication_stores_only_new_images_and_a_rollback_shows_the_earlier_ones() {
    let (app, site) = (TestApp::start().await, Site::new("images-kept"));
    site.write("blog/a.png", png(3, 2, "first"));
    site.write("blog/unused.png", png(3, 2, "unused"));
    site.write("blog/draft.md", "+++\ntitle = \"Draft\"\npublished_at = 2025-01-02\ndraft = true\n+++\n![A](unused.png)\n");
    site.post("![A](a.png)");
    let first = site.publish(&app).await;
    assert_eq!((first.stored, first.deleted), (5, 0), "an image, and pictures of the start page, two lists and a post");
    let again = site.publish(&app).await;
    assert_eq!((again.published.written, again.stored), (None, 0));
    let shown = async || images(app.anonymous().get("/blog/hello").await.text()).remove(0);
    let old = shown().await;

    site.write("blog/a.png", png(3, 2, "second"));
    assert_eq!(site.publish(&app).await.stored, 1);
    let new = shown().await;
    assert_ne!(old, new);
    let status = async |path: &str| app.anonymous().get(path).await.status();
    app.app.store.roll_back(None, app.now()).await.unwrap().unwrap();
    assert_eq!((shown().await, status(&old).await), (old.clone(), 200));

    // The image is kept while a stored publication needs it.
    app.advance(SignedDuration::from_hours(2));
    for number in 0..3 {
        site.write("site.toml", format!("name = \"Example\"\ndescription = \"Number {number}\"\n"));
        assert_eq!((site.publish(&app).await.deleted, status(&old).await), (0, 200), "{number}");
    }
    site.write("site.toml", "name = \"Example\"\ndescription = \"The last\"\n");
    assert_eq!((site.publish(&app).await.deleted, status(&old).await, status(&new).await), (1, 404, 200));
    let bytes = app.table().into_keys().filter(|(_, sk)| sk.starts_with("~IMAGE#")).count();
    assert_eq!(bytes, 5);

    // A deleted image is stored again when it is needed again.
    site.write("blog/a.png", png(3, 2, "first"));
    assert_eq!((site.publish(&app).await.stored, status(&old).await), (1, 200));
}

#[tokio::test]
async fn an_image_stored_by_a_publication_that_was_not_finished_goes_after_an_hour() {
    let (app, site) = (TestApp::start().await, Site::new("images-grace"));
    site.post("Text.");
    site.publish(&app).await;
    let (store, shelf) = (&app.app.store, Shelf::Table(app.app.store.clone()));
    let name = format!("{}-3x2.png", crypto::digest::Digest::of("orphan"));
    store.store_image(&shelf, &name.parse().unwrap(), png(3, 2, "orphan"), app.now()).await.unwrap();
    for (after, deleted, status) in [(59, 0, 200), (1, 1, 404)] {
        app.advance(SignedDuration::from_mins(after));
        assert_eq!(site.publish(&app).await.deleted, deleted);
        assert_eq!(app.anonymous().get(&format!("/images/{name}")).await.status(), status);
    }
}

#[tokio::test]
async fn a_large_image_is_stored_in_parts_and_is_missing_without_one_of_them() {
    let (app, site) = (TestApp::start().await, Site::new("images-parts"));
    let large = [png(3, 2, "large"), (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect()].concat();
    site.write("blog/a.png", &large);
    site.post("![A](a.png)");
    site.publish(&app).await;
    let path = images(app.anonymous().get("/blog/hello").await.text()).remove(0);
    assert_eq!(app.anonymous().get(&path).await.bytes(), large);
    let last = format!("~IMAGE#{}#11", path.trim_start_matches("/images/"));
    let key = [("pk", "CONTENT"), ("sk", last.as_str())].map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned())));
    let store = &app.app.store;
    let delete = DeleteItemInput::builder().table_name(store.table()).set_key(Some(key.into()));
    store.client().call(delete).await.unwrap();
    assert_eq!(app.anonymous().get(&path).await.status(), 404, "{last}");
}
