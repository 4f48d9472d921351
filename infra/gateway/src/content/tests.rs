//! Tests what authors may write, and which errors are reported with file and line.

use model::content::Content;

use super::files::{Files, parse};
use super::gallery::Gallery;
use super::source::Source;
use super::{PublishError, read_directory};

const URL: &str = "https://example.com";
const SITE: &str = "name = \"Example\"\ndescription = \"An example\"\n";
const POST: &str = "+++\ntitle = \"Hello\"\npublished_at = 2026-01-02\n+++\nText.\n";

fn content(files: &Files, site_url: Option<&str>) -> Result<Content, PublishError> {
    parse(files, Gallery::empty(), site_url).map(|folder| folder.content)
}

fn site(text: &str) -> Result<Content, PublishError> {
    content(&Files { site: Source::new("site.toml", text), apps: None, posts: Vec::new() }, Some(URL))
}

fn apps(text: &str) -> Result<Content, PublishError> {
    content(&Files { site: Source::new("site.toml", SITE), apps: Some(Source::new("apps.toml", text)), posts: Vec::new() }, Some(URL))
}

fn posts(posts: &[(&str, &str)]) -> Result<Content, PublishError> {
    let posts = posts.iter().map(|(name, text)| Source::new(name, text)).collect();
    content(&Files { site: Source::new("site.toml", SITE), apps: None, posts }, Some(URL))
}

/// A post with the given lines as front matter.
fn post(lines: &str) -> Result<Content, PublishError> {
    posts(&[("blog/hello.md", &format!("+++\n{lines}\n+++\nText.\n"))])
}

#[track_caller]
fn assert_refused(outcome: Result<Content, PublishError>, place: &str, part: &str) {
    let error = outcome.expect_err("it is rejected").to_string();
    assert!(error.starts_with(&format!("{place}: ")) && error.contains(part), "{error}");
}

#[test]
fn urls_are_relative_to_the_site_unless_absolute() {
    let text = format!("{SITE}[resources]\ndocs = \"https://docs.example.net/\"\nmcp = \"/agents?x=1\"\n");
    let site = content(&Files { site: Source::new("site.toml", &text), apps: None, posts: Vec::new() }, Some("https://example.com/base/"))
        .unwrap()
        .site;
    assert_eq!(site.url, "https://example.com/base");
    assert_eq!(site.resources.docs, "https://docs.example.net/");
    assert_eq!(site.resources.mcp, "https://example.com/base/agents?x=1");
    assert_eq!(site.resources.agent_card, "https://example.com/base/.well-known/agent-card.json");
}

#[test]
fn urls_stay_paths_while_the_site_url_is_unknown() {
    let text = format!("{SITE}[resources]\ndocs = \"https://docs.example.net/\"\nmcp = \"/agents?x=1\"\n");
    let site = content(&Files { site: Source::new("site.toml", &text), apps: None, posts: Vec::new() }, None).unwrap().site;
    assert_eq!((&*site.url, &*site.resources.docs, &*site.resources.mcp), ("", "https://docs.example.net/", "/agents?x=1"));
    assert_eq!(site.resources.agent_card, "/.well-known/agent-card.json");
}

#[test]
fn apps_keep_their_order_and_hidden_apps_are_omitted() {
    let text = "[[apps]]\nid = \"b\"\ndisplay_name = \"B\"\nsubtitle = \"The b\"\n\
        [[apps]]\nid = \"hidden\"\ndisplay_name = \"H\"\nsubtitle = \"Not yet\"\nvisible = false\n\
        [[apps]]\nid = \"a\"\ndisplay_name = \"A\"\nsubtitle = \"The a\"\nurl = \"/tools/a\"\n";
    let apps = apps(text).unwrap().apps;
    let seen: Vec<_> = apps.iter().map(|app| (app.id.as_str(), app.url.as_str())).collect();
    assert_eq!(seen, [("b", "https://example.com/apps/b"), ("a", "https://example.com/tools/a")]);
}

#[test]
fn posts_are_listed_newest_first_without_drafts() {
    let old = "+++\ntitle = \"Old\"\npublished_at = 2025-12-31T23:00:00-05:00\n+++\n";
    let new = "+++\r\ntitle = \"New\"\r\nslug = \"newest\"\r\npublished_at = \"2026-01-01T05:00:00Z\"\r\n+++\r\nText\r\nhere.";
    let draft = "+++\ntitle = \"Draft\"\npublished_at = 2027-01-01\ndraft = true\n+++\n";
    let content = posts(&[("blog/a-draft.md", draft), ("blog/new.md", new), ("blog/old.md", old)]).unwrap();
    let (posts, texts) = (content.blog_posts, content.texts);
    let seen: Vec<_> = posts.iter().map(|post| (post.slug.as_str(), post.published_at.as_str(), post.excerpt.as_str())).collect();
    assert_eq!(seen, [("newest", "2026-01-01T05:00:00Z", "Text here."), ("old", "2026-01-01T04:00:00Z", "")]);
    assert_eq!(posts[0].url, "https://example.com/blog/newest");
    assert_eq!(
        texts.into_iter().collect::<Vec<_>>(),
        [("newest".to_owned(), "Text\r\nhere.".to_owned()), ("old".to_owned(), String::new())]
    );
}

#[test]
fn a_text_too_long_to_be_stored_is_rejected() {
    let long = format!("{POST}{}", "word ".repeat(80_000));
    assert_refused(posts(&[("blog/hello.md", &long)]), "blog/hello.md:5", "400006 bytes; at most 370000");
}

#[test]
fn an_explicit_excerpt_is_not_parsed_as_markdown() {
    let lines = "title = \"Hello\"\npublished_at = 2026-01-02\nexcerpt = \"Not *Markdown*,  but\\ntext\"";
    assert_eq!(post(lines).unwrap().blog_posts[0].excerpt, "Not *Markdown*, but text");
    let long = format!("title = \"Hello\"\npublished_at = 2026-01-02\nexcerpt = \"{}\"", "x".repeat(201));
    assert_refused(post(&long), "blog/hello.md:4", "201 characters");
}

#[test]
fn an_unknown_key_is_rejected() {
    assert_refused(site(&format!("{SITE}tagline = \"x\"\n")), "site.toml:3", "tagline");
    assert_refused(site(&format!("{SITE}\n[resources]\ndocs = \"/d\"\nwiki = \"/w\"\n")), "site.toml:6", "wiki");
    assert_refused(apps("[[apps]]\nid = \"a\"\nname = \"A\"\n"), "apps.toml:3", "name");
    assert_refused(post("title = \"Hello\"\npublished_at = 2026-01-02\nauthor = \"x\""), "blog/hello.md:4", "author");
}

#[test]
fn invalid_toml_is_rejected() {
    assert_refused(site("name = \"Example\"\ndescription = \n"), "site.toml:2", "");
    assert_refused(post("title = \"Hello\"\npublished_at = 2026-13-02"), "blog/hello.md:3", "");
    assert_refused(post("title = \"Hello\"\ntitle = \"Again\""), "blog/hello.md:3", "duplicate");
    assert_refused(post("title = 7\npublished_at = 2026-01-02"), "blog/hello.md:2", "string");
}

#[test]
fn missing_and_empty_fields_are_reported() {
    assert_refused(site("name = \"Example\"\n"), "site.toml:1", "`description` is missing");
    assert_refused(site("name = \"  \"\ndescription = \"x\"\n"), "site.toml:1", "`name` is empty");
    assert_refused(post("published_at = 2026-01-02"), "blog/hello.md:2", "`title` is missing");
    assert_refused(post("published_at = 2026-01-02\ntitle = \"\""), "blog/hello.md:3", "`title` is empty");
    assert_refused(post("title = \"Hello\""), "blog/hello.md:2", "`published_at` is missing");
    assert_refused(apps("# apps\n\n[[apps]]\ndisplay_name = \"A\"\nsubtitle = \"x\"\n"), "apps.toml:3", "`id` is missing");
    assert_refused(apps("\n[[apps]]\nid = \"a\"\ndisplay_name = \"A\"\n"), "apps.toml:2", "`subtitle` is missing");
}

#[test]
fn ids_and_slugs_are_unique() {
    let app = "[[apps]]\nid = \"a\"\ndisplay_name = \"A\"\nsubtitle = \"x\"\n";
    assert_refused(apps(&format!("{app}{app}")), "apps.toml:6", "the app `a` already exists");
    assert_refused(apps(&format!("{app}visible = false\n{app}")), "apps.toml:7", "already");
    let slug = "+++\ntitle = \"Other\"\nslug = \"hello\"\npublished_at = 2026-01-02\n+++\n";
    assert_refused(posts(&[("blog/hello.md", POST), ("blog/other.md", slug)]), "blog/other.md:3", "already used by blog/hello.md");
    assert_refused(posts(&[("blog/a.md", slug), ("blog/hello.md", POST)]), "blog/hello.md:1", "already used by blog/a.md");
}

#[test]
fn ids_and_slugs_contain_only_url_safe_characters() {
    for id in ["", "A", "-a", ".a", "a b", "a/b", "ä", "a%20", &"a".repeat(101)] {
        assert_refused(apps(&format!("[[apps]]\nid = \"{id}\"\ndisplay_name = \"A\"\nsubtitle = \"x\"\n")), "apps.toml:2", "must begin");
    }
    assert_refused(posts(&[("blog/Hello World.md", POST)]), "blog/Hello World.md:1", "`Hello World`");
    assert_refused(post("title = \"x\"\nslug = \"a_B\"\npublished_at = 2026-01-02"), "blog/hello.md:3", "`a_B`");
    assert!(posts(&[("blog/2026-01.a_b.md", POST)]).is_ok());
    assert_refused(posts(&[("blog/a.md.md", POST)]), "blog/a.md.md:1", "must not end with `.md`");
}

#[test]
fn an_invalid_date_is_rejected() {
    for date in ["2026-01-02T03:04:05", "\"soon\"", "\"2026-02-30\"", "03:04:05", "7", "true"] {
        assert_refused(post(&format!("title = \"x\"\npublished_at = {date}")), "blog/hello.md:3", "is not a date");
    }
}

#[test]
fn an_invalid_url_is_rejected() {
    for url in [
        "",
        "docs",
        "//example.net",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "https://",
        "https:/a",
        "https:a",
        "http://a b",
        "ftp://a",
        "/a b",
        "/a\\\\b",
    ] {
        assert_refused(site(&format!("{SITE}[resources]\nfeed_xml = \"{url}\"\n")), "site.toml:4", "is not a URL");
        assert_refused(post(&format!("title = \"x\"\nurl = \"{url}\"\npublished_at = 2026-01-02")), "blog/hello.md:3", "is not a URL");
        let app = format!("[[apps]]\nid = \"a\"\ndisplay_name = \"A\"\nsubtitle = \"x\"\nurl = \"{url}\"\n");
        assert_refused(apps(&app), "apps.toml:5", "is not a URL");
    }
}

#[test]
fn a_post_begins_with_front_matter() {
    for text in ["", "# Hello\n", "\n+++\ntitle = \"x\"\n+++\n", "---\ntitle: x\n---\n"] {
        assert_refused(posts(&[("blog/hello.md", text)]), "blog/hello.md:1", "must begin with front matter");
    }
    assert_refused(posts(&[("blog/hello.md", "+++\ntitle = \"x\"\n")]), "blog/hello.md:1", "closing line `+++` of the front matter");
}

#[test]
fn a_file_that_is_not_utf8_is_rejected_with_the_line() {
    let error = Source::from_bytes("blog/hello.md", b"+++\ntitle = \"\xff\"\n+++\n".to_vec()).err().unwrap();
    assert_eq!(error.to_string(), "blog/hello.md:2: the file is not UTF-8");
}

#[test]
fn a_byte_order_mark_is_ignored() {
    let source = Source::from_bytes("site.toml", format!("\u{feff}{SITE}").into_bytes()).unwrap();
    assert_eq!(source.text, SITE);
}

#[test]
fn a_directory_without_site_toml_is_rejected() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let error = |dir: &std::path::Path| read_directory(dir, Some(URL)).unwrap_err().to_string();
    assert!(error(&dir).starts_with(&format!("site.toml: the folder {} lacks this file", dir.display())));
    let absent = dir.join("absent");
    assert_eq!(error(&absent), format!("site.toml: the folder {} does not exist", absent.display()));
    assert!(content(&Files { site: Source::new("site.toml", SITE), apps: None, posts: Vec::new() }, Some("example.com")).is_err());
}

#[test]
fn every_file_of_the_sample_directory_is_embedded() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
    assert_eq!(read_directory(&dir, None), Ok(super::sample::folder(None)));
}

#[test]
#[cfg(unix)]
fn a_link_to_a_file_outside_of_the_folder_is_rejected() {
    let folder = std::env::temp_dir().join(format!("gatelet-content-{}", std::process::id()));
    let site = folder.join("site");
    std::fs::create_dir_all(site.join("blog")).unwrap();
    std::fs::write(site.join("site.toml"), SITE).unwrap();
    std::fs::write(folder.join("outside.md"), POST).unwrap();
    std::fs::write(site.join("blog/inside.txt"), POST).unwrap();
    let link = |target: &str| {
        let _ = std::fs::remove_file(site.join("blog/hello.md"));
        std::os::unix::fs::symlink(target, site.join("blog/hello.md")).unwrap();
        read_directory(&site, Some(URL)).map(|folder| folder.content)
    };
    assert_eq!(link("inside.txt").unwrap().blog_posts.len(), 1);
    assert_refused(link("../../outside.md"), "blog/hello.md", "outside the folder: copy the file into the folder");
    assert_refused(link("/dev/zero"), "blog/hello.md", "outside the folder");
    assert_refused(link("gone.md"), "blog/hello.md", "the link points to no file");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(unix)]
fn odd_files_of_a_folder_are_refused_with_their_names() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = std::env::temp_dir().join(format!("gatelet-odd-content-{}", std::process::id()));
    std::fs::create_dir_all(site.join("blog/folder.md")).unwrap();
    std::fs::write(site.join("site.toml"), SITE).unwrap();
    let read = || read_directory(&site, Some(URL)).map(|folder| folder.content);
    assert!(read().unwrap().blog_posts.is_empty(), "a folder is no post");
    let with = |name: &[u8], make: &dyn Fn(&std::path::Path), file: &str, message: &str| {
        let path = site.join("blog").join(std::ffi::OsStr::from_bytes(name));
        make(&path);
        assert_refused(read(), file, message);
        std::fs::remove_file(path).unwrap();
    };
    let text = |text: String| move |path: &std::path::Path| std::fs::write(path, &text).unwrap();
    with(b"a\xff.md", &text(POST.to_owned()), "blog/a\u{fffd}.md", "the name of the file is not UTF-8");
    let socket = |path: &std::path::Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    with(b"socket.md", &socket, "blog/socket.md", "is not a file");
    with(b"large.md", &text("x".repeat((4 << 20) + 1)), "blog/large.md", "at most 4194304 can be published");
    let deep = format!("+++\ntitle = {}\n+++\n", "[".repeat(1_000_000));
    with(b"deep.md", &text(deep), "blog/deep.md:2", "");
    let deep = format!("+++\n[{}]\n+++\n", vec!["a"; 500_000].join("."));
    with(b"dotted.md", &text(deep), "blog/dotted.md:2", "");
    assert!(read().is_ok());
    std::fs::remove_dir_all(site).unwrap();
}
