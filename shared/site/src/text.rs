//! The texts for language models, `robots.txt` and `security.txt`.

use std::fmt::Write as _;

use model::content::{BlogPost, Content, MAX_BYTES, ShownContent};
use model::security_contact::SecurityContact;

use crate::document::{Document, MARKDOWN, PLAIN};
use crate::escape::markdown;
use crate::images;
use crate::markdown::embedded;

/// The documents for programs: paths, titles and contents.
pub(crate) const PROGRAMS: [(&str, &str, &str); 11] = [
    ("/llms.txt", "llms.txt", "This site for language models: a list of links"),
    ("/llms-full.txt", "llms-full.txt", "The same, with the text of every post"),
    ("/index.md", "index.md", "The start page in Markdown"),
    ("/feed.xml", "Atom feed", "The newest posts"),
    ("/feed.json", "JSON Feed", "The newest posts, as JSON"),
    ("/sitemap.xml", "Sitemap", "Every page"),
    ("/openapi.json", "OpenAPI", "All operations of the API"),
    ("/docs/api", "API reference", "All operations of the API, as a page"),
    ("/.well-known/api-catalog", "API catalog", "The APIs and their descriptions (RFC 9727)"),
    ("/.well-known/ai-catalog.json", "AI catalog", "The MCP server and the agent of this site"),
    ("/.well-known/agent-card.json", "Agent card", "The agent of this site (A2A)"),
];

/// The title, the description, and two sentences about access and times.
fn head(content: &Content) -> String {
    let site = &content.site;
    format!(
        "# {}\n\n> {}\n\nAll of this is public, and may be read without credentials. Times are in UTC.\n",
        markdown(&site.name),
        markdown(&site.description)
    )
}

/// The apps as a section; empty if there are none.
fn apps(content: &Content) -> String {
    let line = |app: &model::content::App| format!("- [{}]({}): {}\n", markdown(&app.display_name), app.url, markdown(&app.subtitle));
    section("Apps", content.apps.iter().map(line))
}

fn date(post: &BlogPost) -> &str {
    post.published_at.get(..10).unwrap_or(&post.published_at)
}

/// The space reserved for the note about omitted posts, in bytes.
const NOTE_ROOM: usize = 1024;

/// The posts as a section with links to their Markdown texts; `others` is the number of bytes in
/// the rest of the document. If there is not enough room for all posts, the last link leads to a
/// list of the omitted posts.
fn posts(shown: &ShownContent, site_url: &str, others: usize) -> String {
    let line = |post: &BlogPost| {
        format!("- [{}]({site_url}/blog/{}.md): {}. {}\n", markdown(&post.title), post.slug, date(post), markdown(&post.excerpt))
    };
    let mut size = others + NOTE_ROOM;
    let fits = |line: &String| {
        size += line.len();
        size <= MAX_BYTES
    };
    let mut lines: Vec<String> = shown.content.blog_posts.iter().map(line).take_while(fits).collect();
    let (listed, left_out) = (lines.len(), shown.total.saturating_sub(lines.len()));
    if left_out > 0 {
        lines.push(format!("- [{left_out} older posts]({}): omitted to limit the length of this text\n", omitted_note(listed, site_url)));
    }
    section("Posts", lines.into_iter())
}

/// The URL of the list of all posts except the `newer` newest ones.
fn omitted_note(newer: usize, site_url: &str) -> String {
    format!("{site_url}/api/v1/blog-posts?offset={newer}")
}

fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n## {title}\n\n{lines}") }
}

/// `/llms.txt`: the site as lists of links (llmstxt.org).
pub fn llms(shown: &ShownContent, site_url: &str) -> Document {
    let api = [
        format!("- [Apps]({site_url}/api/v1/apps): all apps, as JSON\n"),
        format!("- [Posts]({site_url}/api/v1/blog-posts): the posts without their texts, as JSON\n"),
        format!("- [Site]({site_url}/api/v1/site): the site and its documents, as JSON\n"),
    ];
    let others = PROGRAMS.iter().skip(1).map(|(path, title, text)| format!("- [{title}]({site_url}{path}): {text}\n"));
    let (start, end) = (head(&shown.content) + &apps(&shown.content), section("API", api.into_iter()) + &section("Optional", others));
    let posts = posts(shown, site_url, start.len() + end.len());
    Document::from_content(PLAIN, start + &posts + &end)
}

/// `/index.md`: the start page in Markdown.
pub fn index(shown: &ShownContent, site_url: &str) -> Document {
    let more = [
        format!("- [Docs]({site_url}/docs): everything on this site\n"),
        format!("- [llms.txt]({site_url}/llms.txt): for language models\n"),
        format!("- [Feed]({site_url}/feed.xml): new posts\n"),
    ];
    let (start, end) = (head(&shown.content) + &apps(&shown.content), section("More", more.into_iter()));
    let posts = posts(shown, site_url, start.len() + end.len());
    Document::from_content(MARKDOWN, start + &posts + &end)
}

/// A post in Markdown: title, URL, time and text.
fn whole(post: &BlogPost, text: &str, level: &str) -> String {
    format!("{level} {}\n\n{}, {}\n\n", markdown(&post.title), post.url, post.published_at) + text
}

/// `/blog/{slug}.md`: a post in Markdown, with its title, URL and time above the text.
pub fn post(post: &BlogPost, text: &str) -> Document {
    let repeated = format!("# {}", post.title);
    let text = text.trim();
    let text = text.strip_prefix(&repeated).filter(|rest| rest.is_empty() || rest.starts_with('\n')).unwrap_or(text);
    Document::from_content(MARKDOWN, whole(post, text.trim(), "#").trim_end().to_owned() + "\n")
}

/// `/llms-full.txt`: the site with the texts of its posts, newest first. If the texts are too long,
/// the oldest posts are omitted, and the last line gives their number and says where to find them.
pub fn llms_full(shown: &ShownContent, site_url: &str) -> Document {
    let content = &shown.content;
    let mut body = head(content) + &apps(content);
    let mut written = 0;
    for post in &content.blog_posts {
        let text = content.texts.get(&post.slug).map(String::as_str).unwrap_or_default();
        let part = format!("\n{}\n", whole(post, &embedded(&images::absolute(text, site_url)), "##").trim_end());
        if body.len() + part.len() + NOTE_ROOM > MAX_BYTES {
            break;
        }
        body += &part;
        written += 1;
    }
    let left_out = shown.total.saturating_sub(written);
    if left_out > 0 {
        let place = omitted_note(written, site_url);
        let _ = write!(body, "\nOmitted to limit the length of this text: the {left_out} oldest posts. {place} lists them.\n");
    }
    Document::from_content(PLAIN, body)
}

/// `/robots.txt` (RFC 9309). If this file cannot be fetched, crawlers must stay away from the whole
/// site, so the file does not depend on the table.
pub(crate) fn robots(site_url: &str) -> Document {
    let rules = format!("User-agent: *\nAllow: /\nDisallow: /api/v1/auth/\n\nSitemap: {site_url}/sitemap.xml\n");
    Document::from_release(PLAIN, rules)
}

/// `/.well-known/security.txt` (RFC 9116): the contact for reporting vulnerabilities. `Canonical`
/// is left out if the site's URL is not `https`, because the RFC permits only such URLs in this
/// field.
pub fn security(contact: &SecurityContact, site_url: &str) -> Document {
    let mut lines = String::new();
    for address in &contact.contacts {
        let _ = writeln!(lines, "Contact: {address}");
    }
    let _ = writeln!(lines, "Expires: {}", contact.expires.strftime("%Y-%m-%dT%H:%M:%SZ"));
    if site_url.starts_with("https://") {
        let _ = writeln!(lines, "Canonical: {site_url}/.well-known/security.txt");
    }
    Document::from_release(PLAIN, lines)
}
