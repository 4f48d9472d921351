//! How the house is built: floors that stand on those below them, files without circles, operations that know nothing of each other,
//! and nothing too long to be read at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use infra::checked_in::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::tree::names;

/// The crates of `shared/`, from the ground up: each may use those before it.
const FLOORS: [&str; 12] = ["wire", "crypto", "model", "settings", "net", "aws", "store", "errors", "email", "oauth", "flows", "api"];
/// What a floor knows nothing of, by how the names of crates begin.
const UNKNOWN: [(&str, &[&str]); 7] = [
    ("wire", &["axum", "http", "hyper", "lambda", "aws"]),
    ("crypto", &["axum", "http", "hyper", "lambda", "aws"]),
    ("model", &["axum", "http", "hyper", "lambda", "aws"]),
    ("store", &["axum", "lambda"]),
    ("email", &["axum", "lambda"]),
    ("oauth", &["axum", "lambda", "aws"]),
    ("flows", &["axum", "http", "hyper", "lambda", "aws"]),
];
const LONGEST_FILE: usize = 350;
const LONGEST_FUNCTION: usize = 60;

/// A module by its path within its crate; the root is empty.
type Module = Vec<String>;

/// The files of a crate by their modules.
type Sources = BTreeMap<Module, String>;

/// The sources of a crate, without its programs.
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

/// Every crate of the project that has sources of its own, by its folder.
fn crates() -> BTreeMap<String, Sources> {
    let below = |folder: &'static str| names(&root().join(folder)).into_iter().map(move |name| format!("{folder}/{name}"));
    let folders = below("shared").chain(below("functions")).chain(["infra".to_owned(), "infra/gateway".to_owned()]);
    folders.map(|folder| (folder.clone(), sources(&root().join(folder).join("src")))).filter(|(_, sources)| !sources.is_empty()).collect()
}

/// Reads the paths that a file names, each from the root of its crate.
struct Reader<'a> {
    sources: &'a Sources,
    /// The module of the file, and of what is written within it in braces.
    here: Module,
    /// How many modules in braces surround what is read.
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

    /// Reads a path, with the branches of a `use` in braces; says how many tokens it has.
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
                        // `pub(crate)` leads nowhere.
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
            // What is within the braces of the file itself leads nowhere else.
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

/// Which files each file names.
fn arrows(sources: &Sources) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, text): (&Module, &String)| {
        let mut reader = Reader { sources, here: module.clone(), depth: 0, found: BTreeSet::new() };
        reader.read(TokenStream::from_str(text).unwrap());
        reader.found.remove(module);
        (module.clone(), reader.found)
    };
    sources.iter().map(of).collect()
}

/// The files that are left when whatever names no other one is taken away again and again, from both ends: those of circles.
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

/// Operations that another file than the list of the area names: what two of them need is in a folder of the area.
fn borrowed(sources: &Sources) -> Vec<String> {
    let is_operation = |module: &Module| sources.get(module).is_some_and(|text| text.contains("\npub const ROUTE: Route"));
    let of = |(module, names): (Module, BTreeSet<Module>)| {
        let names = names.into_iter().filter(|name| is_operation(name)).map(|name| name.join("::"));
        names.filter(|_| !module.is_empty()).map(|name| format!("{} names {name}", module.join("::"))).collect::<Vec<_>>()
    };
    arrows(sources).into_iter().flat_map(of).collect()
}

/// The names and lengths of the functions of a formatted file that are too long.
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

#[test]
fn no_files_name_each_other_in_a_circle() {
    for (folder, sources) in crates() {
        assert_eq!(circles(arrows(&sources)), [""; 0], "{folder}");
    }
}

#[test]
fn no_operation_borrows_from_another() {
    for (folder, sources) in crates().into_iter().filter(|(folder, _)| folder.starts_with("functions/")) {
        assert_eq!(borrowed(&sources), [""; 0], "{folder}");
    }
}

#[test]
fn every_floor_stands_on_those_below_it_alone() {
    assert_eq!(names(&root().join("shared")), FLOORS.map(str::to_owned).into());
    for (floor, name) in FLOORS.iter().enumerate() {
        let manifest: toml::Table = fs::read_to_string(root().join(format!("shared/{name}/Cargo.toml"))).unwrap().parse().unwrap();
        let used = manifest["dependencies"].as_table().unwrap();
        let above: Vec<_> = FLOORS[floor..].iter().filter(|other| used.contains_key(**other)).collect();
        assert!(above.is_empty(), "{name} uses {above:?}, which is not below it");
        let unknown = UNKNOWN.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, unknown)| unknown);
        let known = used.keys().find(|key| !FLOORS.contains(&key.as_str()) && unknown.iter().any(|start| key.starts_with(start)));
        assert_eq!(known, None, "{name}");
    }
}

#[test]
fn nothing_is_too_long_to_be_read_at_once() {
    let folders = ["shared", "functions", "infra/src", "infra/gateway", "tests"].map(|folder| root().join(folder));
    let mut long = Vec::new();
    for path in folders.iter().flat_map(|folder| rust_files(folder)).filter(|path| !path.iter().any(|part| part == "target")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let lines = text.lines().count();
        long.extend((lines > LONGEST_FILE).then(|| format!("{name}: {lines} lines")));
        long.extend(long_functions(&text).into_iter().map(|function| format!("{name}: {function}")));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

fn planted(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (module_of(Path::new(path)).unwrap(), (*text).to_owned())).collect()
}

#[test]
fn what_breaks_a_rule_is_found() {
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
}
