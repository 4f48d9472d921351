//! The ids of headings, which links can point to.

use std::collections::{HashMap, HashSet};

/// The ids of a document's headings: the words of each heading in lower case, joined by hyphens, as
/// on GitHub. A number is added if the id is taken.
#[derive(Debug, Default)]
pub struct HeadingIds {
    taken: HashSet<String>,
    /// The number of the next heading with the same words.
    next: HashMap<String, usize>,
}

impl HeadingIds {
    /// The id of the next heading.
    pub fn next_id(&mut self, text: &str) -> String {
        let kept = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>();
        let words = kept.trim().replace(' ', "-");
        if self.taken.insert(words.clone()) {
            return words;
        }
        let number = self.next.entry(words.clone()).or_insert(1);
        loop {
            let id = format!("{words}-{number}");
            *number += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_heading_is_free() {
        let mut ids = HeadingIds::default();
        let taken = ["A", "a-1", "A", "a", "A-1", "", "", "ß ä"].map(|text| ids.next_id(text));
        assert_eq!(taken, ["a", "a-1", "a-2", "a-3", "a-1-1", "", "-1", "ß-ä"]);
    }
}
