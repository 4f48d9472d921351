//! Prints the responses of a deployment: columns for people, JSON for scripts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;
use jiff::Timestamp;
use model::text::line::plain;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::say::say;

/// The format of a command's output.
#[derive(Args)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Output {
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a list with the given columns.
    pub(crate) fn list<const N: usize>(
        &self,
        heads: [&str; N],
        items: Vec<Value>,
        columns: impl Fn(&Value) -> [String; N],
    ) -> anyhow::Result<()> {
        if self.json {
            return json(&Value::Array(items));
        }
        let rows = items.iter().map(|item| columns(item).map(|cell| plain(&cell)));
        let rows: Vec<[String; N]> = std::iter::once(heads.map(str::to_owned)).chain(rows).collect();
        for line in lines(&rows) {
            say!("{line}");
        }
        Ok(())
    }

    /// Prints a list of ids and names.
    pub(crate) fn names(&self, items: impl Iterator<Item = (String, String)>) -> anyhow::Result<()> {
        if self.json {
            return json(&items.map(|(id, name)| json!({ "id": id, "display_name": name })).collect::<Vec<_>>());
        }
        items.for_each(|(id, name)| say!("{}  {}", plain(&id), plain(&name)));
        Ok(())
    }

    /// Prints the changed fields before and after the change; with `--json`, prints all fields.
    pub(crate) fn changed(&self, before: &Value, after: &Value) -> anyhow::Result<()> {
        if self.json {
            return json(after);
        }
        let mut lines = Vec::new();
        differences("", before, after, &mut lines);
        if lines.is_empty() {
            say!("nothing has changed: the fields already have these values");
        }
        for line in lines {
            say!("{}", plain(&line));
        }
        Ok(())
    }

    /// Prints the result of a command: a sentence or, with `--json`, the response.
    pub(crate) fn done(&self, sentence: &str, answer: &Value) -> anyhow::Result<()> {
        if self.json {
            return json(answer);
        }
        say!("{}", plain(sentence));
        Ok(())
    }
}

/// Adds a line for each field or list element that differs.
fn differences(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                differences(&path, &before[name], &after[name], lines);
            }
        }
        (Value::Array(old), Value::Array(new)) if differ_as_sets(old, new) => match (by_id(old), by_id(new)) {
            (Some(old), Some(new)) => differences(path, &old, &new, lines),
            _ => {
                lines.extend(old.iter().filter(|element| !new.contains(element)).map(|gone| format!("{path}: {gone} → null")));
                lines.extend(new.iter().filter(|element| !old.contains(element)).map(|added| format!("{path}: null → {added}")));
            }
        },
        (before, after) => lines.push(format!("{path}: {before} → {after}")),
    }
}

/// Whether the lists differ when order and repetition are ignored.
fn differ_as_sets(old: &[Value], new: &[Value]) -> bool {
    old.iter().any(|element| !new.contains(element)) || new.iter().any(|element| !old.contains(element))
}

/// The elements by id; `None` unless every element has an id.
fn by_id(list: &[Value]) -> Option<Value> {
    let named = list.iter().map(|element| Some((element["id"].as_str()?.to_owned(), element.clone())));
    named.collect::<Option<Map<String, Value>>>().map(Value::Object)
}

/// Prints JSON. Escapes control characters and direction marks, which a terminal would obey.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let is_mark = |character| matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = String::new();
    for character in serde_json::to_string_pretty(value)?.chars() {
        if character.is_control() && character != '\n' || is_mark(character) {
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    say!("{text}");
    Ok(())
}

/// A field as text; an empty text if the field is absent or `null`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A time in milliseconds since the Unix epoch, formatted to the minute in UTC; an empty text if
/// absent.
pub(crate) fn time(value: &Value) -> String {
    let time = value.as_i64().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Aligns the rows in columns as wide as their widest cells.
fn lines<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["ID", "NAME"], ["1", "Zoë"], ["long", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(lines(&rows), ["ID    NAME", "1     Zoë", "long"]);
    }

    #[test]
    fn a_change_of_a_list_has_a_line_for_each_element_that_differs() {
        let lines = |before: Value, after: Value| {
            let mut lines = Vec::new();
            differences("", &json!({ "list": before, "same": [1] }), &json!({ "list": after, "same": [1] }), &mut lines);
            lines
        };
        let (github, google) = (json!({ "id": "github", "type": "standard" }), json!({ "id": "google", "type": "shared" }));
        let named = lines(json!([github, google]), json!([{ "id": "acme" }, { "id": "google", "type": "standard" }]));
        let expected = [
            r#"list.acme: null → {"id":"acme"}"#,
            r#"list.github: {"id":"github","type":"standard"} → null"#,
            r#"list.google.type: "shared" → "standard""#,
        ];
        assert_eq!(named, expected);
        assert_eq!(lines(json!([]), json!([google])), [r#"list.google: null → {"id":"google","type":"shared"}"#]);
        assert_eq!(lines(json!(["a", "b"]), json!(["b", "c"])), [r#"list: "a" → null"#, r#"list: null → "c""#]);
        assert_eq!(lines(json!(["a", "b"]), json!(["b", "a"])), [r#"list: ["a","b"] → ["b","a"]"#]);
        assert_eq!(lines(json!([github]), json!(["github"])), [format!("list: {github} → null"), r#"list: null → "github""#.to_owned()]);
        assert_eq!(lines(json!(null), json!([1])), ["list: null → [1]"]);
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(time(&json!(1_767_225_600_000_i64)), "2026-01-01 00:00");
        assert_eq!(time(&Value::Null), "");
    }
}
