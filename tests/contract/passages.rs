//! The prose of the repository: comments in sources, and the text of documents.

use std::fs;
use std::path::{Path, PathBuf};

use infra::checked_in::root;

/// Folders that do not contain sources of the project.
const SKIPPED: [&str; 6] = ["target", "node_modules", "__pycache__", "dist", "pictures", "stacks"];
/// The extensions of files that contain prose, and the marks of comment lines in these files.
const COMMENTS: [(&str, &[&str]); 12] = [
    ("rs", &["//! ", "/// ", "// "]),
    ("js", &["// "]),
    ("mjs", &["// "]),
    ("jsx", &["// "]),
    ("py", &["# "]),
    ("sh", &["# "]),
    ("toml", &["# "]),
    ("yml", &["# "]),
    ("yaml", &["# "]),
    ("", &["# "]),
    ("md", &[]),
    ("css", &[]),
];

/// A text file in the repository.
pub(crate) struct Source {
    /// The path relative to the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A paragraph of prose.
pub(crate) struct Passage<'a> {
    pub(crate) source: &'a Source,
    /// The number of the paragraph's first line, counted from 1.
    pub(crate) line: usize,
    /// The lines of the paragraph, joined by spaces.
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn ending(&self) -> &str {
        self.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
    }

    pub(crate) fn is_document(&self) -> bool {
        self.ending() == "md"
    }

    /// The lines of prose, each with its line number. A gap in the numbers separates paragraphs.
    fn lines(&self) -> Vec<(usize, &str)> {
        let mut fenced = false;
        let marks = COMMENTS.iter().find(|(ending, _)| *ending == self.ending()).map_or(&[][..], |(_, marks)| marks);
        let is_document = self.is_document();
        self.text
            .lines()
            .enumerate()
            .filter_map(|(index, line)| {
                let line = line.trim();
                if is_document {
                    fenced ^= line.starts_with("```");
                    return (!fenced && !line.starts_with("```")).then_some((index + 1, line));
                }
                let text = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
                // Code blocks in comments are not prose.
                fenced ^= text.starts_with("```");
                (!fenced && !text.starts_with("```")).then_some((index + 1, text.trim()))
            })
            .collect()
    }

    /// The lines that are not prose; for a document, the lines of fenced code blocks.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        let (is_document, mut fenced) = (self.is_document(), false);
        self.text.lines().filter(move |line| {
            let line = line.trim_start();
            fenced ^= line.starts_with("```");
            if is_document { fenced } else { !["//", "#!", "# "].iter().any(|mark| line.starts_with(mark)) }
        })
    }

    /// The paragraphs of prose.
    pub(crate) fn passages(&self) -> Vec<Passage<'_>> {
        let mut passages: Vec<Passage<'_>> = Vec::new();
        let mut last = 0;
        for (number, line) in self.lines() {
            let begins = line.is_empty() || number != last + 1 || line.starts_with(['-', '#', '|', '*']);
            last = number;
            match passages.last_mut() {
                Some(passage) if !begins && !passage.text.is_empty() => {
                    passage.text.push(' ');
                    passage.text.push_str(line);
                }
                _ => passages.push(Passage { source: self, line: number, text: line.to_owned() }),
            }
        }
        passages.retain(|passage| !passage.text.is_empty());
        passages
    }
}

/// Every text file in the repository that people write or read, ordered by path.
pub(crate) fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    collect(&root(), &mut sources);
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}

fn collect(folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_shown = !name.starts_with('.') || name == ".ci" || name == ".github";
        if !is_shown || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, sources);
        } else if let Ok(text) = fs::read_to_string(&path) {
            sources.push(Source { path: path.strip_prefix(root()).unwrap().to_owned(), text });
        }
    }
}

impl Passage<'_> {
    /// A message about this passage, which begins with the file and the line.
    pub(crate) fn finding(&self, text: &str) -> String {
        format!("{}:{}: {text}", self.source.path.display(), self.line)
    }
}
