//! Tests that are identified by name: `tests/api/auth/otp_sign_in.rs::a_code_is_redeemed_once`, or
//! a JavaScript file and the title of a test.

use std::path::{Path, PathBuf};

/// A test that exists and is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTest {
    pub file: PathBuf,
    pub name: String,
}

impl NamedTest {
    /// Looks up a test below `root`; if that fails, the error says what is wrong.
    pub fn find(root: &Path, text: &str) -> Result<Self, String> {
        let (path, name) = text.split_once("::").ok_or_else(|| format!("{text} does not name a test in a file"))?;
        let file = root.join(path);
        let source = std::fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
        let is_there = match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") if !is_module(&file) => {
                return Err(format!("{path} is not declared as a module, so its tests never run"));
            }
            Some("rs") => has_rust_test(&source, name),
            Some("js") => has_titled_test(&source, name),
            _ => return Err(format!("{path} is neither Rust nor JavaScript")),
        };
        if is_there { Ok(Self { file, name: name.to_owned() }) } else { Err(format!("{path} has no test {name}")) }
    }
}

/// Whether the function `name` is a test that is not ignored.
fn has_rust_test(source: &str, name: &str) -> bool {
    let mut attributes = String::new();
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributes.push_str(line);
        } else if !line.starts_with("//") {
            let is_test = attributes.contains("#[test]") || attributes.contains("#[tokio::test");
            if is_test && !attributes.contains("#[ignore") && is_function(line, name) {
                return true;
            }
            attributes.clear();
        }
    }
    false
}

fn is_function(line: &str, name: &str) -> bool {
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
}

fn has_titled_test(source: &str, title: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| source.lines().any(|line| line.trim_start().starts_with(&format!("test({quote}{title}{quote}"))))
}

/// Whether the module of a file is declared where Rust looks for it; otherwise, Rust does not
/// compile the file.
fn is_module(file: &Path) -> bool {
    let (Some(stem), Some(folder)) = (file.file_stem().and_then(|stem| stem.to_str()), file.parent()) else { return false };
    let (module, folder) = match stem {
        "main" | "lib" => return true,
        "mod" => match (folder.file_name().and_then(|name| name.to_str()), folder.parent()) {
            (Some(name), Some(above)) => (name, above),
            _ => return false,
        },
        stem => (stem, folder),
    };
    let beside = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let sources = beside.chain([folder.with_extension("rs")]).filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    sources.filter_map(|path| std::fs::read_to_string(path).ok()).any(|source| declares(&source, module))
}

fn declares(source: &str, module: &str) -> bool {
    let (declaration, path) = (format!("mod {module};"), format!("#[path = \"{module}.rs\"]"));
    source.lines().map(str::trim).any(|line| {
        let line = line.strip_prefix("pub").map_or(line, |rest| rest.trim_start_matches(['(', ')', ' ']));
        let line = ["crate) ", "super) "].iter().find_map(|scope| line.strip_prefix(scope)).unwrap_or(line);
        line == declaration || line == path
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn a_test_is_a_function_with_its_attribute() {
        let source = "#[test]\nfn one() {\n}\n#[tokio::test(flavor = \"multi_thread\")]\n// why\nasync fn two() {\nfn helper() {\n";
        assert!(has_rust_test(source, "one") && has_rust_test(source, "two"));
        for name in ["helper", "on", "thre", ""] {
            assert!(!has_rust_test(source, name), "{name}");
        }
        assert!(!has_rust_test("#[test]\n#[ignore = \"slow\"]\nfn one() {\n", "one"));
        assert!(!has_rust_test("#[test]\nfn other() {\n}\nfn one() {\n", "one"));
    }

    #[test]
    fn a_title_must_match_a_running_test_exactly() {
        let source = "test(\"a state works once\", async () => {\n  // test(\"a comment\")\ntest.skip(\"a skipped one\", () => {";
        assert!(has_titled_test(source, "a state works once"));
        for title in ["a state", "a comment", "a skipped one", ""] {
            assert!(!has_titled_test(source, title), "{title}");
        }
    }

    #[test]
    fn a_file_must_be_declared_where_rust_looks_for_it() {
        for declared in ["mod one;", "pub mod one;", "pub(crate) mod one;", "    pub(super) mod one;", "#[path = \"one.rs\"]"] {
            assert!(declares(declared, "one"), "{declared}");
        }
        assert!(!declares("mod one_more;", "one") && !declares("// mod one;", "one") && !declares("mod one {", "one"));
    }

    #[test]
    fn missing_tests_and_files_are_reported() {
        let own = "infra/src/scorecard/named_test.rs";
        assert!(NamedTest::find(&root(), &format!("{own}::missing_tests_and_files_are_reported")).is_ok());
        for (name, problem) in [
            (format!("{own}::what_never_was"), "has no test"),
            (own.to_owned(), "does not name a test"),
            ("infra/src/nowhere.rs::a_test".to_owned(), "No such file"),
            ("infra/security/standards.toml::a_test".to_owned(), "neither Rust nor JavaScript"),
        ] {
            let error = NamedTest::find(&root(), &name).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
