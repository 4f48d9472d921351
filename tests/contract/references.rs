//! References in comments and documents: each of them must name something that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use infra::checked_in::root;
use infra::pages::documents::{anchors, joined};
use infra::scorecard::NamedTest;
use infra::{Operation, operations};
use model::limit::Rule;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::passages::{Passage, Source, sources};

/// Suffixes that identify a text as a file name.
const FILES: [&str; 14] = [".rs", ".md", ".toml", ".yaml", ".yml", ".json", ".py", ".js", ".mjs", ".jsx", ".css", ".j2", ".svg", ".env"];
/// Files that may be missing in the repository, because programs write them, readers of a guide
/// create them, or standards name them.
const ELSEWHERE: [&str; 39] = [
    "app.mjs",
    "client.env",
    "client.mjs",
    "server.py",
    "notes.mjs",
    "serve.mjs",
    "hosted.mjs",
    "sign-in.html",
    "keys.env",
    "dynamodb.env",
    "watch.env",
    "logins.json",
    "my-app.env",
    "notes.env",
    "verify.py",
    "api.yaml",
    "authorizer.mjs",
    "try.mjs",
    "verify_machine.py",
    "api.py",
    "demo.py",
    "import.py",
    "inbox.mjs",
    "playwright.config.mjs",
    "sign-up.spec.mjs",
    "secrets.json",
    "package.json",
    "first.mjs",
    "index.json",
    "index.js",
    "messages.json",
    "manifest.json",
    "samconfig.toml",
    "jwks.json",
    "package-lock.json",
    "pyproject.toml",
    "openapi.json",
    "stack.config.json",
    "state.json",
];
/// Constants of other systems.
const FOREIGN: [&str; 2] = ["SECURE_PROXY_SSL_HEADER", "UPDATE_ROLLBACK_FAILED"];
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// A snake-case name with at least this many words is assumed to be a function.
const LONG_NAME: usize = 5;

/// The names and places that references may point to.
struct KnownNames {
    paths: BTreeSet<PathBuf>,
    /// The anchors of the headings in each document.
    anchors: BTreeMap<PathBuf, Vec<String>>,
    /// The possible identifiers in code and in the code blocks of documents.
    identifiers: BTreeSet<String>,
    /// The literals in code that begin with a slash, as the paths of URLs do.
    literals: BTreeSet<String>,
    operations: Vec<Operation>,
}

impl KnownNames {
    fn new(sources: &[Source]) -> Self {
        let mut known = Self {
            paths: BTreeSet::new(),
            anchors: BTreeMap::new(),
            identifiers: BTreeSet::new(),
            literals: BTreeSet::new(),
            operations: operations::all(),
        };
        for source in sources {
            known.paths.insert(source.path.clone());
            if source.is_document() {
                known.anchors.insert(source.path.clone(), anchors(&source.text));
            }
            let code = source.code();
            for line in code {
                let parts = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
                known.identifiers.extend(parts.filter(|part| part.len() > 3).map(str::to_owned));
                known.literals.extend(line.split('"').filter(|part| part.starts_with('/')).map(str::to_owned));
            }
        }
        known
    }

    /// Whether there is a constant, a variable, an error code or a function with this name.
    fn has_name(&self, text: &str) -> bool {
        self.identifiers.contains(text)
            || FOREIGN.contains(&text)
            || text.ends_with('_')
            || Rule::ALL.iter().any(|rule| rule.variable() == text)
    }

    /// Whether `text` is the path of a file or folder, relative to the root or to the folder of
    /// `source`, or the end of such a path.
    fn has_path(&self, source: &Source, text: &str) -> bool {
        let beside = source.path.to_str().and_then(|name| joined(name, text));
        let ends = |path: &PathBuf| path.ends_with(text) || beside.as_deref().is_some_and(|beside| path.starts_with(beside));
        let folder = |path: &PathBuf| path.ancestors().skip(1).any(|above| !above.as_os_str().is_empty() && above.ends_with(text));
        self.paths.iter().any(|path| ends(path) || folder(path)) || root().join(text).exists()
    }

    /// The mistake in a link from a document into the repository; `None` if there is none.
    fn broken_link(&self, source: &Source, url: &str) -> Option<String> {
        let (path, anchor) = url.split_once('#').map_or((url, None), |(path, anchor)| (path, Some(anchor)));
        let file = if path.is_empty() { Some(source.path.clone()) } else { joined(source.path.to_str()?, path) };
        let is_there = |file: &PathBuf| self.anchors.contains_key(file) || root().join(file).exists();
        let Some(file) = file.filter(is_there) else { return Some(format!("{url} leads to no file")) };
        let is_heading = |anchor: &str| self.anchors.get(&file).is_some_and(|known| known.iter().any(|one| one == anchor));
        anchor.filter(|anchor| !is_heading(anchor)).map(|anchor| format!("{} has no heading #{anchor}", file.display()))
    }

    /// The mistake in a text in backticks; `None` if there is none.
    fn problem(&self, source: &Source, text: &str) -> Option<String> {
        if let Some((method, path)) = text.split_once(' ') {
            let is_route = METHODS.contains(&method) && path.starts_with('/') && !path.contains(['…', '*', ' ']);
            return (is_route && !self.has_route(method, path)).then(|| format!("no operation and no page is `{text}`"));
        }
        if text.starts_with("tests/") && text.contains("::") {
            return NamedTest::find(&root(), text).err();
        }
        let words = text.split('_').filter(|word| !word.is_empty()).count();
        let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_upper = text.chars().all(|c| !c.is_ascii_lowercase()) && text.starts_with(|c: char| c.is_ascii_uppercase());
        if is_name && (is_upper && words > 1 || words >= LONG_NAME) {
            return (!self.has_name(text)).then(|| format!("nothing is named `{text}`"));
        }
        let is_file = FILES.iter().any(|ending| text.ends_with(ending) && text.len() > ending.len());
        let is_path =
            text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')) && !text.starts_with(['/', '.']);
        let name = text.rsplit('/').next().unwrap_or(text);
        // The example in CONTRIBUTING creates this file with `infra new`.
        let is_made = name.starts_with("note_create.") || name.starts_with("note-create.");
        let is_elsewhere = is_made || ELSEWHERE.contains(&name) || text.starts_with("target/") || text.starts_with("http");
        let is_missing = is_file && is_path && !is_elsewhere && !self.has_path(source, text);
        is_missing.then(|| format!("there is no file `{text}`"))
    }

    /// Whether an operation or a page of the gateway has this method and path.
    fn has_route(&self, method: &str, path: &str) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let path = path.strip_prefix("/api/v1").filter(|rest| !rest.is_empty()).unwrap_or(path);
        let is_operation = self.operations.iter().any(|operation| {
            let route = operation.route;
            let known = [route.path, route.path.trim_start_matches("/api/v1")];
            (method == route.verb.name() || method == "HEAD") && known.iter().any(|known| fits(known, path))
        });
        is_operation || self.literals.iter().any(|known| fits(known, path))
    }
}

/// Whether a path matches a path with placeholders. A placeholder in either path, such as `{id}`,
/// `$id`, `:id` or `ID`, matches any segment.
fn fits(template: &str, path: &str) -> bool {
    let (wanted, found): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let any = |part: &str| part.starts_with(['{', '$', ':']) || part.chars().any(|c| c.is_ascii_uppercase());
    wanted.len() == found.len() && wanted.iter().zip(&found).all(|(wanted, found)| wanted == found || any(wanted) || any(found))
}

/// The texts between single backticks in a passage.
fn quoted<'a>(passage: &'a Passage<'_>) -> impl Iterator<Item = &'a str> {
    passage.text.split('`').skip(1).step_by(2)
}

/// The links from a document to files of the repository.
fn links(source: &Source) -> Vec<String> {
    let targets = Parser::new_ext(&source.text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    targets.filter(|url| !["http:", "https:", "mailto:", "/"].iter().any(|start| url.starts_with(start))).collect()
}

#[test]
fn every_reference_in_comments_and_documents_resolves() {
    let sources = sources();
    let known = KnownNames::new(&sources);
    let mut findings = Vec::new();
    for source in &sources {
        for passage in source.passages() {
            findings.extend(quoted(&passage).filter_map(|text| known.problem(source, text)).map(|problem| passage.finding(&problem)));
        }
    }
    assert!(findings.is_empty(), "{} references:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading() {
    let sources = sources();
    let known = KnownNames::new(&sources);
    let documents = sources.iter().filter(|source| source.is_document() && !source.path.starts_with("infra/gateway/sample"));
    let broken = documents.flat_map(|source| {
        links(source)
            .into_iter()
            .filter_map(|url| known.broken_link(source, &url))
            .map(|problem| format!("{}: {problem}", source.path.display()))
            .collect::<Vec<_>>()
    });
    let broken = broken.collect::<Vec<_>>();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_dangling_reference_is_found() {
    let text = "# One heading\n\nSee [there](#one-heading).\n".to_owned();
    let page = Source { path: "docs/page.md".into(), text };
    let code = Source { path: "shared/api/src/lib.rs".into(), text: "const A_LIMIT: u8 = 1;\nfn a_b_c_d_e() {}\n".to_owned() };
    let known = KnownNames::new(&[page, code]);
    let page = Source { path: "docs/page.md".into(), text: String::new() };
    for good in ["api/src/lib.rs", "page.md", "A_LIMIT", "a_b_c_d_e", "GET /users/me", "POST /users/{user_id}/…", "PATCH /users/ID"] {
        assert_eq!(known.problem(&page, good), None);
    }
    for bad in ["api/src/mod.rs", "pages.md", "A_LIMITS", "a_b_c_d_e_f", "GET /users/me/nothing", "tests/api/main.rs::none"] {
        assert!(known.problem(&page, bad).is_some(), "{bad}");
    }
    assert_eq!(known.broken_link(&page, "#one-heading"), None);
    assert!(known.broken_link(&page, "#another").is_some() && known.broken_link(&page, "../../x.md").is_some());
}
