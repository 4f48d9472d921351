//! The architecture: crates depend only on lower layers, files have no cyclic dependencies,
//! operations are independent of each other, and sizes are limited.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use infra::checked_in::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::tree::{dependencies, names};

/// The crates of `shared/`, from the lowest layer up: each may use those before it.
const FLOORS: [&str; 13] =
    ["wire", "crypto", "model", "site", "settings", "net", "aws", "store", "errors", "email", "oauth", "flows", "api"];
/// The external crates that a layer must not use, by the prefixes of their names. A layer that is
/// not listed may use any.
const UNKNOWN: [(&str, &[&str]); 8] = [
    ("wire", &["axum", "http", "hyper", "lambda", "aws"]),
    ("crypto", &["axum", "http", "hyper", "lambda", "aws"]),
    ("model", &["axum", "http", "hyper", "lambda", "aws"]),
    ("site", &["axum", "http", "hyper", "lambda", "aws"]),
    ("store", &["axum", "lambda"]),
    ("email", &["axum", "lambda"]),
    ("oauth", &["axum", "lambda", "aws"]),
    ("flows", &["axum", "http", "hyper", "lambda", "aws"]),
];
const LONGEST_FILE: usize = 350;
const LONGEST_FUNCTION: usize = 60;
/// The limit on a function's arguments without `self`.
const MOST_ARGUMENTS: usize = 5;

/// A module by its path within its crate; the path of the root is empty.
type Module = Vec<String>;

/// The files of a crate by their modules.
type Sources = BTreeMap<Module, String>;

/// The sources of the crate in a folder, without its binaries.
fn sources(folder: &Path) -> Sources {
    rust_files(folder)
        .into_iter()
        .filter_map(|path| Some((module_of(path.strip_prefix(folder).ok()?)?, fs::read_to_string(path).unwrap())))
        .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = names(folder).into_iter().map(|name| folder.join(name));
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

fn module_of(file: &Path) -> Option<Module> {
    let mut module: Module = file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.first().is_some_and(|first| first == "bin") {
        return None;
    }
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    Some(module)
}

/// The sources of the crates in `shared/`, `functions/` and `infra/`, by the crate's folder.
fn crates() -> BTreeMap<String, Sources> {
    let below = |folder: &'static str| names(&root().join(folder)).into_iter().map(move |name| format!("{folder}/{name}"));
    let of_infra = ["infra", "infra/console", "infra/gateway", "infra/registry"].map(str::to_owned);
    let folders = below("shared").chain(below("functions")).chain(of_infra);
    folders.map(|folder| (folder.clone(), sources(&root().join(folder).join("src")))).filter(|(_, sources)| !sources.is_empty()).collect()
}

/// Collects the files of the crate to which the paths in a file lead.
struct Reader<'a> {
    sources: &'a Sources,
    /// The module at the current position: the file's, or an inline one.
    here: Module,
    /// How many inline modules surround the current position.
    depth: usize,
    found: BTreeSet<Module>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at..] {
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                    if *word == "mod" && body.delimiter() == Delimiter::Brace =>
                {
                    self.here.push(name.to_string());
                    self.depth += 1;
                    self.read(body.stream());
                    self.depth -= 1;
                    self.here.pop();
                    at += 3;
                }
                [TokenTree::Ident(_), ..] => at += self.path(&tokens[at..], Vec::new()),
                [TokenTree::Group(group), ..] => {
                    self.read(group.stream());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Notes the path that begins here, or one path for each branch if a `use` has branches in
    /// braces; returns the number of tokens read.
    fn path(&mut self, tokens: &[TokenTree], mut path: Vec<String>) -> usize {
        let mut at = 0;
        loop {
            match &tokens[at..] {
                [TokenTree::Ident(name), rest @ ..] => {
                    path.push(name.to_string());
                    at += 1;
                    let goes_on =
                        matches!(rest, [TokenTree::Punct(a), TokenTree::Punct(b), ..] if a.as_char() == ':' && b.as_char() == ':');
                    if !goes_on {
                        // `pub(crate)` is not a path.
                        if path.len() > 1 {
                            self.note(&path);
                        }
                        return at;
                    }
                    at += 2;
                }
                [TokenTree::Group(branches), ..] if branches.delimiter() == Delimiter::Brace => {
                    let branches: Vec<TokenTree> = branches.stream().into_iter().collect();
                    for branch in branches.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
                        self.path(branch, path.clone());
                    }
                    return at + 1;
                }
                _ => {
                    self.note(&path);
                    return at.max(1);
                }
            }
        }
    }

    fn note(&mut self, path: &[String]) {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let absolute = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            // Paths into inline modules of the same file are not dependencies.
            Some("super") if ups <= self.depth => return,
            Some("super") => [&self.here[..self.here.len().saturating_sub(ups)], &path[ups..]].concat(),
            Some("self") => [&self.here[..], &path[1..]].concat(),
            Some(first) if path.len() > 1 && self.sources.contains_key(&[&self.here[..], &[first.to_owned()]].concat()) => {
                [&self.here[..], path].concat()
            }
            _ => return,
        };
        let file = (0..=absolute.len()).rev().map(|length| absolute[..length].to_vec()).find(|module| self.sources.contains_key(module));
        self.found.extend(file);
    }
}

/// For each file, the files that it depends on.
fn arrows(sources: &Sources) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, text): (&Module, &String)| {
        let mut reader = Reader { sources, here: module.clone(), depth: 0, found: BTreeSet::new() };
        reader.read(text.parse().unwrap());
        reader.found.remove(module);
        (module.clone(), reader.found)
    };
    sources.iter().map(of).collect()
}

/// The files in cycles, or between two cycles: those that remain after repeatedly removing files
/// without dependencies or dependents.
fn circles(mut arrows: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    loop {
        let left: BTreeSet<Module> = arrows.keys().cloned().collect();
        let named: BTreeSet<Module> = arrows.values().flatten().cloned().collect();
        arrows.retain(|module, names| !names.is_disjoint(&left) && named.contains(module));
        for names in arrows.values_mut() {
            names.retain(|name| left.contains(name));
        }
        if arrows.len() == left.len() {
            return arrows.into_keys().map(|module| module.join("::")).collect();
        }
    }
}

/// Operations that are named in a file other than the area's list. Code that operations share
/// belongs in a folder of the area.
fn borrowed(sources: &Sources) -> Vec<String> {
    let is_operation = |module: &Module| sources.get(module).is_some_and(|text| text.contains("\npub const ROUTE: Route"));
    let of = |(module, names): (Module, BTreeSet<Module>)| {
        let names = names.into_iter().filter(|name| is_operation(name)).map(|name| name.join("::"));
        names.filter(|_| !module.is_empty()).map(|name| format!("{} names {name}", module.join("::"))).collect::<Vec<_>>()
    };
    arrows(sources).into_iter().flat_map(of).collect()
}

/// Names and lengths of the overlong functions of a formatted file.
fn long_functions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_function =
        |line: &str| line.trim_start().split(['(', '<']).next().is_some_and(|head| head.split(' ').rev().nth(1) == Some("fn"));
    let length = |start: usize| {
        let indent = lines[start].len() - lines[start].trim_start().len();
        let end = lines[start..].iter().position(|line| line.trim_end() == format!("{}}}", " ".repeat(indent)));
        end.map_or(0, |end| end + 1)
    };
    let starts = (0..lines.len()).filter(|line| is_function(lines[*line]) && lines[*line].ends_with(['{', '(']));
    starts
        .filter(|start| length(*start) > LONGEST_FUNCTION)
        .map(|start| format!("{} lines: {}", length(start), lines[start].trim()))
        .collect()
}

/// Functions with too many arguments, with their number.
fn many_arguments(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at..] {
            [TokenTree::Ident(word), TokenTree::Ident(name), rest @ ..] if *word == "fn" => {
                // Parentheses between angle brackets belong to a bound such as `Fn(A)`.
                let mut angles = Angles::default();
                let list = rest.iter().find_map(|token| match token {
                    TokenTree::Group(group) if angles.depth == 0 && group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
                    token => angles.pass(token),
                });
                let count = list.map_or(0, arguments);
                found.extend((count > MOST_ARGUMENTS).then(|| format!("{count} arguments: {name}")));
            }
            [TokenTree::Group(group), ..] => found.extend(many_arguments(group.stream())),
            _ => {}
        }
    }
    found
}

/// The number of arguments in a list, without `self`.
fn arguments(list: TokenStream) -> usize {
    let (mut angles, mut parts) = (Angles::default(), vec![Vec::new()]);
    for token in list {
        angles.pass::<()>(&token);
        if angles.depth == 0 && angles.last == ',' {
            parts.push(Vec::new());
        } else {
            parts.last_mut().unwrap().push(token);
        }
    }
    let is_self = |part: &[TokenTree]| part.iter().take_while(|token| token.to_string() != ":").any(|token| token.to_string() == "self");
    parts.iter().filter(|part| !part.is_empty() && !is_self(part)).count()
}

/// Counts the open angle brackets.
#[derive(Default)]
struct Angles {
    depth: i32,
    last: char,
}

impl Angles {
    fn pass<T>(&mut self, token: &TokenTree) -> Option<T> {
        let now = if let TokenTree::Punct(punct) = token { punct.as_char() } else { ' ' };
        match (self.last, now) {
            // The `>` of an arrow `->` closes no bracket.
            ('-', '>') => {}
            (_, '<') => self.depth += 1,
            (_, '>') => self.depth -= 1,
            _ => {}
        }
        self.last = now;
        None
    }
}

#[test]
fn no_files_depend_on_each_other_in_a_cycle() {
    for (folder, sources) in crates() {
        assert_eq!(circles(arrows(&sources)), [""; 0], "{folder}");
    }
}

#[test]
fn no_operation_imports_another() {
    for (folder, sources) in crates().into_iter().filter(|(folder, _)| folder.starts_with("functions/")) {
        assert_eq!(borrowed(&sources), [""; 0], "{folder}");
        let areas: Vec<_> = dependencies(&folder).into_iter().filter(|name| name.ends_with("-functions")).collect();
        assert!(areas.is_empty(), "{folder} uses {areas:?}: what areas share belongs in shared/flows or shared/api");
    }
}

#[test]
fn every_crate_only_depends_on_lower_layers() {
    assert_eq!(names(&root().join("shared")), FLOORS.map(str::to_owned).into());
    for (floor, name) in FLOORS.iter().enumerate() {
        let used = dependencies(&format!("shared/{name}"));
        let above: Vec<_> = FLOORS[floor..].iter().filter(|other| used.contains(**other)).collect();
        assert!(above.is_empty(), "{name} uses {above:?}, which is not below it");
        let unknown = UNKNOWN.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, unknown)| unknown);
        let known = used.iter().find(|key| !FLOORS.contains(&key.as_str()) && unknown.iter().any(|start| key.starts_with(start)));
        assert_eq!(known, None, "{name}");
    }
}

#[test]
fn files_functions_and_lines_stay_within_their_limits() {
    let folders = ["shared", "functions", "infra", "tests"].map(|folder| root().join(folder));
    let mut long = Vec::new();
    for path in folders.iter().flat_map(|folder| rust_files(folder)).filter(|path| !path.iter().any(|part| part == "target")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let lines = text.lines().count();
        long.extend((lines > LONGEST_FILE).then(|| format!("{name}: {lines} lines")));
        let tokens = text.parse::<TokenStream>().unwrap_or_else(|error| panic!("{name}: {error}"));
        let functions = long_functions(&text).into_iter().chain(many_arguments(tokens));
        long.extend(functions.map(|function| format!("{name}: {function}")));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

fn planted(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (module_of(Path::new(path)).unwrap(), (*text).to_owned())).collect()
}

#[test]
fn violations_of_the_rules_are_detected() {
    let circle = planted(&[
        ("lib.rs", "pub mod a; pub mod b; pub mod c; pub use a::A;"),
        ("a/mod.rs", "use crate::b::{self, B}; pub struct A;"),
        ("b.rs", "pub struct B; fn f() { g!(super::c::C) }"),
        ("c.rs", "pub struct C; mod inner { use super::super::a::A; use super::C; }"),
        ("d.rs", "use super::a::A; /// [`crate::e`]\nfn f() {}"),
        ("e.rs", "use crate::d;"),
    ]);
    assert_eq!(circles(arrows(&circle)), ["a", "b", "c"]);
    let operations = planted(&[
        ("lib.rs", "register.operation(one::ROUTE, one::handle);"),
        ("one.rs", "use crate::two::handle;\npub const ROUTE: Route = Route::get();"),
        ("two.rs", "\npub const ROUTE: Route = Route::get();"),
        ("shared/mod.rs", "use crate::one::Answer;"),
    ]);
    assert_eq!(borrowed(&operations), ["one names two", "shared names one"]);
    let long = format!("impl A {{\n    pub async fn f(\n{}    }}\n}}\nfn g() {{}}\n", "        x;\n".repeat(LONGEST_FUNCTION));
    assert_eq!(long_functions(&long), ["62 lines: pub async fn f("]);
    let many = "impl A { fn f<B: Fn(C) -> D>(&mut self, a: A<B, C>, b: impl Fn(A, B) -> C<D, E>, c: (A, B), d: D, e: E, f: F,) {} \
                fn g(self: &A, a: A<B, C>, b: fn(A) -> B, c: C, d: D, e: E) {} }";
    assert_eq!(many_arguments(many.parse().unwrap()), ["6 arguments: f"]);
}
