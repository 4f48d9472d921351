//! Adds a line to a list: to the module declarations of a file, or to the operations of an area.

use anyhow::Context as _;

/// Adds the declaration of a module in alphabetical order.
pub(super) fn with_module(source: &str, declaration: &str) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    let name = module(declaration);
    let after = lines.iter().position(|line| module(line) > name);
    match after.or_else(|| lines.iter().rposition(|line| module(line).is_some()).map(|last| last + 1)) {
        Some(place) => lines.insert(place, declaration),
        None => {
            let place = lines.iter().position(|line| !line.starts_with("//!") && !line.is_empty()).unwrap_or(lines.len());
            lines.splice(place..place, [declaration, ""]);
        }
    }
    lines.join("\n") + "\n"
}

/// The name of the module that a line `pub mod name;` declares; `None` for any other line.
fn module(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// Adds an operation at the end of the list of its area.
pub(super) fn with_operation(library: &str, module: &str) -> anyhow::Result<String> {
    let start = library.find("pub fn operations(").context("`pub fn operations` is missing")?;
    let end = start + library[start..].find("\n}").context("`pub fn operations` lacks a closing brace at the start of a line")? + 1;
    Ok(format!("{}    register.operation({module}::ROUTE, {module}::handle);\n{}", &library[..end], &library[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_declared_in_the_order_of_the_alphabet() {
        let source = "//! Some.\n\nmod a;\npub(crate) mod c;\n\nuse x;\n";
        assert_eq!(with_module(source, "pub mod b;"), "//! Some.\n\nmod a;\npub mod b;\npub(crate) mod c;\n\nuse x;\n");
        assert_eq!(with_module(source, "mod d;"), "//! Some.\n\nmod a;\npub(crate) mod c;\nmod d;\n\nuse x;\n");
        assert_eq!(with_module("//! Some.\n\nuse x;\n", "mod d;"), "//! Some.\n\nmod d;\n\nuse x;\n");
    }

    #[test]
    fn an_operation_is_added_at_the_end_of_its_areas_list_only() {
        let library = "pub fn operations(r: &mut R) {\n    register.operation(a::ROUTE, a::handle);\n}\n\npub fn all() {\n}\n";
        let added = "a::handle);\n    register.operation(b::ROUTE, b::handle);\n}\n\npub fn all() {\n}\n";
        assert!(with_operation(library, "b").unwrap().ends_with(added));
        assert!(with_operation("fn nothing() {}\n", "b").is_err());
    }
}
