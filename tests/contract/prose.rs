//! The form of comments, documents and names: lines end at column 100, names of functions and tests
//! are short, and each thing has only one name.

use aho_corasick::AhoCorasick;

use super::passages::{Source, sources};

const LAST_COLUMN: usize = 100;
/// The names of Rust functions and JavaScript tests must be shorter than this.
const MAX_NAME: usize = 80;
/// Lower-case phrases that are not good English or not the project's term.
const PHRASES: [&str; 24] = [
    " mails ",
    " mails.",
    " mails,",
    " the mail is ",
    " the mail of ",
    " a mail is ",
    " a mail to ",
    " every mail ",
    " each mail ",
    " no mail ",
    " one mail ",
    " who asks",
    " whoever asks",
    "what is no ",
    "whatever is no ",
    " is over.",
    " is ours.",
    " of ours.",
    " brings back ours",
    "that is too often",
    " is no expression that",
    " are taken over",
    " is still to be said",
    " at its most ",
];

/// The numbers of lines in comments and documents that are too long.
fn long_lines(source: &Source) -> Vec<usize> {
    let is_document = source.is_document();
    let mut fenced = false;
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let text = line.trim_start();
        fenced ^= text.starts_with("```");
        let comment = ["//! ", "/// ", "// ", "# "].iter().find_map(|mark| text.strip_prefix(mark));
        // Table rows, preformatted text and URLs cannot be broken.
        let text = comment.filter(|_| !is_document).unwrap_or(text);
        let breaks = !text.starts_with(['|', ' ']) && text.split_whitespace().all(|word| word.len() < LAST_COLUMN / 2);
        let is_prose = if is_document { !fenced } else { comment.is_some() && is_source(source) };
        if is_prose && breaks && line.chars().count() > LAST_COLUMN {
            found.push(index + 1);
        }
    }
    found
}

fn is_source(source: &Source) -> bool {
    ["rs", "js", "mjs", "jsx", "py", "toml", ""].contains(&source.ending())
}

/// Rust functions and JavaScript tests with names that are too long.
fn long_names(source: &Source) -> Vec<&str> {
    let names = source.text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("async ");
        match source.ending() {
            "rs" => line.strip_prefix("fn ")?.split(['(', '<']).next(),
            "js" => line.strip_prefix("test(\"")?.split('"').next(),
            _ => None,
        }
    });
    names.filter(|name| name.chars().count() >= MAX_NAME).collect()
}

/// The forbidden phrases that a paragraph contains.
fn phrases<'a>(words: &AhoCorasick, text: &str) -> Vec<&'a str> {
    let text = format!(" {} ", text.to_lowercase());
    words.find_iter(&text).map(|found| PHRASES[found.pattern().as_usize()]).collect()
}

#[test]
fn lines_of_prose_end_at_column_100() {
    let sources = sources();
    let long = sources.iter().flat_map(|source| long_lines(source).into_iter().map(|line| format!("{}:{line}", source.path.display())));
    let long = long.collect::<Vec<_>>();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn names_of_tests_have_fewer_than_80_characters() {
    let sources = sources();
    let long = sources.iter().flat_map(|source| long_names(source).into_iter().map(|name| format!("{}: {name}", source.path.display())));
    let long = long.collect::<Vec<_>>();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn comments_and_documents_use_the_words_of_the_field() {
    let words = AhoCorasick::new(PHRASES).unwrap();
    let sources = sources();
    let mut findings = Vec::new();
    for passage in sources.iter().flat_map(Source::passages) {
        findings.extend(phrases(&words, &passage.text).into_iter().map(|phrase| passage.finding(&format!("reword{phrase}"))));
    }
    assert!(findings.is_empty(), "{} phrases:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn a_long_line_a_long_name_and_a_wrong_word_are_found() {
    let text = format!("# Title\n\n{}\n\n| {} |\n", "word ".repeat(21), "cell ".repeat(30));
    assert_eq!(long_lines(&Source { path: "docs/page.md".into(), text }), [3]);
    let text = format!("    /// {}\nlet x = 1; {}\n", "word ".repeat(20), " ".repeat(100));
    assert_eq!(long_lines(&Source { path: "shared/api/src/lib.rs".into(), text }), [1]);
    let name = "a".repeat(80);
    let text = format!("async fn {name}() {{}}\nfn short() {{}}\n");
    assert_eq!(long_names(&Source { path: "tests/api/x.rs".into(), text }), [name.as_str()]);
    let words = AhoCorasick::new(PHRASES).unwrap();
    assert_eq!(phrases(&words, "The mail of a user who asks for it"), [" the mail of ", " who asks"]);
    assert!(phrases(&words, "The mail server sends emails to the caller").is_empty());
}
