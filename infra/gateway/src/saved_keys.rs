//! `keys.env`, which keeps the keys of a gateway between its starts.

use std::path::Path;

use crate::data::write_private;

/// What the lines of `keys.env` begin with: a shell that sources the file passes the keys on to what it starts.
pub(crate) const EXPORT: &str = "export ";

/// What `keys.env` has.
#[derive(Default)]
pub struct Saved(String);

impl Saved {
    pub fn read(file: Option<&Path>) -> Self {
        Self(file.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default())
    }

    pub(crate) fn value(&self, name: &str) -> Option<String> {
        // Files of an older version have no `export`.
        let mut values = self.0.lines().map(|line| line.strip_prefix(EXPORT).unwrap_or(line));
        values.find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(unquoted))
    }

    /// Writes the file of these lines when it does not say the same already.
    pub(crate) fn write(&self, file: &Path, lines: &[String]) -> anyhow::Result<()> {
        let text: String = lines.concat().lines().flat_map(|line| [EXPORT, line, "\n"]).collect();
        if self.0 == text { Ok(()) } else { write_private(file, &text) }
    }
}

/// A value as a shell reads it: the file can be sourced.
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
    fn a_value_of_any_characters_comes_back_from_the_file() {
        for key in ["pck_abc", "it's $HOME `x` \"y\"", "'", "''"] {
            assert_eq!(unquoted(&quoted(key)), key);
        }
    }
}
