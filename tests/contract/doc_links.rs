//! Checks that the doc comments of public items do not link to private items of their file. Rustdoc
//! also rejects such links, but it takes minutes, and only the complete checks run it.

use std::collections::BTreeSet;

use super::passages::sources;

/// The text that may precede the name of a private item.
const ITEMS: [&str; 7] = ["const ", "static ", "fn ", "async fn ", "struct ", "enum ", "type "];

/// The name at the beginning of a text.
fn name(text: &str) -> &str {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

/// The names in links such as ``[`NAME`]``, which are names of items in the file or of imported
/// items.
fn links(comment: &str) -> impl Iterator<Item = &str> {
    comment.split("[`").skip(1).filter_map(|rest| rest.split_once("`]")).map(|(link, _)| link)
}

/// The links from comments of public items to private items, each with the line of the public item.
fn private_links(text: &str) -> Vec<(usize, &str)> {
    let private: BTreeSet<&str> = text.lines().filter_map(|line| ITEMS.iter().find_map(|item| line.strip_prefix(item)).map(name)).collect();
    let (mut comment, mut found) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().map(str::trim_start).enumerate() {
        if line.starts_with("///") {
            comment.extend(links(line));
        } else if !line.starts_with('#') {
            let linked = comment.drain(..).filter(|link| line.starts_with("pub ") && private.contains(link));
            found.extend(linked.map(|link| (index + 1, link)));
        }
    }
    found
}

#[test]
fn no_comment_of_a_public_item_links_to_a_private_one() {
    let sources = sources();
    let code = sources.iter().filter(|source| source.ending() == "rs" && !source.path.starts_with("tests"));
    let found: Vec<String> = code
        .flat_map(|source| private_links(&source.text).into_iter().map(|(line, link)| format!("{}:{line}: {link}", source.path.display())))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_link_to_a_private_item_is_found() {
    let text =
        "/// One of [`ROWS`], or of [`Self::rows`].\n#[inline]\npub fn row() {}\n\n/// [`ROWS`]\nfn other() {}\n\nconst ROWS: u8 = 1;\n";
    assert_eq!(private_links(text), [(3, "ROWS")]);
    assert!(private_links(&text.replace("const ROWS", "pub const ROWS")).is_empty());
}
