//! The pictures of pages in link previews.

use support::TestApp;

use super::images::{Site, png};

const SITE: &str = "https://site.example";

/// A property in the head of a page. `None` if the head does not contain the property.
fn property<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("<meta property=\"{name}\" content=\"");
    let rest = html.split_once(&start)?.1;
    Some(&rest[..rest.find('"')?])
}

async fn page(app: &TestApp, path: &str) -> String {
    let page = app.anonymous().get(path).await;
    assert_eq!(page.status(), 200, "{path}");
    page.text().to_owned()
}

#[tokio::test]
async fn every_page_has_a_picture_of_its_own_that_previews_of_links_show() {
    let (app, site) = (TestApp::start().await, Site::new("previews-drawn"));
    site.write("apps.toml", "[[apps]]\nid = \"notes\"\ndisplay_name = \"Notes\"\nsubtitle = \"Keeps \\\"notes\\\"\"\n");
    site.post("Text.");
    site.publish(&app).await;
    let mut seen = std::collections::BTreeSet::new();
    for (path, title) in [("/", "Docs"), ("/blog", "Blog"), ("/apps", "Apps"), ("/apps/notes", "Notes"), ("/blog/hello", "Hello")] {
        let html = page(&app, path).await;
        let property = |name| property(&html, name).unwrap_or_else(|| panic!("{path} has no {name}: {html}")).to_owned();
        let picture = property("og:image");
        let answer = app.anonymous().get(picture.strip_prefix(SITE).unwrap()).await;
        assert_eq!((answer.status(), answer.header("content-type")), (200, Some("image/png")), "{path}");
        assert_eq!(answer.bytes()[16..24], [1200_u32.to_be_bytes(), 630_u32.to_be_bytes()].concat(), "{path}");
        assert_eq!((property("og:image:width"), property("og:image:height")), ("1200".to_owned(), "630".to_owned()));
        assert_eq!((property("og:image:type"), property("og:image:alt")), ("image/png".to_owned(), title.to_owned()));
        assert!(html.contains("<meta name=\"twitter:card\" content=\"summary_large_image\">"), "{html}");
        assert!(seen.insert(picture), "{path} has the picture of another page");
    }
}

#[tokio::test]
async fn a_declared_image_is_the_picture_of_its_page() {
    let (app, site) = (TestApp::start().await, Site::new("previews-declared"));
    for (name, width) in [("site.png", 10), ("blog/cover.png", 20), ("images/app.png", 30)] {
        site.write(name, png(width, 5, name));
    }
    site.write("site.toml", "name = \"Example\"\ndescription = \"An example\"\nimage = \"site.png\"\n");
    site.write("apps.toml", "[[apps]]\nid = \"notes\"\ndisplay_name = \"Notes\"\nsubtitle = \"x\"\nimage = \"images/app.png\"\n");
    site.write("blog/hello.md", "+++\ntitle = \"Hello\"\npublished_at = 2025-01-02\nimage = \"cover.png\"\n+++\nText.\n");
    let done = site.publish(&app).await;
    assert_eq!(done.stored, 3, "nothing is drawn");
    for (path, width) in [("/", "10"), ("/blog", "10"), ("/apps", "10"), ("/apps/notes", "30"), ("/blog/hello", "20")] {
        let html = page(&app, path).await;
        assert_eq!(property(&html, "og:image:width"), Some(width), "{path}");
        let image = property(&html, "og:image").unwrap().strip_prefix(SITE).unwrap().to_owned();
        assert_eq!(app.anonymous().get(&image).await.status(), 200, "{path}");
    }
    // The content API does not have a field for pictures.
    let post = app.anonymous().get("/api/v1/blog-posts").await.json()["data"][0].clone();
    assert_eq!(post.as_object().unwrap().len(), 5, "{post}");
}

#[tokio::test]
async fn content_that_was_published_without_images_has_pages_without_pictures() {
    let app = TestApp::start().await;
    app.publish(&gateway::content::sample(None)).await;
    for path in ["/", "/blog", "/blog/hello", "/apps/notes"] {
        let html = page(&app, path).await;
        assert!(!html.contains("og:image") && html.contains("<meta name=\"twitter:card\" content=\"summary\">"), "{path}");
    }
}
