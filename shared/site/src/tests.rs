//! Documents of a site with hostile texts.

use model::content::{App, BlogPost, Site};

use super::*;

const SITE: &str = "https://example.com/base";

fn content() -> Content {
    let evil = "]]> <script>x</script>\n## Evil [a](b) \u{0}\u{b}&";
    Content {
        site: Site { name: format!("Site {evil}"), ..Site::unpublished(SITE) },
        apps: vec![App {
            id: "notes".to_owned(),
            display_name: evil.to_owned(),
            subtitle: evil.to_owned(),
            url: format!("{SITE}/apps/notes"),
        }],
        blog_posts: vec![
            BlogPost {
                slug: "second".to_owned(),
                title: evil.to_owned(),
                published_at: "2026-03-02T08:00:00Z".to_owned(),
                excerpt: evil.to_owned(),
                url: "https://elsewhere.example/second?a=1&b=2".to_owned(),
            },
            BlogPost {
                slug: "first".to_owned(),
                title: "First".to_owned(),
                published_at: "2026-01-02T08:00:00Z".to_owned(),
                excerpt: "Short".to_owned(),
                url: format!("{SITE}/blog/first"),
            },
        ],
        ..Content::unpublished(SITE)
    }
}

fn all() -> Vec<Document> {
    let content = content();
    let (site, texts) = (&content.site, [(content.blog_posts[0].clone(), "# Evil\n\n```\n".to_owned())]);
    let rendered = |name: &&str| fixed(name, SITE).or_else(|| Some(renderer(name)?(&content, SITE)));
    let mut all: Vec<Document> = NAMES.iter().filter(|name| **name != FULL).map(|name| rendered(name).unwrap()).collect();
    all.push(page::post(site, &content.blog_posts[0], "# Evil", None, SITE));
    all.push(page::app(&content, &content.apps[0], SITE));
    all.push(text::llms_full(&content, &texts));
    all.push(text::post(&content.blog_posts[0], "# Evil"));
    all
}

#[test]
fn texts_of_the_content_become_neither_markup_nor_headings() {
    for document in all() {
        let body = &document.body;
        if document.media_type.contains("xml") || document.media_type.contains("html") {
            assert!(!body.contains("<script") && !body.contains("]]>") && !body.contains("b=2&b"), "{body}");
            assert!(!body.contains("&b=2") && !body.contains(['\u{0}', '\u{b}']), "{body}");
        }
        if document.media_type.contains("plain") || document.media_type.contains("markdown") {
            let evil = body.lines().filter(|line| line.starts_with("## Evil") || line.starts_with("# Evil"));
            let own = usize::from(body.starts_with("# \\]\\]>"));
            assert_eq!(evil.count(), own, "{body}");
        }
    }
}

#[test]
fn a_document_is_the_same_each_time() {
    assert_eq!(all(), all());
}

#[test]
fn a_feed_has_permanent_ids_and_the_time_of_its_newest_post() {
    let feed = feed::atom(&content(), SITE).body;
    let parts = ["<id>https://example.com/base/blog</id>", "<updated>2026-03-02T08:00:00Z</updated>\n<author>"];
    let entry = ["<id>https://example.com/base/blog/second</id>", "href=\"https://elsewhere.example/second?a=1&amp;b=2\""];
    assert!(parts.iter().chain(&entry).all(|part| feed.contains(part)), "{feed}");
    let empty = Content { blog_posts: Vec::new(), ..content() };
    assert!(feed::atom(&empty, SITE).body.contains("<updated>1970-01-01T00:00:00Z</updated>"));

    let feed: serde_json::Value = serde_json::from_str(&feed::json(&content(), SITE).body).unwrap();
    assert_eq!(feed["items"][0]["id"], "https://example.com/base/blog/second");
    assert!(feed["items"][1]["content_text"].is_string());
}

#[test]
fn a_feed_has_the_newest_fifty_posts() {
    let mut long = content();
    long.blog_posts = (0..60).map(|number| BlogPost { slug: format!("p{number}"), ..long.blog_posts[1].clone() }).collect();
    let feed = feed::atom(&long, SITE).body;
    assert_eq!((feed.matches("<entry>").count(), feed.contains("/blog/p49<"), feed.contains("/blog/p50<")), (50, true, false));
}

#[test]
fn a_sitemap_has_the_pages_of_its_own_site() {
    let map = feed::sitemap(&content(), SITE).body;
    assert!(map.contains("<loc>https://example.com/base/blog/first</loc><lastmod>2026-01-02</lastmod>"), "{map}");
    assert!(!map.contains("elsewhere") && map.matches("<url>").count() == 5, "{map}");
}

#[test]
fn texts_beyond_the_limit_are_left_out_and_counted() {
    let mut content = content();
    content.blog_posts = (0..4).map(|number| BlogPost { slug: format!("p{number}"), ..content.blog_posts[1].clone() }).collect();
    let text = "word ".repeat(300_000);
    let texts: Vec<_> = content.blog_posts.iter().map(|post| (post.clone(), text.clone())).collect();
    let full = text::llms_full(&content, &texts).body;
    assert!(full.len() <= 4 * 1024 * 1024 + 200, "{}", full.len());
    assert!(full.ends_with("the 2 oldest posts. llms.txt lists them.\n"), "{}", &full[full.len() - 200..]);
}

#[test]
fn pages_refer_to_each_other_by_paths_below_the_sites_own() {
    let page = page::blog(&content(), SITE).body;
    assert!(page.contains("href=\"/base/style.css?v=") && page.contains("<a href=\"/base/blog\" aria-current=\"page\">"), "{page}");
    let page = page::blog(&content(), "https://example.com").body;
    assert!(page.contains("href=\"/style.css?v=") && page.contains("rel=\"canonical\" href=\"https://example.com/blog\""), "{page}");
}
