//! The arguments of `infra new`, and their validation.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use api::http::Verb;
use clap::Args;

use crate::operation::Operation;

/// The maximum length of an operation's name, in characters. The name of a Lambda has at most 64,
/// of which `gatelet-`, the stage (at most 12) and a dash take 21.
const MAX_NAME: usize = 43;
/// The maximum length of a summary, which is one line of the OpenAPI document.
const MAX_SUMMARY: usize = 120;
/// The field that the request body of a created operation contains.
pub(super) const BODY: &str = "text";
/// The fields that the response of a created operation may contain in addition to the path
/// parameters.
const OWN_FIELDS: [&str; 2] = [BODY, "caller_project_id"];
/// The strict and reserved keywords of edition 2024 (The Rust Reference, Keywords), which cannot be
/// the name of a module or a field.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// An operation to create.
#[derive(Debug, Args)]
pub struct OperationRequest {
    /// The folder below `functions/`
    pub area: String,
    /// The operation's name without the area, such as `session-list`
    pub name: String,
    /// GET, POST, PUT, PATCH or DELETE
    pub method: String,
    /// The operation's path, such as `/api/v1/teams/{team_id}`
    pub path: String,
    /// What the operation does, in one line without a full stop [default: its name in words]
    #[arg(long)]
    pub summary: Option<String>,
}

/// A valid new operation.
#[derive(Debug)]
pub struct NewOperation {
    pub(super) area: String,
    pub(super) name: String,
    pub(super) verb: Verb,
    pub(super) path: String,
    pub(super) summary: String,
}

impl NewOperation {
    /// Validates the arguments against the areas below `root` and the existing operations.
    pub fn validate(request: OperationRequest, root: &Path, existing: &[Operation]) -> anyhow::Result<Self> {
        let OperationRequest { area, name, method, path, summary } = request;
        let areas: BTreeSet<&str> = existing.iter().map(Operation::area).collect();
        let is_area = areas.contains(area.as_str()) && root.join("functions").join(&area).is_dir();
        ensure!(is_area, "unknown area {area:?}: expected one of {}", areas.into_iter().collect::<Vec<_>>().join(", "));
        check_name(&area, &name)?;
        let verb = [Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];
        let verb = verb.into_iter().find(|verb| verb.name().eq_ignore_ascii_case(&method));
        let verb = verb.with_context(|| format!("the method must be GET, POST, PUT, PATCH or DELETE, not {method:?}"))?;
        check_path(&path)?;
        let full = format!("{area}-{name}");
        if let Some(found) = existing.iter().find(|operation| operation.route.name == full) {
            bail!("the operation {full} already exists: {} {}", found.route.verb.name(), found.route.path);
        }
        let is_same = |operation: &&Operation| operation.route.verb == verb && shape(operation.route.path) == shape(&path);
        if let Some(found) = existing.iter().find(is_same) {
            bail!("{} {path} is the route of {}", verb.name(), found.route.name);
        }
        if area == "content" && (verb != Verb::Get || path.contains('{')) {
            bail!(
                "for public content, this command creates GET operations without path parameters only: write others by hand, on the \
                 model of functions/content/src/get_app.rs"
            );
        }
        let summary = summary.unwrap_or_else(|| in_words(&name));
        let is_line = !summary.is_empty() && summary.chars().count() <= MAX_SUMMARY;
        ensure!(
            is_line && !summary.contains(['\n', '"', '\\']) && !summary.ends_with('.'),
            "the summary must be one line of at most {MAX_SUMMARY} characters, without quotes, backslashes or a final full stop"
        );
        Ok(Self { area, name, verb, path, summary })
    }

    /// The name of the operation's module and of its files.
    pub(super) fn module(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The names of the path parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter_map(parameter)
    }
}

fn check_name(area: &str, name: &str) -> anyhow::Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    let is_kebab = name.split('-').all(is_word) && name.starts_with(|first: char| first.is_ascii_lowercase());
    ensure!(is_kebab, "the name must be lowercase words with dashes, such as session-list, not {name:?}");
    ensure!(
        !name.starts_with(&format!("{area}-")),
        "the name must not begin with the area: use {:?} instead of {name:?}",
        &name[area.len() + 1..]
    );
    ensure!(!KEYWORDS.contains(&name), "{name:?} is a keyword of Rust: choose another name");
    let length = area.len() + 1 + name.len();
    ensure!(length <= MAX_NAME, "{area}-{name} has {length} characters, but the name of a function may have at most {MAX_NAME}");
    Ok(())
}

fn check_path(path: &str) -> anyhow::Result<()> {
    let below = path.strip_prefix("/api/").with_context(|| format!("the path must begin with /api/v1/ or /api/, unlike {path:?}"))?;
    ensure!(!below.starts_with("latest/"), "/api/latest/ is an alias: the path must begin with /api/v1/");
    let mut seen = BTreeSet::new();
    for segment in below.split('/') {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._".contains(letter);
        match parameter(segment) {
            Some(name) => {
                let is_field = name.starts_with(|first: char| first.is_ascii_lowercase())
                    && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
                ensure!(
                    is_field && !KEYWORDS.contains(&name),
                    "{segment:?}: a parameter must have a name such as {{team_id}} that is not a keyword of Rust"
                );
                ensure!(!OWN_FIELDS.contains(&name), "{segment} cannot be a parameter, as new operations use the name: choose another");
                ensure!(seen.insert(name), "the path has the parameter {segment} twice");
            }
            None => ensure!(
                !segment.is_empty() && segment.chars().all(is_plain),
                "{segment:?} in {path:?} must be lowercase letters, digits, dashes, dots and underscores, or a parameter in braces"
            ),
        }
    }
    Ok(())
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// The segments of a path without the names of parameters: two routes that differ only in these
/// names are the same route.
fn shape(path: &str) -> Vec<&str> {
    path.split('/').map(|segment| if parameter(segment).is_some() { "{}" } else { segment }).collect()
}

/// A name as words: `session-list` becomes `Session list`.
fn in_words(name: &str) -> String {
    let words = name.replace('-', " ");
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}
