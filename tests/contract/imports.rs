//! The imports between the files and folders of a crate, read from the paths in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The path of a module within its crate; empty for the root.
pub(super) type Module = Vec<String>;

/// The files of a crate, by module.
pub(super) type Sources = BTreeMap<Module, String>;

/// Collects the files of the crate that the paths in a file lead to.
struct Reader<'a> {
    sources: &'a Sources,
    /// The module at the current position: that of the file, or an inline module.
    here: Module,
    /// The number of inline modules around the current position.
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

    /// Records the path that begins here or, for a `use` with braces, the path of each branch.
    /// Returns the number of tokens that it has read.
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
            // Paths to inline modules of the same file are not dependencies.
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
pub(super) fn arrows(sources: &Sources) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, text): (&Module, &String)| {
        let mut reader = Reader { sources, here: module.clone(), depth: 0, found: BTreeSet::new() };
        reader.read(TokenStream::from_str(text).unwrap());
        reader.found.remove(module);
        (module.clone(), reader.found)
    };
    sources.iter().map(of).collect()
}

/// For each folder at the top of a crate, and for each file next to these folders, the other
/// folders and files that it depends on. The root is left out, because it declares all folders and
/// exports their items.
pub(super) fn folders(files: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut folders: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (file, names) in files.iter().filter(|(file, _)| !file.is_empty()) {
        let own = file[..1].to_vec();
        let others = names.iter().filter(|name| !name.is_empty() && name[..1] != own).map(|name| name[..1].to_vec());
        folders.entry(own.clone()).or_default().extend(others);
    }
    folders
}

/// The files in cycles or between two cycles, which remain after files without dependencies or
/// dependents are removed repeatedly.
pub(super) fn circles(mut arrows: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
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
