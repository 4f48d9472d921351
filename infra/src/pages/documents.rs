//! Renders the documents of `docs/` as pages: Markdown with anchors, copy buttons and links between
//! the pages.
//!
//! The URL of a document is `/docs/` followed by its path without `.md`. For an `index.md`, it is
//! the URL of the folder. The URL of a picture contains the whole path. HTML in the Markdown is
//! shown as text.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};
use serde::Serialize;
use site::code::Block;
use site::headings::HeadingIds;
use site::markdown::{OPTIONS, TABLE_END, TABLE_START, anchor};

use super::{ERRORS_HREF, Frame};
use crate::embedded::{DOCUMENTS, PICTURES};

/// The base URL in the examples of documents, which pages replace with the actual URL.
const EXAMPLE_URL: &str = "http://localhost:8787";

/// A document, whose name is its path without `.md`.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    pub name: &'static str,
    pub text: &'static str,
}

/// All documents, by name.
pub fn all() -> impl Iterator<Item = Document> {
    DOCUMENTS.iter().map(|(name, text)| Document { name, text })
}

/// The SVG picture in `docs/pictures/` with this path below `/docs`, given without the leading
/// slash.
pub fn picture(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix("pictures/")?.strip_suffix(".svg")?;
    PICTURES.iter().find(|(known, _)| *known == name).map(|(_, svg)| *svg)
}

#[derive(Serialize)]
struct Group {
    name: String,
    documents: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    title: String,
    href: String,
}

impl Document {
    /// The document with this path below `/docs`, given without the leading slash.
    pub fn find(path: &str) -> Option<Self> {
        all().find(|document| document.href() == href(path))
    }

    /// The URL of the page that shows the document.
    pub fn href(&self) -> String {
        href(self.name.strip_suffix("index").filter(|folder| folder.is_empty() || folder.ends_with('/')).unwrap_or(self.name))
    }

    /// The first heading of the document or, if it has no heading, its name.
    pub fn title(&self) -> String {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(self.name).replace('`', "")
    }

    /// The page that shows the document, for a service at `api_url`.
    pub fn page(&self, frame: &Frame, api_url: &str) -> anyhow::Result<String> {
        let html = self.html(api_url).html;
        frame.page(
            "document",
            "/docs",
            serde_json::json!({
                "title": self.title(), "html": html, "groups": groups(), "document_href": self.href(),
            }),
        )
    }

    /// The text of the document as HTML, with lists of all links and of broken links.
    pub fn html(&self, api_url: &str) -> RenderedDocument {
        let text = self.text.replace(EXAMPLE_URL, api_url.trim_end_matches('/'));
        render(&text, self.name)
    }
}

fn href(path: &str) -> String {
    format!("/docs/{path}").trim_end_matches('/').to_owned()
}

/// The documents in the groups that the sidebar shows. Documents without a folder form the first
/// group. Each group begins with the document that lists the others: `index` or, because the
/// reference is at `/docs/api`, `contract` in the group `api`.
pub(super) fn groups() -> impl Serialize + use<> {
    let mut groups: BTreeMap<String, Vec<Document>> = BTreeMap::new();
    for document in all() {
        let folder = document.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        groups.entry(folder.to_owned()).or_default().push(document);
    }
    let group = |(folder, mut documents): (String, Vec<Document>)| {
        let is_first = |name: &str| ["index", "contract"].iter().any(|first| name.ends_with(first));
        documents.sort_by_key(|document| (!is_first(document.name), !document.name.ends_with("getting-started"), document.name));
        let mut name = folder.replace(['-', '/'], " ");
        // "api" is an abbreviation, so all its letters are capitalized.
        let initial = if name == "api" { ..3 } else { ..1 };
        name.get_mut(initial).map(str::make_ascii_uppercase);
        Group { name, documents: documents.iter().map(|document| Line { title: document.title(), href: document.href() }).collect() }
    };
    groups.into_iter().map(group).collect::<Vec<Group>>()
}

/// A document as HTML.
#[derive(Debug, Default)]
pub struct RenderedDocument {
    pub html: String,
    /// The ids of the document's headings.
    pub anchors: Vec<String>,
    /// The links to documents and their sections, in the form in which pages contain them.
    pub links: Vec<String>,
    /// Links that lead neither to a document nor to a website, and pictures that are not in
    /// `docs/pictures/`.
    pub broken: Vec<String>,
}

/// The ids of the headings in a document.
pub fn anchors(text: &str) -> Vec<String> {
    render(text, "index").anchors
}

/// Renders the Markdown of the document `name`.
fn render(text: &str, name: &str) -> RenderedDocument {
    let (mut rendered, mut events, mut ids) = (RenderedDocument::default(), Vec::new(), HeadingIds::default());
    let mut heading: Option<(usize, String)> = None;
    let mut code: Option<Block> = None;
    for event in Parser::new_ext(text, OPTIONS) {
        match event {
            Event::Html(markup) | Event::InlineHtml(markup) => events.push(Event::Text(markup)),
            Event::Start(Tag::Heading { .. }) => {
                heading = Some((events.len(), String::new()));
                events.push(event);
            }
            Event::Text(ref part) if code.is_some() => code.iter_mut().for_each(|code| code.push(part)),
            Event::Text(ref part) | Event::Code(ref part) => {
                if let Some((_, text)) = &mut heading {
                    text.push_str(part);
                }
                events.push(event);
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some((start, text)) = heading.take() {
                    let id = ids.next_id(&text);
                    events[start] =
                        Event::Start(Tag::Heading { level, id: Some(id.clone().into()), classes: Vec::new(), attrs: Vec::new() });
                    events.push(Event::InlineHtml(anchor(&id).into()));
                    rendered.anchors.push(id);
                }
                events.push(event);
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = target(&dest_url, name, &mut rendered);
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = source(&dest_url, name, &mut rendered);
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::CodeBlock(kind)) => code = Some(Block::new(&kind)),
            Event::End(TagEnd::CodeBlock) => {
                let html = code.take().unwrap_or_default().html(COPY);
                events.push(Event::InlineHtml(html.into()));
            }
            Event::Start(Tag::Table(alignments)) => {
                events.push(Event::InlineHtml(TABLE_START.into()));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(event);
                events.push(Event::InlineHtml(TABLE_END.into()));
            }
            event => events.push(event),
        }
    }
    html::push_html(&mut rendered.html, events.into_iter());
    rendered
}

/// The button next to code, which works only with scripts.
const COPY: &str = "<button type=\"button\" class=\"copy quiet\">Copy</button>";

/// The URL that a link has on pages. In Markdown, a link to another document is the path of the
/// document's file, relative to the file that contains the link.
fn target(url: &str, name: &str, rendered: &mut RenderedDocument) -> CowStr<'static> {
    let is_web = ["http://", "https://", "mailto:", "/"].iter().any(|start| url.starts_with(start));
    if is_web {
        return url.to_owned().into();
    }
    let (path, fragment) = url.split_once('#').map_or((url, String::new()), |(path, fragment)| (path, format!("#{fragment}")));
    let file = if path.is_empty() { Some(PathBuf::from(format!("{name}.md"))) } else { joined(name, path) };
    let found = file.and_then(|file| all().find(|document| Path::new(&format!("{}.md", document.name)) == file));
    let target = match found {
        // The page about errors has an anchor for each code, spelled like the code.
        Some(document) if document.href() == ERRORS_HREF => format!("{}{}", document.href(), fragment.to_uppercase()),
        Some(document) => format!("{}{fragment}", document.href()),
        // The link does not lead to a document, or its scheme is not allowed, such as
        // `javascript:`.
        None => {
            rendered.broken.push(url.to_owned());
            return "#".into();
        }
    };
    rendered.links.push(target.clone());
    target.into()
}

/// The URL that a picture has on pages. Only pictures in `docs/pictures/` are allowed, because
/// pages may load pictures only from this service.
fn source(url: &str, name: &str, rendered: &mut RenderedDocument) -> CowStr<'static> {
    let path = joined(name, url).and_then(|path| path.to_str().map(str::to_owned));
    match path.filter(|path| picture(path).is_some()) {
        Some(path) => format!("/docs/{path}").into(),
        None => {
            rendered.broken.push(url.to_owned());
            "".into()
        }
    }
}

/// Resolves a path relative to a document; `None` if the path leaves the documents' folder.
pub fn joined(name: &str, path: &str) -> Option<PathBuf> {
    let mut found = Path::new(name).parent().map(Path::to_owned).unwrap_or_default();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => found.push(part),
            Component::ParentDir => found.pop().then_some(())?,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::catalog;

    #[test]
    fn every_link_of_the_documents_leads_to_an_existing_document_and_heading() {
        let mut anchors: BTreeMap<String, Vec<String>> =
            all().map(|document| (document.href(), document.html(EXAMPLE_URL).anchors)).collect();
        // The page about errors is not rendered from Markdown.
        anchors.insert(ERRORS_HREF.to_owned(), catalog::entries().iter().map(|entry| entry.code.to_owned()).collect());
        for document in all() {
            let rendered = document.html(EXAMPLE_URL);
            assert!(rendered.broken.is_empty(), "{}: {:?}", document.name, rendered.broken);
            for link in rendered.links {
                let (page, anchor) = link.split_once('#').map_or((link.as_str(), None), |(page, anchor)| (page, Some(anchor)));
                let known = anchors.get(page).unwrap_or_else(|| panic!("{}: {link}", document.name));
                assert!(anchor.is_none_or(|anchor| known.iter().any(|one| one == anchor)), "{}: {link}", document.name);
            }
        }
    }

    #[test]
    fn html_and_unsafe_schemes_are_inert() {
        let html =
            render("a <script>alert(1)</script> [b](javascript:alert(1)) [c](data:text/html,x)\n\n<img src=x onerror=y>\n", "index").html;
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("javascript:") && !html.contains("data:"), "{html}");
    }

    #[test]
    fn headings_have_anchors_and_code_has_copy_buttons() {
        let rendered = render("# Sign in\n\n## By `email`\n\n## By email\n\n```sh\ncurl <url>\n```\n", "index");
        assert_eq!(rendered.anchors, ["sign-in", "by-email", "by-email-1"]);
        assert!(rendered.html.contains("<h2 id=\"by-email\">"), "{}", rendered.html);
        assert!(rendered.html.contains("<code data-language=\"sh\">curl &lt;url&gt;\n</code></pre><button"), "{}", rendered.html);
    }

    #[test]
    fn pictures_come_only_from_the_documents_and_are_inert() {
        let rendered = render("![A request](../pictures/request.svg)\n", "guides/index");
        assert!(rendered.html.contains("<img src=\"/docs/pictures/request.svg\" alt=\"A request\""), "{}", rendered.html);
        for elsewhere in ["https://example.com/a.svg", "pictures/none.svg", "../../../request.svg"] {
            let rendered = render(&format!("![A request]({elsewhere})\n"), "guides/index");
            assert_eq!((rendered.broken.as_slice(), rendered.html.contains("src=\"\"")), ([elsewhere.to_owned()].as_slice(), true));
        }
        for (name, svg) in PICTURES {
            assert!(svg.contains("<title>") && svg.contains("prefers-color-scheme: dark"), "{name}");
            assert!(!["<script", "<image", "href", "url("].iter().any(|active| svg.contains(active)), "{name}");
        }
    }

    #[test]
    fn links_between_documents_become_links_between_pages() {
        assert_eq!(joined("guides/emails", "../index.md"), Some(PathBuf::from("index.md")));
        assert_eq!(joined("index", "../README.md"), None);
        assert_eq!(Document { name: "guides/index", text: "" }.href(), "/docs/guides");
        assert_eq!(Document { name: "index", text: "" }.href(), "/docs");
        assert!(Document::find("").is_some() && Document::find("../index").is_none());
    }
}
