//! `keys.env`, the file that keeps the keys of a gateway between starts.

use std::path::Path;

use crate::data::{text_of, write_private};

/// The beginning of each line of `keys.env`, with which a shell that sources the file exports the
/// keys to its child processes.
pub(crate) const EXPORT: &str = "export ";

/// The content of `keys.env`.
#[derive(Default)]
pub struct SavedKeys(String);

impl SavedKeys {
    /// Reads the file; a missing file counts as empty.
    pub fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        Ok(file.map_or(Ok(None), text_of)?.map(Self).unwrap_or_default())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn value(&self, name: &str) -> Option<String> {
        // Files from older versions do not contain `export`.
        let mut values = self.0.lines().map(|line| line.strip_prefix(EXPORT).unwrap_or(line));
        values.find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(unquoted))
    }

    /// Writes the file unless it already contains exactly `lines`.
    pub(crate) fn write(&self, file: &Path, lines: &[String]) -> anyhow::Result<()> {
        let text: String = lines.concat().lines().flat_map(|line| [EXPORT, line, "\n"]).collect();
        if self.0 == text { Ok(()) } else { write_private(file, &text) }
    }
}

/// Quotes a value for the shell, so that the file can be sourced.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=@%,".contains(&byte));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn unquoted(text: &str) -> String {
    let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    quoted.map_or_else(|| text.to_owned(), |text| text.replace(r"'\''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_any_characters_survives_a_round_trip() {
        for key in ["pck_abc", "it's $HOME `x` \"y\"", "'", "''"] {
            assert_eq!(unquoted(&quoted(key)), key);
        }
    }
}
