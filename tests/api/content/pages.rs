//! Lists that are too long for one response: the pages of the blog, and the API's list of posts.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use model::content::MAX_BYTES;
use support::{Answer, TestApp};

use super::publications::long_blog;

/// The slugs of the posts that a page of the blog links to.
fn slugs(page: &Answer) -> Vec<String> {
    let links = page.text().split("href=\"https://site.example/blog/").skip(1);
    links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The URL of a relation in the head of a page. `None` if the head does not contain the relation.
fn related(page: &Answer, relation: &str) -> Option<String> {
    let (_, rest) = page.text().split_once(&format!("<link rel=\"{relation}\" href=\""))?;
    Some(rest.split('"').next().unwrap().to_owned())
}

/// The slugs on each page of the blog, starting with the first page.
async fn followed(app: &TestApp) -> Vec<Vec<String>> {
    let (mut pages, mut next) = (Vec::new(), Some("/blog".to_owned()));
    while let Some(path) = next {
        let page = app.anonymous().get(&path).await;
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(related(&page, "canonical"), Some(format!("https://site.example{path}")));
        pages.push(slugs(&page));
        next = related(&page, "next");
    }
    pages
}

#[tokio::test]
async fn the_pages_of_a_long_blog_have_every_post_once() {
    let app = TestApp::start_unobserved().await;
    let mut content = long_blog(1000);
    app.publish(&content).await;
    let expected: Vec<String> = content.blog_posts.iter().map(|post| post.slug.clone()).collect();
    let pages = followed(&app).await;
    assert_eq!((pages.len(), pages[0].len(), pages.concat()), (20, 50, expected.clone()));

    // Posts with a future date do not appear on any page, and do not leave gaps.
    for post in &mut content.blog_posts[..333] {
        post.published_at = (app.now() + SignedDuration::from_hours(1)).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    }
    app.publish(&content).await;
    let pages = followed(&app).await;
    assert_eq!((pages.len(), pages[13].len(), pages.concat()), (14, 17, expected[333..].to_vec()));
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(followed(&app).await.concat(), expected);
}

#[tokio::test]
async fn a_page_of_the_blog_is_a_document_like_others() {
    let app = TestApp::start().await;
    app.publish(&long_blog(120)).await;
    let first = app.anonymous().get("/blog").await;
    for query in ["offset=7", "", "x=%", "Page=2"] {
        let page = app.anonymous().get(&format!("/blog?{query}")).await;
        assert_eq!((page.status(), page.text()), (200, first.text()), "{query}");
    }
    let last = app.anonymous().get("/blog?page=3").await;
    assert!(last.text().contains("<title>Blog, page 3 · ") && last.text().contains("Page 3 of 3"), "{}", last.text());
    assert_eq!((related(&last, "prev").as_deref(), related(&last, "next")), (Some("/blog?page=2"), None));
    let again = app.anonymous().request("GET", "/blog?page=3").header("if-none-match", last.header("etag").unwrap()).send().await;
    assert_eq!(again.status(), 304);
    let head = app.anonymous().request("HEAD", "/blog?page=3").send().await;
    assert_eq!((head.status(), head.header("etag")), (200, last.header("etag")));
    for beyond in ["4", "1000000", "18446744073709551615"] {
        let answer = app.anonymous().get(&format!("/blog?page={beyond}")).await;
        assert_eq!((answer.status(), answer.json()["error"]["code"].as_str()), (404, Some("route_not_found")), "{beyond}");
    }
    let feed = app.anonymous().get("/feed.xml").await;
    assert_eq!(app.anonymous().get("/feed.xml?page=3").await.text(), feed.text(), "only the blog has pages");
}

/// Caches treat every form of a query as different. A form that no link uses must therefore not
/// cause reads.
#[tokio::test]
async fn another_form_of_a_number_leads_to_the_path_without_a_query() {
    let app = TestApp::start().await;
    app.publish(&long_blog(120)).await;
    for number in ["=1", "=0", "=", "=x", "=-2", "=1.5", "", "=%ff", "=02", "=+2", "=%32"] {
        for (path, name, to) in [("/blog", "page", "blog"), ("/api/v1/blog-posts", "offset", "blog-posts")] {
            if (name, number) == ("offset", "=1") {
                continue;
            }
            for query in [format!("{name}{number}"), format!("x=%&{name}{number}"), format!("{name}=2&{name}{number}")] {
                app.recorder.measure();
                let answer = app.anonymous().get(&format!("{path}?{query}")).await;
                assert_eq!((answer.status(), answer.header("location")), (307, Some(to)), "{path}?{query}");
                assert_eq!(app.recorder.consumed().calls, 0, "{path}?{query}");
                app.recorder.clear();
            }
        }
    }
}

#[tokio::test]
async fn pages_after_the_last_post_read_no_posts() {
    let app = TestApp::start().await;
    app.publish(&long_blog(120)).await;
    for (path, status) in [("/blog?page=4", 404), ("/blog?page=999999", 404), ("/api/v1/blog-posts?offset=120", 200)] {
        app.recorder.measure();
        assert_eq!(app.anonymous().get(path).await.status(), status, "{path}");
        assert_eq!(app.recorder.consumed().calls, 1, "{path}");
        app.recorder.clear();
    }
}

#[tokio::test]
async fn a_list_at_an_offset_between_hundreds_ends_at_the_next_hundred() {
    let app = TestApp::start().await;
    app.publish(&long_blog(250)).await;
    let all = app.anonymous().get("/api/v1/blog-posts").await.json()["data"].as_array().unwrap().clone();
    for (offset, end) in [(0, 250), (1, 100), (99, 100), (100, 250), (101, 200), (201, 250), (249, 250)] {
        let query = if offset == 0 { String::new() } else { format!("?offset={offset}") };
        let part = app.anonymous().get(&format!("/api/v1/blog-posts{query}")).await;
        assert_eq!(part.json()["data"].as_array().unwrap()[..], all[offset..end], "{offset}");
        let next = (end < 250).then(|| format!("<https://site.example/api/v1/blog-posts?offset={end}>; rel=\"next\""));
        assert_eq!(part.header("link").map(str::to_owned), next, "{offset}");
    }
}

#[tokio::test]
async fn a_list_that_is_too_long_leads_to_its_rest() {
    let app = TestApp::start_unobserved().await;
    let mut content = long_blog(3000);
    content.blog_posts.iter_mut().for_each(|post| post.title = "long ".repeat(600));
    // In a test, writing nine megabytes takes longer than the timeout of a call to the table.
    tokio::time::pause();
    app.publish(&content).await;
    tokio::time::resume();
    let (mut found, mut answers, mut next) = (Vec::new(), 0, Some("/api/v1/blog-posts".to_owned()));
    while let Some(path) = next {
        let answer = app.anonymous().get(&path).await;
        assert!(answer.status() == 200 && answer.bytes().len() <= 1_000_100, "{path}: {} bytes", answer.bytes().len());
        assert_eq!(answer.header("access-control-expose-headers"), Some("etag, link"));
        let list = answer.json();
        assert!(!list["data"].as_array().unwrap().is_empty(), "{path}");
        found.extend(list["data"].as_array().unwrap().iter().map(|post| post["slug"].as_str().unwrap().to_owned()));
        let link = |link: &str| link.strip_prefix("<https://site.example").unwrap().strip_suffix(">; rel=\"next\"").unwrap().to_owned();
        next = answer.header("link").map(link);
        answers += 1;
    }
    let expected: Vec<String> = content.blog_posts.iter().map(|post| post.slug.clone()).collect();
    assert_eq!((answers, found), (10, expected));
    for path in ["/llms.txt", "/index.md"] {
        let answer = app.anonymous().get(path).await;
        assert!(answer.bytes().len() <= MAX_BYTES, "{path}: {} bytes", answer.bytes().len());
        let rest = answer.text().split("/api/v1/blog-posts?offset=").nth(1).unwrap().split(')').next().unwrap();
        let listed: BTreeSet<&str> = answer.text().split("/blog/").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
        assert_eq!(rest.parse(), Ok(listed.len()), "{path}");
    }
}

#[tokio::test]
async fn a_list_that_fits_has_no_rest_and_ignores_other_parameters() {
    let app = TestApp::start().await;
    app.publish(&long_blog(120)).await;
    let all = app.anonymous().get("/api/v1/blog-posts").await;
    assert_eq!((all.header("link"), all.json()["data"].as_array().unwrap().len()), (None, 120));
    for query in ["page=2", "", "limit=1&x", "Offset=1"] {
        assert_eq!(app.anonymous().get(&format!("/api/v1/blog-posts?{query}")).await.text(), all.text(), "{query}");
    }
    for (offset, count) in [("119", 1), ("120", 0), ("18446744073709551615", 0)] {
        let rest = app.anonymous().get(&format!("/api/v1/blog-posts?offset={offset}")).await;
        assert_eq!((rest.status(), rest.header("link"), rest.json()["data"].as_array().unwrap().len()), (200, None, count));
    }
}
