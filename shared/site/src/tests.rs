//! Tests of documents with hostile texts.

use model::content::{App, BlogPost, Content, MAX_BYTES, Site};

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
        texts: [("second".to_owned(), "# Evil\n\n```\n".to_owned())].into(),
        ..Content::unpublished(SITE)
    }
}

fn all() -> Vec<Document> {
    let (shown, content) = (ShownContent::all(content()), content());
    let site = &content.site;
    let rendered = |name: &&str| fixed(name, SITE).or_else(|| Some(renderer(name)?(&shown, SITE)));
    let mut all: Vec<Document> = NAMES.iter().map(|name| rendered(name).unwrap()).collect();
    all.push(page::post(site, &content.blog_posts[0], "# Evil", None, SITE));
    all.push(page::app(&content, &content.apps[0], SITE));
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
    content.texts = content.blog_posts.iter().map(|post| (post.slug.clone(), "word ".repeat(300_000))).collect();
    // The store does not read texts beyond the limit, but counts all posts.
    let full = text::llms_full(&ShownContent { total: 1000, ..ShownContent::all(content) }, SITE).body;
    assert!(full.len() <= MAX_BYTES, "{}", full.len());
    let end = format!("the 998 oldest posts. {SITE}/api/v1/blog-posts?offset=2 lists them.\n");
    assert!(full.ends_with(&end), "{}", &full[full.len() - 200..]);
}

#[test]
fn lists_beyond_the_limit_are_cut_and_lead_to_the_rest() {
    let mut long = content();
    let title = "long ".repeat(100);
    long.blog_posts =
        (0..9000).map(|number| BlogPost { slug: format!("p{number}"), title: title.clone(), ..long.blog_posts[1].clone() }).collect();
    let shown = ShownContent { total: 50_000, ..ShownContent::all(long) };
    for document in [text::llms(&shown, SITE), text::index(&shown, SITE)] {
        assert!(document.body.len() <= MAX_BYTES, "{}", document.body.len());
        let listed = document.body.matches("/blog/p").count();
        assert!((1000..9000).contains(&listed), "{listed}");
        let rest = format!("\n- [{} older posts]({SITE}/api/v1/blog-posts?offset={listed}): omitted", 50_000 - listed);
        assert!(document.body.contains(&rest), "{rest}");
    }
    let mut long = shown.content;
    long.blog_posts.iter_mut().for_each(|post| post.url = format!("{SITE}/{}", "x".repeat(1000)));
    let map = feed::sitemap(&long, SITE).body;
    assert!(map.len() <= MAX_BYTES + 200 && map.ends_with("</url>\n</urlset>\n"), "{}", map.len());
}

#[test]
fn a_long_blog_has_pages_that_lead_to_each_other() {
    let page = |skipped: usize, total: usize| page::blog(&ShownContent { content: content(), skipped, total }, SITE).body;
    let only = page(0, page::POSTS);
    assert!(!only.contains("rel=\"prev\"") && !only.contains("rel=\"next\"") && !only.contains("aria-label=\"Pages\""), "{only}");
    let first = page(0, page::POSTS + 1);
    assert!(first.contains("<link rel=\"next\" href=\"/base/blog?page=2\">") && !first.contains("rel=\"prev\""), "{first}");
    assert!(first.contains("<link rel=\"canonical\" href=\"https://example.com/base/blog\">"), "{first}");
    let second = page(page::POSTS, 3 * page::POSTS);
    for part in [
        "<link rel=\"canonical\" href=\"https://example.com/base/blog?page=2\">",
        "<link rel=\"prev\" href=\"/base/blog\">",
        "<link rel=\"next\" href=\"/base/blog?page=3\">",
        "<title>Blog, page 2 ·",
        "Page 2 of 3",
    ] {
        assert!(second.contains(part), "{part} in {second}");
    }
    let last = page(2 * page::POSTS, 3 * page::POSTS);
    assert!(last.contains("href=\"/base/blog?page=2\"") && !last.contains("rel=\"next\""), "{last}");
}

#[test]
fn pages_refer_to_each_other_by_paths_below_the_sites_own() {
    let page = page::blog(&ShownContent::all(content()), SITE).body;
    assert!(page.contains("href=\"/base/style.css?v=") && page.contains("<a href=\"/base/blog\" aria-current=\"page\">"), "{page}");
    let page = page::blog(&ShownContent::all(content()), "https://example.com").body;
    assert!(page.contains("href=\"/style.css?v=") && page.contains("rel=\"canonical\" href=\"https://example.com/blog\""), "{page}");
}
