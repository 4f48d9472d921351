//! Pages about the content. The pages work without scripts, load only the site's stylesheet, icon
//! and pictures, and show all times in UTC.

use model::content::image::ImageName;
use model::content::{App, BlogPost, Content, ShownContent, Site};

use crate::document::{Document, HTML};
use crate::escape::markup;
use crate::look::style_version;
use crate::{images, markdown};

/// The content security policy of the site's pages, which allows the site's stylesheets and
/// pictures, but not scripts.
pub const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The logo, which is also in the layout of the gateway's pages.
const LOGO: &str = "<svg viewBox=\"0 0 24 24\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\" stroke-linecap=\"square\" \
    aria-hidden=\"true\"><path d=\"M4 21V11a8 8 0 0 1 16 0v10M9 21v-9M15 21v-9\"/></svg>";

/// The entries of the navigation: labels and paths.
const NAVIGATION: [(&str, &str); 3] = [("Blog", "/blog"), ("Apps", "/apps"), ("Docs", "/docs")];

/// The parts of a page that differ from page to page.
struct Page<'a> {
    title: &'a str,
    description: &'a str,
    /// The page's URL for search engines.
    canonical: &'a str,
    /// The page's type in the Open Graph protocol.
    kind: &'a str,
    /// The path of the page's entry in the navigation.
    here: &'a str,
    /// The path of the image for previews of links, if there is one.
    picture: Option<&'a str>,
    /// Additional markup for the `head` element, after the metadata.
    head: String,
    /// The main part, as HTML.
    main: String,
}

/// The path in the site's URL, without a trailing slash. Links between pages are paths, so that
/// they also work under other names of the same host.
fn root(site_url: &str) -> &str {
    let host = site_url.split_once("://").map_or(site_url, |(_, host)| host);
    host.find('/').map_or("", |start| &host[start..])
}

impl Page<'_> {
    fn document(&self, site: &Site, site_url: &str) -> Document {
        let (root, name, title) = (markup(root(site_url)), markup(&site.name), markup(self.title));
        let (description, canonical) = (markup(self.description), markup(self.canonical));
        let links = NAVIGATION.map(|(label, path)| {
            let current = if path == self.here { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{root}{path}\"{current}>{label}</a>\n")
        });
        let body = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title} · {name}</title>\n<meta name=\"description\" content=\"{description}\">\n\
             <link rel=\"canonical\" href=\"{canonical}\">\n\
             <link rel=\"icon\" type=\"image/svg+xml\" href=\"{root}/icon.svg\">\n\
             <link rel=\"stylesheet\" href=\"{root}/style.css?v={version}\">\n\
             <link rel=\"alternate\" type=\"application/atom+xml\" title=\"{name}\" href=\"{root}/feed.xml\">\n\
             <meta property=\"og:type\" content=\"{kind}\">\n<meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:description\" content=\"{description}\">\n<meta property=\"og:url\" content=\"{canonical}\">\n\
             <meta property=\"og:site_name\" content=\"{name}\">\n{preview}{head}</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to content</a>\n<header class=\"bar\"><div>\n\
             <a class=\"brand\" href=\"{root}/docs\">{LOGO}{name}</a>\n<nav aria-label=\"Main\">\n{links}</nav>\n</div></header>\n\
             <main id=\"main\" tabindex=\"-1\">\n{main}</main>\n</body>\n</html>\n",
            version = style_version(),
            kind = self.kind,
            preview = preview(self.picture, self.title, site_url),
            head = self.head,
            links = links.concat(),
            main = self.main,
        );
        Document::from_content(HTML, body)
    }
}

/// The metadata for previews of links to a page, with an image or without one.
fn preview(picture: Option<&str>, title: &str, site_url: &str) -> String {
    let Some((path, name)) = picture.and_then(|path| Some((path, ImageName::from_path(path)?))) else {
        return "<meta name=\"twitter:card\" content=\"summary\">\n".to_owned();
    };
    format!(
        "<meta property=\"og:image\" content=\"{}\">\n<meta property=\"og:image:type\" content=\"{}\">\n\
         <meta property=\"og:image:width\" content=\"{}\">\n<meta property=\"og:image:height\" content=\"{}\">\n\
         <meta property=\"og:image:alt\" content=\"{}\">\n<meta name=\"twitter:card\" content=\"summary_large_image\">\n",
        markup(&format!("{site_url}{path}")),
        name.format.media_type(),
        name.width,
        name.height,
        markup(title),
    )
}

/// A `time` element; all times of the content are in UTC.
fn time(published_at: &str) -> String {
    let shown = published_at.replace('T', " ").replace('Z', " UTC");
    format!("<time datetime=\"{}\">{}</time>", markup(published_at), markup(&shown))
}

/// A list of links, each with a title and a text in HTML; if there are no links, the text
/// `nothing`.
fn cards(lines: impl Iterator<Item = (String, String, String)>, nothing: &str) -> String {
    let items: Vec<String> = lines
        .map(|(url, title, text)| {
            format!("<li><a href=\"{}\"><strong>{}</strong><span>{text}</span></a></li>\n", markup(&url), markup(&title))
        })
        .collect();
    let items = items.concat();
    if items.is_empty() { format!("<p class=\"empty\">{nothing}</p>\n") } else { format!("<ul class=\"cards\">\n{items}</ul>\n") }
}

fn post_cards(posts: &[BlogPost]) -> String {
    let card =
        |post: &BlogPost| (post.url.clone(), post.title.clone(), format!("{}<br>{}", time(&post.published_at), markup(&post.excerpt)));
    cards(posts.iter().map(card), "No post has been published yet.")
}

fn app_cards(apps: &[App]) -> String {
    let card = |app: &App| (app.url.clone(), app.display_name.clone(), markup(&app.subtitle));
    cards(apps.iter().map(card), "No app has been published yet.")
}

/// The number of posts on a page of the blog.
pub const POSTS: usize = 50;

/// The path of one of the blog's pages; the first page has the number 1.
fn blog_path(number: usize) -> String {
    if number <= 1 { "/blog".to_owned() } else { format!("/blog?page={number}") }
}

/// `/blog`, `/blog?page=2`, …: the posts, newest first; every page except the last one has
/// [`POSTS`] posts.
pub fn blog(shown: &ShownContent, site_url: &str) -> Document {
    let (root, content) = (root(site_url), &shown.content);
    let (number, count) = (shown.skipped / POSTS + 1, shown.total.div_ceil(POSTS).max(1));
    let (newer, older) = ((number > 1).then(|| number - 1), (number < count).then(|| number + 1));
    let href = |number: usize| markup(&format!("{root}{}", blog_path(number)));
    let link = |relation: &str, page: Option<usize>| {
        page.map(|page| format!("<link rel=\"{relation}\" href=\"{}\">\n", href(page))).unwrap_or_default()
    };
    let (title, part) = match number {
        1 => ("Blog".to_owned(), String::new()),
        _ => (format!("Blog, page {number}"), format!(" Page {number} of {count}.")),
    };
    Page {
        title: &title,
        description: &format!("All posts of {}, newest first.{part}", content.site.name),
        canonical: &format!("{site_url}{}", blog_path(number)),
        kind: "website",
        here: "/blog",
        picture: content.picture("/blog"),
        head: link("prev", newer) + &link("next", older),
        main: format!("<h1>{title}</h1>\n{}{}", post_cards(&content.blog_posts), pages(number, count, newer.map(href), older.map(href))),
    }
    .document(&content.site, site_url)
}

/// The links between the pages of a list; empty if there is only one page.
fn pages(number: usize, count: usize, newer: Option<String>, older: Option<String>) -> String {
    if count == 1 {
        return String::new();
    }
    let link = |href: Option<String>, relation: &str, label: &str| {
        href.map(|href| format!("<a class=\"button\" rel=\"{relation}\" href=\"{href}\">{label}</a>\n")).unwrap_or_default()
    };
    let (newer, older) = (link(newer, "prev", "Newer posts"), link(older, "next", "Older posts"));
    format!("<nav class=\"buttons\" aria-label=\"Pages\">\n{newer}{older}<span class=\"muted\">Page {number} of {count}</span>\n</nav>\n")
}

/// `/apps`: all apps, in the order of the directory.
pub fn apps(content: &Content, site_url: &str) -> Document {
    Page {
        title: "Apps",
        description: &format!("All apps of {}.", content.site.name),
        canonical: &format!("{site_url}/apps"),
        kind: "website",
        here: "/apps",
        picture: content.picture("/apps"),
        head: String::new(),
        main: format!("<h1>Apps</h1>\n{}", app_cards(&content.apps)),
    }
    .document(&content.site, site_url)
}

/// The number of posts on the page `/docs`.
pub(crate) const RECENT: usize = 5;

/// `/docs`: the documentation for people and the documents for programs.
pub fn docs(content: &Content, site_url: &str) -> Document {
    let (site, root) = (&content.site, markup(root(site_url)));
    let recent = &content.blog_posts[..content.blog_posts.len().min(RECENT)];
    let rows: Vec<String> = crate::text::PROGRAMS
        .iter()
        .map(|(path, title, text)| format!("<tr><td><a href=\"{root}{path}\">{title}</a></td><td>{text}</td></tr>\n"))
        .collect();
    let rows = rows.concat();
    Page {
        title: "Docs",
        description: &site.description,
        canonical: &format!("{site_url}/docs"),
        kind: "website",
        here: "/docs",
        picture: content.picture("/docs"),
        head: String::new(),
        main: format!(
            "<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<h2 id=\"apps\">Apps</h2>\n{}<h2 id=\"posts\">Recent posts</h2>\n{}\
             <h2 id=\"programs\">For programs and agents</h2>\n<section class=\"scroll\" tabindex=\"0\" aria-label=\"Documents\">\
             <table>\n<thead><tr><th scope=\"col\">Document</th><th scope=\"col\">Contents</th></tr></thead>\n<tbody>\n{rows}</tbody></table></section>\n",
            markup(&site.name),
            markup(&site.description),
            app_cards(&content.apps),
            post_cards(recent),
        ),
    }
    .document(site, site_url)
}

/// `/apps/{app_id}`: the page of an app; `front` is the site, with the pictures of its pages.
pub fn app(front: &Content, app: &App, site_url: &str) -> Document {
    let path = format!("/apps/{}", app.id);
    let own = format!("{site_url}{path}");
    let elsewhere = if app.url == own {
        String::new()
    } else {
        format!("<p class=\"buttons\"><a class=\"button main\" href=\"{}\">Open {}</a></p>\n", markup(&app.url), markup(&app.display_name))
    };
    Page {
        title: &app.display_name,
        description: &app.subtitle,
        canonical: &app.url,
        kind: "website",
        here: "/apps",
        picture: front.picture(&path),
        head: String::new(),
        main: format!(
            "<div class=\"narrow\">\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n{elsewhere}</div>\n",
            markup(&app.display_name),
            markup(&app.subtitle)
        ),
    }
    .document(&front.site, site_url)
}

/// `/blog/{slug}`: a post with its text, which is Markdown.
pub fn post(site: &Site, post: &BlogPost, text: &str, picture: Option<&str>, site_url: &str) -> Document {
    let (slug, published) = (markup(&post.slug), markup(&post.published_at));
    Page {
        title: &post.title,
        description: &post.excerpt,
        canonical: &post.url,
        kind: "article",
        here: "/blog",
        picture,
        head: format!(
            "<link rel=\"alternate\" type=\"text/markdown\" href=\"{}/blog/{slug}.md\">\n\
             <meta property=\"article:published_time\" content=\"{published}\">\n",
            markup(root(site_url))
        ),
        main: format!(
            "<article class=\"prose\">\n<h1>{}</h1>\n<p class=\"muted\">{}</p>\n{}</article>\n",
            markup(&post.title),
            time(&post.published_at),
            images::placed(&markdown::html(text, &post.title), &markup(root(site_url)))
        ),
    }
    .document(site, site_url)
}

/// `/docs/api`: the operations of the API, from the Markdown table of `operations`.
pub fn reference(site: &Site, operations: &str, site_url: &str) -> Document {
    let root = markup(root(site_url));
    let table = operations.find("\n| ").map_or("", |start| &operations[start..]);
    Page {
        title: "API reference",
        description: &format!("All operations of the API of {}.", site.name),
        canonical: &format!("{site_url}/docs/api"),
        kind: "website",
        here: "/docs",
        picture: None,
        head: format!("<link rel=\"service-desc\" type=\"application/json\" href=\"{root}/openapi.json\">\n"),
        main: format!(
            "<h1>API reference</h1>\n<p>Fields, responses and errors of each operation are in the <a href=\"{root}/openapi.json\">OpenAPI \
             document</a>, and all <a href=\"{root}/docs/errors\">error codes</a> on a page of their own.</p>\n{}",
            markdown::html(table, "")
        ),
    }
    .document(site, site_url)
}
